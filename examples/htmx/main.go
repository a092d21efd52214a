// Command htmx is a chat in the browser with all HTML made on the server: the page gets a fragment over server-sent events for each
// message that changed, and no JSON. There is one conversation, for everybody on this machine; examples/bff has users and threads.
//
//	go run -C examples/htmx . [AGENT-URL]    then open http://localhost:8080
//
// Without a URL it talks to an agent in its own process: ask it to book something, or to count.
//
// The fragments say where they belong as htmx has it, with hx-swap-oob. static/swap.js does in 30 lines what htmx would do with
// them, so that nothing is loaded from elsewhere. If you have htmx and its extension for server-sent events, they do it:
//
//	npm install htmx.org@2 htmx-ext-sse@2 && go run . -htmx node_modules
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "where to listen")
	htmx := flag.String("htmx", "", "a node_modules folder with htmx.org and htmx-ext-sse, to use in place of swap.js")
	flag.Parse()
	var agent client.Agent = emit.Agent(assistant.Run, nil)
	if flag.NArg() > 0 {
		agent = client.NewHTTP(flag.Arg(0), nil)
	}
	s := client.NewSession(agent, options)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Addr: *addr, Handler: site(s, *htmx), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	log.Print(server.ListenAndServe())
	_ = s.Stop(context.Background())
}

// options let the user type ahead, and type over calls that nobody answers.
var options = &client.SessionOptions{WhenBusy: client.Queue, Unanswered: client.DeclineUnanswered}

// site serves the page, the stream of its fragments, and what its forms post.
func site(s *client.Session, htmx string) http.Handler {
	c := chat{s}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_ = templates.ExecuteTemplate(w, "index.html", htmx != "") // if it fails, the page has gone
	})
	mux.HandleFunc("GET /events", c.events)
	for _, action := range []string{"send", "answer", "stop", "retry"} {
		mux.HandleFunc("POST /"+action, c.act)
	}
	mux.Handle("GET /static/", http.FileServerFS(files))
	if htmx != "" {
		mux.Handle("GET /lib/", http.StripPrefix("/lib", http.FileServer(http.Dir(htmx))))
	}
	protected := http.MaxBytesHandler(http.NewCrossOriginProtection().Handler(mux), 1<<20)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "this conversation is for this machine alone", http.StatusForbidden)
			return
		}
		// Whatever an agent says, the page runs only its own scripts, and sends nothing elsewhere.
		w.Header().Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		protected.ServeHTTP(w, r)
	})
}

// local reports whether a host is this machine: a page elsewhere can have a name of its own resolve to it.
func local(host string) bool {
	name, _, _ := net.SplitHostPort(host)
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
