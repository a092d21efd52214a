package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// late joins a thread of many events, of many runs, with and without a checkpoint, and compares with reading its JSON.
func (r *rig) late(ctx context.Context) error {
	const runs = 100
	for _, checkpoints := range []bool{false, true} {
		o := jetstream.Options{Name: "LATE", CheckpointBytes: -1, KeepLog: true}
		if checkpoints {
			o = jetstream.Options{Name: "LATECP"}
		}
		l, nc, err := r.log(ctx, o)
		if err != nil {
			return err
		}
		defer nc.Close()
		defer l.Close()
		h, err := l.Hold(ctx, "long")
		if err != nil {
			return err
		}
		s := h.Session(talk(r.tail/runs, nil), nil)
		for range runs {
			if _, err := s.Send(ctx, messages.UserText("Hi")); err != nil {
				return err
			}
		}
		th := s.Thread()
		s.Close()
		if err := h.Close(); err != nil {
			return err
		}
		text := th.AppendJSON(nil)
		var joins, loads []float64
		for range 7 {
			within, cancel := context.WithCancel(ctx)
			begun := time.Now()
			f := l.Watch(within, "long", nil)
			<-f.Ready()
			joins = append(joins, time.Since(begun).Seconds()*1000)
			if f.Snapshot().Revision < th.Revision {
				cancel()
				return fmt.Errorf("the follower has revision %d of %d", f.Snapshot().Revision, th.Revision)
			}
			cancel()
			begun = time.Now()
			if err := new(reducer.Thread).UnmarshalJSON(text); err != nil {
				return err
			}
			loads = append(loads, time.Since(begun).Seconds()*1000)
		}
		what := "without a checkpoint"
		if checkpoints {
			what = "with one and the tail"
		}
		fmt.Printf("%d events, %s: %6.1f ms; reading its JSON, %d KB: %6.1f ms; %.1f x\n", r.tail, what, median(joins), len(text)>>10, median(loads), median(joins)/median(loads))
	}
	return nil
}

// idleThreads makes threads that nobody holds or follows, and looks at what is left of them in memory.
func (r *rig) idleThreads(ctx context.Context) error {
	l, nc, err := r.log(ctx, jetstream.Options{Name: "IDLE"})
	if err != nil {
		return err
	}
	defer nc.Close()
	defer l.Close()
	use := func(i int) error {
		h, err := l.Hold(ctx, fmt.Sprint("idle-", i))
		if err != nil {
			return err
		}
		s := h.Session(talk(20, nil), &client.SessionOptions{})
		_, err = s.Send(ctx, messages.UserText("Hi"))
		s.Close()
		if failed := h.Close(); err == nil {
			err = failed
		}
		return err
	}
	if err := use(-1); err != nil {
		return err
	}
	before, goroutines := memory(), runtime.NumGoroutine()
	begun := time.Now()
	for i := range r.idle {
		if err := use(i); err != nil {
			return err
		}
	}
	took := time.Since(begun)
	after := memory()
	fmt.Printf("%d threads were opened, run once and given up: %.1f ms each\n", r.idle, took.Seconds()*1000/float64(r.idle))
	fmt.Printf("memory of this process and its server: %.0f bytes a thread, %d goroutines more\n", float64(int64(after)-int64(before))/float64(r.idle), runtime.NumGoroutine()-goroutines)
	begun = time.Now()
	h, err := l.Hold(ctx, fmt.Sprint("idle-", r.idle/2))
	if err != nil {
		return err
	}
	fmt.Printf("opening one of them again: %v\n", time.Since(begun).Round(10*time.Microsecond))
	return h.Close()
}

// memory returns how many bytes are in use.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
