package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
)

const (
	livePerSecond = 20                     // events of each session
	liveThrottle  = 100 * time.Millisecond // the interval of a throttled subscriber
)

// live is the size of a measurement of sessions whose events come one at a time.
type live struct {
	sessions int
	warmUp   time.Duration
	length   time.Duration
}

// liveRow measures a client in a process of its own, against a server in another one. Time is the CPU that the
// client's process takes for an event; bytes are those of a session, on the heap and in stacks.
func liveRow(name, kind string, l live) row {
	return row{name: name, direct: func() figure {
		server := exec.Command(os.Args[0], "live", "serve")
		stop, err := server.StdinPipe()
		if err != nil {
			return figure{err: err}
		}
		out, err := server.StdoutPipe()
		if err != nil {
			return figure{err: err}
		}
		if err := server.Start(); err != nil {
			return figure{err: err}
		}
		defer server.Wait()
		defer stop.Close()
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return figure{err: fmt.Errorf("the server: %w", err)}
		}
		measured := exec.Command(os.Args[0], "live", kind, strings.TrimSpace(address),
			strconv.Itoa(l.sessions), l.warmUp.String(), l.length.String())
		measured.Stderr = os.Stderr
		result, err := measured.Output()
		if err != nil {
			return figure{err: fmt.Errorf("the client: %w", err)}
		}
		var f liveFigure
		if err := json.Unmarshal(result, &f); err != nil {
			return figure{err: err}
		}
		return figure{ns: f.NS, allocs: f.Allocs, bytes: f.Bytes}
	}}
}

// liveFigure is what a client's process prints.
type liveFigure struct {
	NS     float64 // CPU an event
	Allocs float64 // an event
	Bytes  float64 // a session
}

// liveMain is a process of such a measurement.
func liveMain(args []string) error {
	if args[0] == "serve" {
		return liveServe()
	}
	sessions, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	l := live{sessions: sessions}
	if l.warmUp, err = time.ParseDuration(args[3]); err != nil {
		return err
	}
	if l.length, err = time.ParseDuration(args[4]); err != nil {
		return err
	}
	f, err := l.measure(liveKinds[args[0]], args[1])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// liveServe serves runs that do not end until its standard input does.
func liveServe() error {
	server := http.Server{Handler: http.HandlerFunc(liveRun)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String() + "/")
	go server.Serve(listener)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// liveRun sends one event at a time, as an agent does whose model streams.
func liveRun(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	fmt.Fprintf(w, "data: %s\n\ndata: %s\n\n", `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, texts.open)
	if flush() != nil {
		return
	}
	tick := time.NewTicker(time.Second / livePerSecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-tick.C:
		case <-req.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: "+texts.next+"\n\n", i%10)
		if flush() != nil {
			return
		}
	}
}

// liveClient is one session. It runs until its context ends, and counts its events.
type liveClient interface {
	run(ctx context.Context, address string) error
	events() uint64
}

var liveKinds = map[string]func() liveClient{
	"raw":       func() liveClient { return new(liveRaw) },
	"session":   func() liveClient { return new(liveSession) },
	"throttled": func() liveClient { return &liveSession{throttled: true} },
}

// liveRaw reads the lines of an answer, with net/http alone.
type liveRaw struct{ n atomic.Uint64 }

func (c *liveRaw) run(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte("data: ")) {
			c.n.Add(1)
		}
	}
	return lines.Err()
}

func (c *liveRaw) events() uint64 { return c.n.Load() }

// liveSession is a Session of ours.
type liveSession struct {
	throttled bool
	session   atomic.Pointer[client.Session]
}

func (c *liveSession) run(ctx context.Context, address string) error {
	s := client.NewSession(client.NewHTTP(address, nil), nil)
	c.session.Store(s)
	if c.throttled {
		snapshots := s.SubscribeThrottled(ctx, liveThrottle)
		go func() {
			var last client.Snapshot
			for th := range snapshots {
				last = th
			}
			runtime.KeepAlive(last)
		}()
	}
	_, err := s.Send(ctx, messages.UserText("Hello"))
	return err
}

func (c *liveSession) events() uint64 {
	s := c.session.Load()
	if s == nil {
		return 0
	}
	return max(s.Thread().Revision, 1) - 1 // the first one is of the user's message
}

// measure runs the sessions of one kind and measures this process.
func (l live) measure(begin func() liveClient, address string) (liveFigure, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := memory()
	clients := []liveClient{}
	failed := make(chan error, l.sessions)
	for i := range l.sessions {
		c := begin()
		clients = append(clients, c)
		go func() { failed <- c.run(ctx, address) }()
		if i%50 == 49 {
			time.Sleep(25 * time.Millisecond) // they do not send at one moment
		}
	}
	for _, c := range clients {
		for c.events() < 3 {
			select {
			case err := <-failed:
				return liveFigure{}, fmt.Errorf("a session ended: %w", err)
			case <-time.After(time.Millisecond):
			}
		}
	}
	time.Sleep(l.warmUp)
	held := memory() - before

	from, fromAllocs := count(clients), allocated()
	used, err := cpuTime()
	if err != nil {
		return liveFigure{}, err
	}
	time.Sleep(l.length)
	until, err := cpuTime()
	if err != nil {
		return liveFigure{}, err
	}
	toAllocs := allocated()
	n := float64(count(clients) - from)
	return liveFigure{
		NS: float64(until-used) / n, Allocs: float64(toAllocs-fromAllocs) / n, Bytes: float64(held) / float64(l.sessions),
	}, nil
}

func count(clients []liveClient) (n uint64) {
	for _, c := range clients {
		n += c.events()
	}
	return n
}

// memory returns the bytes on the heap and in stacks after a garbage collection.
func memory() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
