package main

import (
	"context"
	"fmt"
	"time"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/subscribe"
)

// followCmd shows a thread.
type followCmd struct {
	access
	From   string `help:"NATS servers to follow from." default:"nats://127.0.0.1:4222" placeholder:"URL"`
	JSON   bool   `help:"Print each snapshot as a line of JSON: sequence, phase, thread." name:"json"`
	Once   bool   `help:"End with what is stored now."`
	Free   bool   `help:"End once nobody holds the thread." name:"until-free"`
	Thread string `arg:"" help:"The thread's id."`
}

// Run follows until ctx ends.
func (c *followCmd) Run(ctx context.Context, t terminal) error {
	l, _, closed, err := c.open(ctx, c.From, jetstream.Options{})
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := l.Watch(ctx, c.Thread, &jetstream.WatchOptions{UntilFree: c.Free, OnWarning: func(w event.Warning) {
		fmt.Fprintf(t.err, "agfold-jetstream: %s\n", clean(w.Text))
	}})
	select {
	case <-f.Ready():
	case <-f.Done():
		return f.Err()
	}
	if c.Once {
		return c.print(t, f)
	}
	if c.JSON {
		last := uint64(0)
		for range subscribe.Throttle(ctx, f.Subscribe(ctx), 30*time.Millisecond) {
			if at := f.Sequence(); at != last {
				if err := c.print(t, f); err != nil {
					return err
				}
				last = at
			}
		}
		return f.Err()
	}
	show(t.out, nil, subscribe.Throttle(ctx, f.Subscribe(ctx), 30*time.Millisecond), f.Gap)
	return f.Err()
}

// print prints the newest snapshot.
func (c *followCmd) print(t terminal, f *jetstream.Follower) error {
	s := f.Snapshot()
	if !c.JSON {
		once := (&printer{out: t.out})
		once.print(s)
		once.end()
		return once.err
	}
	_, err := fmt.Fprintf(t.out, `{"sequence":%d,"phase":%q,"thread":%s}`+"\n", f.Sequence(), s.Phase, s.AppendJSON(nil))
	return err
}

// stopCmd stops a run.
type stopCmd struct {
	access
	From   string `help:"NATS servers." default:"nats://127.0.0.1:4222" placeholder:"URL"`
	Thread string `arg:"" help:"The thread's id."`
}

// Run tells the holder, if there is one.
func (c *stopCmd) Run(ctx context.Context, t terminal) error {
	l, _, closed, err := c.open(ctx, c.From, jetstream.Options{})
	if err != nil {
		return err
	}
	defer closed()
	holder, err := l.Holder(ctx, c.Thread)
	if err != nil {
		return err
	}
	if holder == "" {
		fmt.Fprintln(t.out, "nobody holds the thread: no run is in progress")
		return nil
	}
	if err := l.Stop(ctx, c.Thread); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s was told to stop\n", clean(holder))
	return nil
}
