package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

const (
	tabHistory = 20 // messages that a thread holds before its run
	tabText    = "a text of one hundred bytes, which is what a message of a chat has if it is a short one, more or less..."
)

func tabsGroup(quick bool) group {
	sessions, length := 2_000, 5*time.Second
	if quick {
		sessions, length = 20, 100*time.Millisecond
	}
	tabs := func(name, kind string, n int) row {
		return row{name: name, once: true, direct: func() figure { return tabsFigure(kind, n, length) }}
	}
	return group{
		title: fmt.Sprintf("A server of %d threads with a tab each, %d events a second in each, over loopback: CPU an event, bytes a thread", sessions, livePerSecond),
		goal:  "at most 200 bytes on the wire an event",
		rows: []row{
			tabs("ours: the feed of serve.Threads", "feed", sessions),
			tabs("whole snapshots, one an event, a tenth of the threads", "snapshots", sessions/10),
			tabs("all messages, one list an event, a tenth of the threads", "messages", sessions/10),
		},
	}
}

// tabsFigure measures a server in a process of its own, whose tabs are in another one.
func tabsFigure(kind string, sessions int, length time.Duration) figure {
	server := exec.Command(os.Args[0], "tabs", "serve", kind, strconv.Itoa(sessions), length.String())
	server.Stderr = os.Stderr
	begin, err := server.StdinPipe()
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
	defer begin.Close()
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		return figure{err: fmt.Errorf("the server: %w", err)}
	}
	reader := exec.Command(os.Args[0], "tabs", "read", strings.TrimSpace(address), strconv.Itoa(sessions))
	reader.Stderr = os.Stderr
	ready, err := reader.StdoutPipe()
	if err != nil {
		return figure{err: err}
	}
	if err := reader.Start(); err != nil {
		return figure{err: err}
	}
	defer reader.Wait()
	defer reader.Process.Kill()
	if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		return figure{err: fmt.Errorf("the tabs: %w", err)}
	}
	if _, err := io.WriteString(begin, "begin\n"); err != nil {
		return figure{err: err}
	}
	var f tabsResult
	if err := json.NewDecoder(lines).Decode(&f); err != nil {
		return figure{err: fmt.Errorf("the server: %w", err)}
	}
	return figure{ns: f.NS, allocs: f.Allocs, bytes: f.Bytes, note: fmt.Sprintf("%.0f B on the wire, %.0f%% of the pace", f.Wire, 100*f.Pace)}
}

// tabsResult is what a server's process prints.
type tabsResult struct {
	NS, Allocs, Wire float64 // an event
	Bytes            float64 // a thread
	Pace             float64 // of the events that were due
}

// tabsMain is a process of such a measurement.
func tabsMain(args []string) error {
	if args[0] == "read" {
		sessions, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return readTabs(args[1], sessions)
	}
	sessions, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	length, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	return serveTabs(args[1], sessions, length)
}

// ticking is an agent that says something livePerSecond times a second, until its run is stopped.
type ticking struct{ events atomic.Uint64 }

func (a *ticking) agent() client.Agent {
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		id := "answer-" + in.RunID
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id}); err != nil {
			return err
		}
		tick := time.NewTicker(time.Second / livePerSecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: "token "}); err != nil {
				return err
			}
			a.events.Add(1)
		}
	})
}

// chatted returns what a thread holds before its run.
func chatted() *reducer.Thread {
	var said []*messages.Message
	for i := range tabHistory {
		m := messages.UserText(tabText)
		m.ID = "m" + strconv.Itoa(i)
		said = append(said, m)
	}
	return new(reducer.Thread).WithMessages(said...)
}

