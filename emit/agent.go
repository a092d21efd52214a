package emit

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Options configures [Agent] and [New]; nil means defaults.
type Options struct {
	// RunError returns what the client is told of an error that ends a run or a subagent. Nil tells what a
	// *reducer.AgentError says, and of other errors only that the agent failed. If it panics or returns nil or a malformed
	// event, the default is told.
	RunError func(ctx context.Context, err error) *event.RunError
	// OnError is called with each error that ends a run, unless it is a *reducer.AgentError or says that the run was stopped. A
	// panic is a [*client.PanicError]. The client has been told before. Nil logs it with slog.Default(), at level Error; so is
	// an error during which OnError itself panics.
	OnError func(ctx context.Context, in event.RunInput, err error)
}

// Agent returns an agent written in Go as the function f. Each run calls f in a goroutine of its own and ends when f has
// returned: with RUN_FINISHED if f returns nil, with RUN_ERROR if it returns an error or panics. When ctx is done or the
// reader leaves the stream, ctx of f is done and no event follows; the stream ends when f has returned.
func Agent(f func(ctx context.Context, run *Run) error, o *Options) client.Agent {
	return Stream(func(ctx context.Context, in event.RunInput, send func(...event.Event) error) error {
		run := New(ctx, in, func(ev event.Event) error { return send(ev) }, o)
		err := run.call(f)
		if run.isOver() && ctx.Err() == nil { // f has ended it
			if err != nil {
				run.r.report(err)
			}
			return nil
		}
		return run.End(err)
	})
}

// call calls f and turns a panic, and an end of the goroutine, into an error.
func (run *Run) call(f func(ctx context.Context, run *Run) error) (err error) {
	if err := run.Start(); err != nil {
		return err
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			err = &client.PanicError{Value: v, Stack: debug.Stack()}
			return
		}
		_ = run.End(errExit) // the goroutine is ending
	}()
	err = f(run.r.ctx, run)
	returned = true
	return err
}

var errExit = errors.New("the agent ended its goroutine without returning")

// told returns what the client is told of err, and reports err unless it was meant for the client.
func (r *core) told(err error) (told *event.RunError) {
	defer func() {
		if recover() != nil || told == nil || event.Check(told) != nil {
			told = discreet(err)
		}
	}()
	if r.o.RunError != nil {
		return r.o.RunError(r.ctx, err)
	}
	return discreet(err)
}

// discreet is the default of Options.RunError.
func discreet(err error) *event.RunError {
	if said, ok := errors.AsType[*reducer.AgentError](err); ok {
		return &event.RunError{Message: said.Message, Code: said.Code}
	}
	return &event.RunError{Message: "the agent failed", Code: messages.Some("agent_failed")}
}

// report tells the operator of an error that the client is not told. If OnError panics, both are logged.
func (r *core) report(err error) {
	if _, said := errors.AsType[*reducer.AgentError](err); said {
		return
	}
	if r.o.OnError != nil {
		defer func() {
			if v := recover(); v != nil {
				r.log(errors.Join(err, &client.PanicError{Value: v, Stack: debug.Stack()}))
			}
		}()
		r.o.OnError(r.ctx, r.in, err)
		return
	}
	r.log(err)
}

// log writes an error that ended the run to the default logger.
func (r *core) log(err error) {
	attrs := []any{"thread", r.in.ThreadID, "run", r.in.RunID, "error", err}
	if p, ok := errors.AsType[*client.PanicError](err); ok {
		attrs = append(attrs, "stack", string(p.Stack))
	}
	slog.Default().ErrorContext(context.WithoutCancel(r.ctx), "the agent failed", attrs...)
}
