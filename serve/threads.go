package serve

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agfold/agfold/client"
)

// ThreadsOptions configures [NewThreads]; nil means defaults.
type ThreadsOptions struct {
	// Authorize is called for each request, before anything else is done for it: it returns an error unless the request may read
	// and change the thread. The request is then answered with 403, and the error goes to the log. It must know who
	// asks, from a session cookie for instance: a thread's id is not a secret. The thread need not exist.
	//
	// Nil lets everybody on this machine in, and nobody else: requests that come from a loopback address, name a loopback host
	// and were not forwarded by a proxy.
	Authorize func(r *http.Request, threadID string) error
	// CrossOrigin refuses what pages of other origins send with a user's cookies. Nil means a new
	// http.CrossOriginProtection. Besides, a body must be of Content-Type application/json.
	CrossOrigin *http.CrossOriginProtection
	// Store keeps threads that no session holds; nil keeps them in memory.
	Store Store
	// Session returns the options of a thread's session: tools, state, hooks. ThreadID and Thread are set by the handler. Nil
	// means the defaults.
	Session func(threadID string) *client.SessionOptions
	// IdleTimeout is how long a thread without tabs, runs and requests stays loaded; then it is stored. 0 means 5 min.
	IdleTimeout time.Duration
	// MaxThreads bounds the threads that are loaded. When it is reached, the one that has been idle longest is stored; if
	// none is idle, the request is answered with 503. 0 means 10,000.
	MaxThreads int
	// MaxTabs bounds the feeds of one thread; more are answered with 429. 0 means 32.
	MaxTabs int
	// MaxBodyBytes bounds the body of a request. 0 means 1 MiB.
	MaxBodyBytes int64
	// BodyTimeout, KeepAlive and WriteTimeout are as in AgentOptions.
	BodyTimeout, KeepAlive, WriteTimeout time.Duration
	// Logger gets a line for each thread that could not be loaded or stored, at level Error, and for each request that
	// Authorize refused, at level Warn. Nil means slog.Default().
	Logger *slog.Logger
}

// maxID bounds a thread's id, in bytes.
const maxID = 256

// errStopping is the cause of what ends because the server stops.
var errStopping = errors.New("the server stops")

// Threads is a handler that serves conversations by their ids: a session for each, which runs the agent on behalf of
// browsers. A thread's URL is the one under which the handler is mounted, a slash, and the thread's id as one path segment
// (encodeURIComponent). Mount it with [http.StripPrefix].
//
//	GET  /ID             the thread's feed, server-sent events: see docs/feed.md in the repository
//	GET  /agfold.js      a script for pages that follows feeds and posts; it is not authorized, and no thread has this id
//	POST /ID/messages    {"content": text or parts, "id": optional}: the user says something
//	POST /ID/answers     {"answers": [ResumeEntry…]}: answers to interrupts, all of them (P-INT-1)
//	POST /ID/results     {"results": [{"toolCallId", "content", "error": optional}…]}: results of pending tool calls (P-RUN-2)
//	POST /ID/edit        {"messageId", "content"}: replaces a user's message, drops what follows, and runs from there
//	POST /ID/retry       runs again after a run that did not end well
//	POST /ID/stop        stops the run; 404 if nothing is in the thread
//
// A POST is answered at once: 202 if it was accepted, and the feed tells what comes of it. Otherwise it is answered with
// application/problem+json: 409 while a run is in progress, or while another process holds the thread (member
// holder); 422 with what is wrong (members rule and path); 400, 403, 404, 405, 413, 415, 429, 500 and 503.
//
// A thread is created by the first request for it, and stored once something is in it. All methods may be called
// concurrently.
type Threads struct {
	agent client.Agent
	o     ThreadsOptions
	ctx   context.Context // of all runs
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	entries  map[string]*entry
	idle     list.List // of *entry, the longest idle first
	users    int       // of all entries
	stopping bool
	quiet    chan struct{} // closed once stopping and nobody uses an entry
}

// NewThreads returns a handler of threads whose runs agent carries out. If agent cannot be used, every message is answered
// with 500. Call Shutdown before the process ends.
func NewThreads(agent client.Agent, o *ThreadsOptions) *Threads {
	t := &Threads{agent: agent, entries: make(map[string]*entry), quiet: make(chan struct{})}
	if o != nil {
		t.o = *o
	}
	t.o.IdleTimeout = cmp.Or(t.o.IdleTimeout, 5*time.Minute)
	t.o.MaxThreads = cmp.Or(t.o.MaxThreads, 10_000)
	t.o.MaxTabs = cmp.Or(t.o.MaxTabs, 32)
	t.o.MaxBodyBytes = cmp.Or(t.o.MaxBodyBytes, 1<<20)
	t.o.BodyTimeout = cmp.Or(t.o.BodyTimeout, 30*time.Second)
	t.o.KeepAlive = cmp.Or(t.o.KeepAlive, 15*time.Second)
	t.o.WriteTimeout = cmp.Or(t.o.WriteTimeout, 30*time.Second)
	if t.o.Store == nil {
		t.o.Store = NewMemory()
	}
	if t.o.CrossOrigin == nil {
		t.o.CrossOrigin = http.NewCrossOriginProtection()
	}
	if t.o.Authorize == nil {
		t.o.Authorize = onlyLoopback
	}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	return t
}

func (t *Threads) log() *slog.Logger {
	if t.o.Logger != nil {
		return t.o.Logger
	}
	return slog.Default()
}

// Shutdown refuses new requests with 503, stops the runs, ends the feeds, and stores all threads. It waits for that until
// ctx ends, whose error it then returns; otherwise it returns the errors of the store. Call it before
// [http.Server.Shutdown], which waits for the feeds.
func (t *Threads) Shutdown(ctx context.Context) error {
	t.mu.Lock()
	if !t.stopping {
		t.stopping = true
		if t.users == 0 {
			close(t.quiet)
		}
	}
	used := slices.Collect(maps.Values(t.entries))
	t.mu.Unlock()
	t.stop(errStopping)
	for _, e := range used {
		select {
		case <-e.loaded:
			e.endTabs()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case <-t.quiet:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.mu.Lock()
	rest := slices.Collect(maps.Values(t.entries)) // nobody uses them, and no others come
	for _, e := range rest {
		if e.gone == nil {
			t.leaving(e)
			go t.drop(e)
		}
	}
	t.mu.Unlock()
	var errs []error
	for _, e := range rest {
		select {
		case <-e.gone:
			errs = append(errs, e.unsaved)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}
