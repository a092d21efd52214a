package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/live"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// turn carries out one call of the session and shows it. It returns false if nothing was sent, with the
// reason; else the error is that of the result.
func (c *conversation) turn(ctx context.Context, o *client.RunOptions) (sent bool, err error) {
	before := c.session.Result()
	if c.text() && c.stage.size != nil {
		err = c.watch(ctx, o)
	} else {
		err = c.follow(ctx, o)
	}
	return c.session.Result() != before, err
}

// follow shows a turn line by line.
func (c *conversation) follow(ctx context.Context, o *client.RunOptions) error {
	var ended error
	for step, err := range c.session.Run(ctx, o) {
		if err != nil {
			ended = err
			break
		}
		c.seen++
		switch {
		case c.f.events && step.Event != nil && c.f.json:
			c.print.write(string(append(transcript.CleanJSON(nil, step.AppendJSON(nil)), '\n')))
		case c.f.events:
			c.print.write(c.style.Event(step))
		case !c.f.json:
			c.print.step(step, c.session.Thread)
		}
		if err := c.print.flush(); err != nil {
			c.failed = err // nobody reads: stop
			c.session.Cancel()
		}
	}
	if c.text() {
		c.print.settle(c.session.Thread())
		c.failed = errors.Join(c.failed, c.print.flush())
	}
	return ended
}

// watch shows a turn on the terminal, redrawn in place, and leaves what was said there.
func (c *conversation) watch(ctx context.Context, o *client.RunOptions) error {
	c.failed = errors.Join(c.failed, c.print.flush())
	c.warnings.hold()
	ended, drawn := c.draw(ctx, o)
	c.print.settle(c.session.Thread())
	c.failed = errors.Join(c.failed, drawn, c.print.flush())
	for _, w := range c.warnings.release() {
		c.tell(w)
	}
	return ended
}

// draw carries out a turn with a live view of it, which is gone when draw returns or panics.
func (c *conversation) draw(ctx context.Context, o *client.RunOptions) (ended, drawn error) {
	viewing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- live.Show(viewing, c.session.Subscribe(viewing), &live.Options{
			Out: c.t.stdout, Size: c.stage.size, Color: c.t.color, Title: c.name, Note: c.warnings.note,
		})
	}()
	defer func() {
		stop()
		drawn = <-done
	}()
	for _, err := range c.session.Run(ctx, o) {
		if err != nil {
			return err, nil
		}
		c.seen++
	}
	return nil, nil
}

// warnings are those of a conversation that are still to be shown. They are safe for concurrent use.
type warnings struct {
	mu   sync.Mutex
	keep bool         // for the end
	list warningList  // those for the end
	held *warningList // those held back while the screen is drawn on; nil if it is not
}

// warn takes a warning, and tells it unless the screen is drawn on.
func (c *conversation) warn(w event.Warning) {
	if c.warnings.add(w) {
		c.print.flush()
		c.tell(w)
	}
}

func (c *conversation) tell(w event.Warning) {
	io.WriteString(c.t.stderr, transcript.Style{}.Warning(w))
}

func (ws *warnings) add(w event.Warning) (now bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.keep {
		ws.list.add(w)
	}
	if ws.held == nil {
		return true
	}
	ws.held.add(w)
	return false
}

func (ws *warnings) hold() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.held = &warningList{}
}

func (ws *warnings) release() []event.Warning {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.held == nil {
		return nil
	}
	held := ws.held.all()
	ws.held = nil
	return held
}

// note is what the live view says of them.
func (ws *warnings) note() string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	switch {
	case ws.held == nil || ws.held.count == 0:
		return ""
	case ws.held.count == 1:
		return "warning: " + ws.held.last.String()
	}
	return fmt.Sprintf("%d warnings, the last: %s", ws.held.count, ws.held.last)
}

// finish shows how the conversation ended and returns the exit status. last is its last result, nil if
// nothing was sent, err that result's error, and unsaid how many messages were not sent.
func (c *conversation) finish(ctx context.Context, last *client.Result, err error, unsaid int) int {
	th := c.session.Thread()
	switch {
	case c.f.events:
	case c.f.json:
		c.print.write(string(append(transcript.CleanJSON(nil, appendThread(nil, th, c.warnings.list.all())), '\n')))
	default:
		c.print.close(th)
	}
	written := c.t.written(errors.Join(c.failed, c.print.flush()))
	if written == exitBrokenPipe {
		return written
	}
	status := c.verdict(ctx, th, last, err)
	for _, reply := range c.replies {
		if !c.used[reply] {
			c.t.say("agfold: --answer %s: no such interrupt came up", reply)
		}
	}
	if unsaid > 0 {
		c.t.say("agfold: %d of the messages were not sent", unsaid)
	}
	return max(status, written)
}

// verdict says on standard error what is left to do or went wrong, and returns the exit status.
func (c *conversation) verdict(ctx context.Context, th *reducer.Thread, last *client.Result, err error) int {
	if last != nil {
		for _, call := range last.PendingToolCalls {
			if last.Status == reducer.Succeeded {
				c.t.say("agfold: the call %s of the tool %s waits for an answer", call.ID, call.Name)
			}
		}
	}
	if len(th.Interrupts) > 0 && err == nil && ctx.Err() == nil {
		c.explain(th.Interrupts)
	}
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		c.t.say("agfold: stopped by --timeout after %v and %d events: %s; what came before is kept", c.f.timeout, c.seen, th.Status())
		return exitTruncated
	case ctx.Err() != nil:
		c.t.say("agfold: stopped after %d events: %s; what came before is kept", c.seen, th.Status())
		return exitInterrupted
	case err == nil:
		return exitOK
	}
	c.t.say("agfold: %v", err)
	switch th.Status() {
	case reducer.Failed:
		return exitFailed
	case reducer.Rejected:
		return exitRejected
	}
	var malformed *messages.MalformedError
	switch {
	case errors.As(err, &malformed) && malformed.Type == "RunAgentInput":
		return exitUsage
	case errors.Is(err, client.ErrTruncated), c.seen > 0:
		return exitTruncated
	}
	return exitUnreadable
}