// serveTabs serves threads and, once it is told to begin, measures this process. It ends when its input does.
func serveTabs(kind string, sessions int, length time.Duration) error {
	agent := new(ticking)
	handler := tabsKinds[kind](agent.agent())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	listener := &counting{Listener: inner}
	before := memory()
	go http.Serve(listener, handler)
	fmt.Println("http://" + inner.Addr().String() + "/")
	orders := bufio.NewReader(os.Stdin)
	if _, err := orders.ReadString('\n'); err != nil {
		return err
	}
	time.Sleep(length / 5)
	held := memory() - before
	events, allocs, wire, start := agent.events.Load(), allocated(), listener.written.Load(), time.Now()
	used, err := cpuTime()
	if err != nil {
		return err
	}
	time.Sleep(length)
	until, err := cpuTime()
	if err != nil {
		return err
	}
	took := time.Since(start)
	n := float64(agent.events.Load() - events)
	err = json.NewEncoder(os.Stdout).Encode(tabsResult{
		NS: float64(until-used) / n, Allocs: float64(allocated()-allocs) / n, Wire: float64(listener.written.Load()-wire) / n,
		Bytes: float64(held) / float64(sessions), Pace: n / (took.Seconds() * livePerSecond * float64(sessions)),
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, orders) // until the tabs are gone, to which an end of the server would be an error
	return err
}

// counting counts what is written to its connections.
type counting struct {
	net.Listener
	written atomic.Uint64
}

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countingConn{c, &l.written}, err
}

type countingConn struct {
	net.Conn
	written *atomic.Uint64
}

func (c *countingConn) Write(data []byte) (int, error) {
	n, err := c.Conn.Write(data)
	c.written.Add(uint64(n))
	return n, err
}

// tabsKinds are the ways to show a thread: GET /ID shows it, POST /ID/messages begins its run.
var tabsKinds = map[string]func(client.Agent) http.Handler{
	"feed": func(agent client.Agent) http.Handler {
		return serve.NewThreads(agent, &serve.ThreadsOptions{
			Session: func(string) *client.SessionOptions {
				return &client.SessionOptions{Messages: chatted().Messages.Slice()}
			},
		})
	},
	"snapshots": func(agent client.Agent) http.Handler {
		return wholeThreads(agent, func(dst []byte, th *reducer.Thread) []byte { return th.AppendJSON(dst) })
	},
	"messages": func(agent client.Agent) http.Handler {
		return wholeThreads(agent, func(dst []byte, th *reducer.Thread) []byte {
			return event.Append(dst, &event.MessagesSnapshot{Messages: th.Messages.Slice()})
		})
	},
}

// wholeThreads sends what show makes of the thread after each event.
func wholeThreads(agent client.Agent, show func([]byte, *reducer.Thread) []byte) http.Handler {
	var mu sync.Mutex
	sessions := map[string]*client.Session{}
	of := func(id string) *client.Session {
		mu.Lock()
		defer mu.Unlock()
		if sessions[id] == nil {
			sessions[id] = client.NewSession(agent, &client.SessionOptions{ThreadID: id, Thread: chatted()})
		}
		return sessions[id]
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{id}/messages", func(w http.ResponseWriter, r *http.Request) {
		go of(r.PathValue("id")).Send(context.Background(), messages.UserText("Hello"))
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		var buf []byte
		for s := range of(r.PathValue("id")).Subscribe(r.Context()) {
			buf = append(show(append(buf[:0], "data: "...), s.Thread), "\n\n"...)
			if _, err := w.Write(buf); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
	return mux
}

// readTabs opens the tabs, begins the runs, says so, and reads until it is killed.
func readTabs(address string, sessions int) error {
	slots := make(chan struct{}, 50)
	failed := make(chan error, sessions)
	var open sync.WaitGroup
	for i := range sessions {
		open.Add(1)
		go func() {
			slots <- struct{}{}
			err := readTab(address+strconv.Itoa(i), func() { <-slots; open.Done() })
			failed <- fmt.Errorf("a tab ended: %w", err)
		}()
	}
	opened := make(chan struct{})
	go func() { open.Wait(); close(opened) }()
	select {
	case err := <-failed:
		return err
	case <-opened:
	}
	fmt.Println("ready")
	return <-failed
}

func readTab(url string, opened func()) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", answer.Status)
	}
	posted, err := http.Post(url+"/messages", "application/json", strings.NewReader(`{"content":"Hello"}`))
	if err != nil {
		return err
	}
	posted.Body.Close()
	if posted.StatusCode != http.StatusAccepted {
		return fmt.Errorf("%s", posted.Status)
	}
	opened()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
