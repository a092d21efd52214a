package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/rules"
)

// The modes of a log.
const (
	modeRecording = "recording"
	modeLive      = "live"
	modeExport    = "export" // in an exported file
)

// maxLogs bounds the conversations of one server.
const maxLogs = 64

// logs are those of a server, by id.
type logs struct {
	maxBytes int64
	agent    string // its name, "" without one

	mu   sync.Mutex
	list []*log
	byID map[string]*log
}

func newLogs(maxBytes int64) *logs { return &logs{maxBytes: maxBytes, byID: make(map[string]*log)} }

// put adds a log.
func (ls *logs) put(l *log) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.list = append(ls.list, l)
	ls.byID[l.id] = l
}

func (ls *logs) get(id string) *log {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.byID[id]
}

// about is what the page knows of a log at first, and about growth later.
type about struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Mode   string `json:"mode"`
	Timed  bool   `json:"timed"`
	Length int    `json:"length"`
	Done   bool   `json:"done"`
	Error  string `json:"error,omitempty"`
}

// about returns what there is of the log now, and a channel that is closed when there is more.
func (l *log) about() (about, <-chan struct{}) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	a := about{ID: l.id, Name: l.name, Mode: l.mode, Timed: l.timed, Length: len(l.entries), Done: l.done}
	if l.err != nil {
		a.Error = l.err.Error()
	}
	return a, l.grown
}

// serve answers a request for data; path is what follows api/.
func (ls *logs) serve(w http.ResponseWriter, r *http.Request, path string) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "GET it", http.StatusMethodNotAllowed)
		return
	}
	first, rest, _ := strings.Cut(path, "/")
	switch {
	case path == "logs":
		ls.mu.Lock()
		list := append([]*log(nil), ls.list...)
		ls.mu.Unlock()
		all := make([]about, 0, len(list))
		for _, l := range list {
			a, _ := l.about()
			all = append(all, a)
		}
		answer(w, all)
	case path == "info":
		answer(w, map[string]string{"agent": ls.agent})
	case path == "rules":
		answer(w, rules.All())
	case path == "compare":
		ls.compare(w, r)
	case first == "logs":
		id, what, _ := strings.Cut(rest, "/")
		if l := ls.get(id); l != nil {
			l.serve(w, r, what)
			return
		}
		http.Error(w, fmt.Sprintf("there is no recording %q", id), http.StatusNotFound)
	default:
		http.NotFound(w, r)
	}
}

// compare answers with how two logs differ.
func (ls *logs) compare(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a, b := ls.get(q.Get("a")), ls.get(q.Get("b"))
	if a == nil || b == nil {
		http.Error(w, "name two recordings, a and b", http.StatusNotFound)
		return
	}
	text, err := compareJSON(r.Context(), a, b, compareOptionsOf(q))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	writeJSON(w, text)
}

// serve answers a request for a part of the log.
func (l *log) serve(w http.ResponseWriter, r *http.Request, what string) {
	number := func(key string, missing int) int {
		n, err := strconv.Atoi(r.URL.Query().Get(key))
		if err != nil {
			return missing
		}
		return n
	}
	switch what {
	case "watch":
		l.watch(w, r)
	case "rows":
		answer(w, l.rows(number("from", 1), number("to", maxRows)))
	case "changes":
		writeJSON(w, l.appendChanges(nil, number("from", 0), number("to", maxRows)))
	case "view":
		writeJSON(w, l.appendView(nil, number("n", 0), number("have", -1)))
	case "event":
		e, ok := l.event(number("n", 0))
		if !ok {
			http.Error(w, "there is no such event", http.StatusNotFound)
			return
		}
		answer(w, e)
	case "shape":
		from := number("from", 0)
		var text []byte
		l.read(func() { text = l.shape.appendJSON(nil, from) })
		writeJSON(w, text)
	case "trouble":
		var text []byte
		l.read(func() { text = l.trouble.appendJSON(nil) })
		writeJSON(w, text)
	case "export":
		l.export(w, r)
	default:
		http.NotFound(w, r)
	}
}

// Growth is told at most this often, and silence is broken by a comment after this long.
const (
	tellEvery  = 100 * time.Millisecond
	breakAfter = 15 * time.Second
)

// watch tells of the log's growth as server-sent events, until it is done or the client goes away.
func (l *log) watch(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	write := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(2 * breakAfter))
		_, err := w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	pause := time.NewTicker(tellEvery)
	defer pause.Stop()
	for {
		now, grown := l.about()
		text, _ := json.Marshal(now)
		if !write("data: "+string(text)+"\n\n") || now.Done {
			return
		}
		select {
		case <-pause.C:
		case <-r.Context().Done():
			return
		}
		for waiting := true; waiting; {
			select {
			case <-grown:
				waiting = false
			case <-time.After(breakAfter):
				if !write(": keep-alive\n\n") {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	}
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, text)
}

func writeJSON(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client is gone
}
