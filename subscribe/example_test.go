package subscribe_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agfold/agfold/subscribe"
)

// progress is an immutable snapshot.
type progress struct {
	Step  string
	Lines int
}

// job is a producer: it changes under mu and tells its hub.
type job struct {
	mu  sync.Mutex
	now progress
	hub *subscribe.Hub[*progress]
}

func newJob() *job {
	j := &job{}
	j.hub = subscribe.NewHub(&j.mu, func() *progress {
		p := j.now
		return &p
	})
	return j
}

func (j *job) set(p progress) {
	j.mu.Lock()
	j.now = p
	j.hub.Changed()
	j.mu.Unlock()
	if err := j.hub.Flush(context.Background()); err != nil {
		fmt.Println(err)
	}
}

func Example() {
	j := newJob()
	snapshots := j.hub.Latest(context.Background())
	fmt.Println(*<-snapshots)

	j.set(progress{"read", 1})
	fmt.Println(*<-snapshots)

	for n := range 1000 {
		j.set(progress{"write", n})
	}
	j.hub.Close()
	var last *progress
	for p := range snapshots { // far fewer than a thousand
		last = p
	}
	fmt.Println(*last)
	// Output:
	// { 0}
	// {read 1}
	// {write 999}
}

func ExampleHub_Every() {
	j := newJob()
	revisions := j.hub.Every(context.Background(), &subscribe.EveryOptions{Buffer: 2})
	go func() {
		for n := range 4 {
			j.set(progress{"write", n + 1}) // waits while two are not received
		}
		j.hub.Close()
	}()
	for p := range revisions.C {
		fmt.Println(p.Lines)
	}
	fmt.Println(revisions.Err())
	// Output:
	// 0
	// 1
	// 2
	// 3
	// 4
	// <nil>
}

func ExampleHub_Every_dropOldest() {
	j := newJob()
	revisions := j.hub.Every(context.Background(), &subscribe.EveryOptions{
		Buffer: 2,
		Full:   subscribe.DropOldest,
	})
	for n := range 100 {
		j.set(progress{"write", n})
	}
	j.hub.Close()
	for p := range revisions.C {
		fmt.Println(p.Lines)
	}
	fmt.Println("dropped", revisions.Dropped())
	// Output:
	// 98
	// 99
	// dropped 99
}

func ExampleSelect() {
	j := newJob()
	ctx := context.Background()
	revisions := j.hub.Every(ctx, nil)
	steps := subscribe.Select(ctx, revisions.C, func(p *progress) string { return p.Step }, subscribe.Equal)
	go func() {
		for n := range 100 {
			j.set(progress{"read", n})
		}
		j.set(progress{"write", 100})
		j.hub.Close()
	}()
	for step := range steps {
		fmt.Printf("%q\n", step)
	}
	// Output:
	// ""
	// "read"
	// "write"
}

func ExampleThrottle() {
	j := newJob()
	ctx := context.Background()
	frames := subscribe.Throttle(ctx, j.hub.Latest(ctx), 20*time.Millisecond)
	fmt.Println("first:", (<-frames).Lines)
	for n := range 1000 {
		j.set(progress{"write", n})
	}
	j.hub.Close()
	for p := range frames { // one, or a few on a slow machine
		if p.Lines == 999 {
			fmt.Println("last:", p.Lines)
		}
	}
	// Output:
	// first: 0
	// last: 999
}
