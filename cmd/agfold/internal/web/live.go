package web

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// threads returns the conversations with the agent, each of which has a log.
func (ls *logs) threads(o Options) *serve.Threads {
	return serve.NewThreads(o.Agent, &serve.ThreadsOptions{
		Authorize: func(_ *http.Request, id string) error { // the server has checked the token
			if _, err := ls.conversation(id, o); err != nil {
				return err
			}
			return nil
		},
		Session: func(id string) *client.SessionOptions {
			so := new(client.SessionOptions)
			if o.Session != nil {
				so = o.Session()
			}
			if l, err := ls.conversation(id, o); err == nil {
				so.Middleware = append(slices.Clone(so.Middleware), l.recorder())
			}
			if so.OnWarning == nil {
				so.OnWarning = func(event.Warning) {} // the log has them
			}
			return so
		},
		IdleTimeout: 24 * time.Hour, MaxThreads: maxLogs, MaxBodyBytes: 32 << 20,
		Logger: slog.New(slog.DiscardHandler),
	})
}

// conversation returns the log of a thread, a new one if need be.
func (ls *logs) conversation(id string, o Options) (*log, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.byID[id]; l != nil {
		return l, nil
	}
	if len(ls.list) >= maxLogs {
		return nil, errors.New("there are too many conversations")
	}
	l := newLog(id, ls.agent, modeLive, ls.maxBytes)
	l.timed = true
	l.begin(new(reducer.Thread))
	ls.list = append(ls.list, l)
	ls.byID[id] = l
	return l, nil
}

// recorder returns a middleware that folds what passes into the log. It does not change what passes.
func (l *log) recorder() client.Middleware {
	return func(next client.Agent) client.Agent {
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				run := l.startRun(&in)
				var cause error
				defer func() {
					if ctx.Err() != nil {
						cause = reducer.ErrStopped
					}
					run.end(cause)
				}()
				for ev, err := range next.Run(ctx, in) {
					if err != nil {
						cause = err
					} else if ev != nil {
						run.take(ev)
					}
					if !yield(ev, err) {
						return
					}
				}
			}
		})
	}
}

// liveRun is a run that passes.
type liveRun struct {
	log      *log
	reducer  *reducer.Reducer
	upgrader event.Upgrader
	start    time.Time
	head     *recording.Head // until the first delivery
	seen     int
}

// startRun begins with what the log's thread is and the input says: the client may have edited the thread in between.
func (l *log) startRun(in *event.RunInput) *liveRun {
	run := &liveRun{log: l, start: time.Now()}
	run.head = &recording.Head{Input: in, Start: run.start}
	l.change(func() {
		if l.start.IsZero() {
			l.start = run.start
		}
		if n := len(l.entries); n > 0 {
			run.seen = int(l.entries[n-1].ordinal)
		}
		run.reducer = reducer.New(&reducer.Options{Thread: edited(l.last.Thread, in.Messages), Ordinal: run.seen})
		run.reducer.Next(&reducer.Options{Input: in, Ordinal: run.seen})
		run.upgrader.Follow(run.reducer.Thread().Messages.All())
		l.trouble.entry(recording.Entry{Head: run.head}, run.seen)
	})
	return run
}

// edited returns the thread without what follows the first user's message that an input does not have.
func edited(th *reducer.Thread, sent []*messages.Message) *reducer.Thread {
	has := make(map[messages.Key]bool, len(sent))
	for _, m := range sent {
		has[m.Key()] = true
	}
	for i, m := range th.Messages.All() {
		if m.Role != messages.RoleUser || has[m.Key()] {
			continue
		}
		var kept []*messages.Message
		for j, k := range th.Messages.All() {
			if j == i {
				break
			}
			kept = append(kept, k)
		}
		return th.ReplaceMessages(kept...)
	}
	return th
}

// take folds an event.
func (run *liveRun) take(ev event.Event) {
	l := run.log
	l.change(func() {
		run.seen++
		at := time.Since(l.start)
		raw := event.FrameOfEvent(ev)
		l.trouble.entry(recording.Entry{Event: raw, At: time.Since(run.start)}, run.seen)
		none := true
		add := func(d reducer.Delivery) {
			none = false
			_ = l.add(step{delivery: d, raw: raw, at: at, head: run.head, thread: run.reducer.Thread()}) // full is full: the page says so
			run.head = nil
		}
		for d, err := range run.reducer.Deliver(run.upgrader.Upgrade(ev)) {
			if err != nil {
				break
			}
			add(d)
		}
		if none {
			add(reducer.Delivery{Ordinal: run.seen, Change: reducer.Change{Index: -1}})
		}
	})
}

// end says how the stream ended.
func (run *liveRun) end(cause error) {
	l := run.log
	l.change(func() { l.ended(run.reducer.End(cause), time.Since(l.start), true, run.seen) })
}
