// Command bench measures what threads on JetStream cost, as ratios of two things in one run.
//
//	go run ./internal/bench            # everything
//	go run ./internal/bench -quick     # smaller numbers, to see that it works
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/adapters/jetstream/embedded"
)

// size is how much is measured.
type size struct {
	events    int   // of one thread, published and followed
	tail      int   // of the thread that is joined late
	latencies int   // events one after the other
	followers []int // of one thread
	idle      int   // threads
}

func main() {
	quick := flag.Bool("quick", false, "smaller numbers")
	flag.Parse()
	s := size{events: 100_000, tail: 100_000, latencies: 2_000, followers: []int{1, 10, 100}, idle: 10_000}
	if *quick {
		s = size{events: 3_000, tail: 3_000, latencies: 100, followers: []int{1, 5}, idle: 50}
	}
	if err := measure(context.Background(), s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// rig is a server and who is connected to it.
type rig struct {
	server *embedded.Server
	size
}

func measure(ctx context.Context, s size) error {
	server, err := embedded.Start(nil)
	if err != nil {
		return err
	}
	defer server.Stop()
	r := &rig{server, s}
	for _, m := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"publish and follow, against the bare broker", r.throughput},
		{"latency from Emit to a follower's snapshot", r.latency},
		{"followers of one thread", r.fanOut},
		{"joining late", r.late},
		{"idle threads", r.idleThreads},
	} {
		fmt.Println("##", m.name)
		if err := m.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Println()
	}
	return nil
}

// log returns a log of a process of its own.
func (r *rig) log(ctx context.Context, o jetstream.Options) (*jetstream.Log, *nats.Conn, error) {
	nc, err := jetstream.Connect(r.server.URL())
	if err != nil {
		return nil, nil, err
	}
	l, err := jetstream.New(ctx, nc, &o)
	return l, nc, err
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
