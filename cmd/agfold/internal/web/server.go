package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/serve"
)

//go:embed page
var embedded embed.FS

// page holds the files of the page.
var page = func() fs.FS {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // not reached: the folder is embedded
	}
	return files
}()

// Options says what the page shows: an agent to talk to, or recordings.
type Options struct {
	Agent      client.Agent
	Name       string                        // of the agent, for the page
	Session    func() *client.SessionOptions // of a conversation; nil means the defaults
	Recordings []Recording
	MaxEvent   int   // bounds one event of a recording, in bytes; 0 means the default of package event
	MaxMemory  int64 // bounds what is kept of one recording or conversation, in bytes; 0 means no bound
}

// Server serves the page. It must be closed.
type Server struct {
	token   string
	hosts   []string
	stop    context.CancelFunc
	ctx     context.Context
	folds   sync.WaitGroup
	logs    *logs
	threads *serve.Threads // nil without an agent
	server  *http.Server
}

// New returns a server for a listener, which must be on a loopback address. It begins to fold the recordings.
func New(l net.Listener, o Options) (*Server, error) {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address", l.Addr())
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{token: rand.Text(), ctx: ctx, stop: stop, logs: newLogs(o.MaxMemory)}
	s.hosts = []string{addr.String(), fmt.Sprintf("localhost:%d", addr.Port)}
	if addr.Port == 80 { // which browsers leave out
		s.hosts = append(s.hosts, strings.TrimSuffix(addr.String(), ":80"), "localhost")
	}
	if o.Agent != nil {
		s.logs.agent = cmp.Or(o.Name, "agent")
		s.threads = s.logs.threads(o)
	}
	for i, rec := range o.Recordings {
		lg := newLog(fmt.Sprint(i), rec.Name, modeRecording, o.MaxMemory)
		lg.open, lg.maxEvent = rec.Open, o.MaxEvent
		s.logs.put(lg)
		s.folds.Go(func() { lg.fold(ctx) })
	}
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	return s, nil
}

// URL returns the address of the page, with the token that lets whoever has it in.
func (s *Server) URL() string { return "http://" + s.hosts[0] + "/" + s.token + "/" }

// Serve serves until Close. It returns nil then, or the error of the listener.
func (s *Server) Serve(l net.Listener) error {
	if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close stops the runs and the folds, and waits for them until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	var err error
	if s.threads != nil {
		err = s.threads.Shutdown(ctx)
	}
	s.stop()
	if s.server.Shutdown(ctx) != nil {
		s.server.Close()
	}
	s.folds.Wait()
	return err
}

// policy lets the page load its own files and nothing else, and keeps scripts from making HTML of text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"media-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP serves the page and its data to requests that name this machine and the token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !s.known(r.Host) {
		http.Error(w, "this is not the host", http.StatusForbidden) // a name of another site that resolves to this machine
		return
	}
	token, rest, whole := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.Error(w, "the address lacks the token that agfold web has printed", http.StatusForbidden)
		return
	}
	if !whole {
		http.Redirect(w, r, "/"+s.token+"/", http.StatusMovedPermanently)
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		http.Error(w, "the request comes from another site", http.StatusForbidden)
		return
	}
	switch first, _, _ := strings.Cut(rest, "/"); {
	case first == "api":
		s.logs.serve(w, r, strings.TrimPrefix(rest, "api/"))
	case first == "threads" && s.threads != nil:
		http.StripPrefix("/"+s.token+"/threads", s.threads).ServeHTTP(w, r)
	default:
		servePage(w, r, rest)
	}
}

func (s *Server) known(host string) bool {
	for _, name := range s.hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}

// servePage serves a file of the page.
func servePage(w http.ResponseWriter, r *http.Request, name string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "GET it", http.StatusMethodNotAllowed)
		return
	}
	if name == "" {
		name = "index.html"
	}
	if !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	http.ServeFileFS(w, r, page, name)
}
