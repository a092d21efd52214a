// Command bff is a chat in the browser, for several people with several threads each. The server keeps the threads and talks
// to the agent; a page follows a thread's feed and posts to it.
//
//	go run ./examples/bff [AGENT-URL]    then open http://localhost:8080
//
// Without a URL it talks to an agent in its own process: ask it to book something, or to count.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/serve"
)

//go:embed page
var page embed.FS

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	dir := flag.String("dir", "threads", "where the threads are kept")
	flag.Parse()
	var agent client.Agent = emit.Agent(assistant.Run, nil)
	if flag.NArg() > 0 {
		agent = client.NewHTTP(flag.Arg(0), nil)
	}
	threads := newThreads(agent, serve.NewDir(*dir))
	server := &http.Server{Addr: *addr, Handler: site(threads), ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { server.Close() })
	log.Print(server.ListenAndServe())
	if err := threads.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// newThreads serves threads to those whose names their ids begin with.
func newThreads(agent client.Agent, store serve.Store) *serve.Threads {
	return serve.NewThreads(agent, &serve.ThreadsOptions{
		Store: store,
		Authorize: func(r *http.Request, threadID string) error {
			if name := user(r); name == "" || !strings.HasPrefix(threadID, name+".") {
				return errors.New("not a thread of " + name)
			}
			return nil
		},
	})
}

// site serves the page and the threads.
func site(threads *serve.Threads) http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // it is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("/threads/", http.StripPrefix("/threads", threads))
	mux.Handle("/", http.FileServerFS(files))
	mux.HandleFunc("POST /login", login)
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(user(r))) })
	protected := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Whatever an agent says, the page runs only its own scripts, and sends nothing elsewhere.
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		protected.ServeHTTP(w, r)
	})
}

var nameShape = regexp.MustCompile(`^[a-z]{1,20}$`)

// login believes everybody: put the login of your site in its place, and in that of user.
func login(w http.ResponseWriter, r *http.Request) {
	name := r.PostFormValue("name")
	if !nameShape.MatchString(name) {
		http.Error(w, "a name has up to 20 small letters", http.StatusBadRequest)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "user", Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// user returns who asks, "" for nobody.
func user(r *http.Request) string {
	cookie, err := r.Cookie("user")
	if err != nil || !nameShape.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}
