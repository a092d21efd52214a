// Command soak runs sessions against an agent whose answers break in random ways, and prints what the process holds at the
// start and at the end: goroutines, heap, open files.
//
//	go run -C internal/bench ./soak [-for 10m] [-workers 4] [-seed 1]
//
// Each turn is a session of its own over HTTP on this machine, with random faults, and may be stopped. The command fails if a
// turn hangs, a POST is sent twice, or the process holds more at the end than at the start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func main() {
	length := flag.Duration("for", 10*time.Minute, "how long to run")
	workers := flag.Int("workers", 4, "turns at the same time")
	seed := flag.Uint64("seed", 1, "of the faults")
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if err := soak(os.Stdout, *length, *workers, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// held is what a process holds.
type held struct {
	goroutines, files int
	heap              uint64
}

// holds measures what the process holds once the last turns have let go.
func holds(idle *http.Transport) held {
	var h held
	for range 50 {
		idle.CloseIdleConnections()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := held{runtime.NumGoroutine(), files(), m.HeapAlloc}
		if now.goroutines == h.goroutines && now.files == h.files {
			return now
		}
		h = now
		time.Sleep(100 * time.Millisecond)
	}
	return h
}

// files counts the open files, -1 where the system does not say.
func files() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

func soak(w io.Writer, length time.Duration, workers int, seed uint64) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	var turns, posts atomic.Int64
	var mu sync.Mutex
	ended := map[string]int{}
	run := func(n uint64) error {
		random := rand.New(rand.NewPCG(seed, n))
		status, err := turn(random, n, transport, &posts)
		turns.Add(1)
		mu.Lock()
		ended[status]++
		mu.Unlock()
		return err
	}
	var next atomic.Uint64
	for range 200 { // connections, pools and caches are there before the first measurement
		if err := run(next.Add(1)); err != nil {
			return err
		}
	}
	before := holds(transport)
	fmt.Fprintf(w, "start: %d goroutines, %d open files, %d KB of heap\n", before.goroutines, before.files, before.heap>>10)
	deadline := time.Now().Add(length)
	failed := make(chan error, workers)
	for range workers {
		go func() {
			var err error
			for err == nil && time.Now().Before(deadline) {
				err = run(next.Add(1))
			}
			failed <- err
		}()
	}
	var err error
	for range workers {
		err = errors.Join(err, <-failed)
	}
	after := holds(transport)
	fmt.Fprintf(w, "end:   %d goroutines, %d open files, %d KB of heap, after %d turns: %v\n",
		after.goroutines, after.files, after.heap>>10, turns.Load(), ended)
	switch {
	case err != nil:
		return err
	case posts.Load() != turns.Load():
		return fmt.Errorf("%d turns made %d requests", turns.Load(), posts.Load())
	case after.goroutines > before.goroutines, after.files > before.files, after.heap > before.heap+8<<20:
		return errors.New("the process holds more at the end")
	}
	return nil
}

// turn is one turn of a session with an agent that breaks; it returns how it ended.
func turn(random *rand.Rand, n uint64, transport *http.Transport, posts *atomic.Int64) (string, error) {
	fault := []agenttest.Fault{
		agenttest.Cut(agenttest.Somewhere), agenttest.CutBytes(agenttest.Somewhere), agenttest.Drop(agenttest.Somewhere),
		agenttest.Duplicate(agenttest.Somewhere), agenttest.Reorder(agenttest.Somewhere), agenttest.Corrupt(agenttest.Somewhere),
		agenttest.Endless(agenttest.Somewhere), agenttest.Silence(agenttest.Somewhere), agenttest.Split(7),
		agenttest.Delay(agenttest.Somewhere, 5*time.Millisecond), agenttest.Status(503, "busy"), agenttest.ContentType("text/html"),
	}[random.IntN(12)]
	fs := agenttest.NewFaults(n, fault)
	agent := agenttest.Script(agenttest.Think("Where to look?"), agenttest.Call("weather", `{"city":"Oslo"}`),
		agenttest.Result(`{"celsius":4}`), agenttest.SetState(map[string]any{"n": n}),
		agenttest.Say(strings.Repeat("some words ", random.IntN(50))))
	t := new(test)
	server := agenttest.NewServer(t, agent, fs.Handler)
	defer server.Close()
	s := client.NewSession(server.Agent(&client.HTTPOptions{Client: &http.Client{Transport: transport}, IdleTimeout: 50 * time.Millisecond}),
		&client.SessionOptions{OnWarning: func(event.Warning) {}, Linger: 10 * time.Millisecond})
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if random.IntN(4) == 0 || fault.String() == "Endless(Somewhere)" {
		stop := time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, func() { s.Stop(ctx) })
		defer stop.Stop()
	}
	for range s.Subscribe(ctx) { // a subscriber that sees some snapshots
		break
	}
	s.Send(ctx, messages.UserText("How warm is it in Oslo?"))
	if ctx.Err() != nil {
		return "", fmt.Errorf("turn %d hangs with %v", n, fs)
	}
	posts.Add(int64(max(server.Requests(), 1))) // one that is stopped early may not have been sent
	status := s.Thread().Status()
	if !status.Ended() && status != reducer.Empty {
		return "", fmt.Errorf("turn %d with %v is %v", n, fs, status)
	}
	return status.String(), nil
}

// test is what NewServer reports to: it needs nothing of it.
type test struct{}

func (*test) Errorf(string, ...any) {}
func (*test) FailNow()              { runtime.Goexit() }
