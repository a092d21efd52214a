package main

import (
	"context"
	"errors"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/live"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
)

// turn makes one call of the session and shows it. If nothing was sent it returns false and the reason; otherwise
// the error is that of the result.
func (c *conversation) turn(ctx context.Context, o *client.RunOptions) (sent bool, err error) {
	before := c.session.Snapshot().Result
	if c.text() && c.stage.size != nil {
		err = c.watch(ctx, o)
	} else {
		err = c.follow(ctx, o)
	}
	return c.session.Snapshot().Result != before, err
}

// follow shows a turn line by line.
func (c *conversation) follow(ctx context.Context, o *client.RunOptions) error {
	var ended error
	for d, err := range c.session.Run(ctx, o) {
		if err != nil {
			ended = err
			break
		}
		c.seen++
		switch {
		case c.f.Events:
			printDelivery(c.t.stdout, d, c.style, c.f.JSON)
		case !c.f.JSON:
			c.print.Deliver(d, c.session.Thread)
		}
		if err := c.t.stdout.Flush(); err != nil {
			c.failed, ended = err, client.ErrStopped // nothing more can be written: leaving the loop stops the run
			break
		}
	}
	if c.text() {
		c.settle()
	}
	c.tellWarnings()
	return ended
}

// settle writes what a turn left to write.
func (c *conversation) settle() {
	c.print.Settle(c.session.Thread())
	c.failed = errors.Join(c.failed, c.t.stdout.Flush())
}

// watch shows a turn on the terminal, redrawn in place, and leaves what was said there.
func (c *conversation) watch(ctx context.Context, o *client.RunOptions) error {
	c.failed = errors.Join(c.failed, c.t.stdout.Flush())
	ended, drawn := c.draw(ctx, o)
	c.failed = errors.Join(c.failed, drawn)
	c.settle()
	c.tellWarnings()
	return ended
}

// draw makes a call of the session with a live view of it, which is gone when draw returns or panics.
func (c *conversation) draw(ctx context.Context, o *client.RunOptions) (ended, drawn error) {
	asides, release := asides()
	defer release()
	viewing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := live.Show(viewing, c.session.Subscribe(viewing), &live.Options{
			Out: c.t.stdout, Size: c.stage.size, Color: c.t.color, Title: c.title(), Note: c.warnings.note, Aside: asides,
		})
		if err != nil {
			_ = c.session.Stop(context.WithoutCancel(ctx)) // nobody sees the rest, and nobody attends to the signals
		}
		done <- err
	}()
	defer func() {
		stop()
		drawn = <-done
	}()
	for d, err := range c.session.Run(ctx, o) {
		if err != nil {
			return err, nil
		}
		c.seen++
		c.print.Deliver(d, c.session.Thread)
	}
	return nil, nil
}

// warnings are those of a conversation: a turn's until it is over, and all of them if they are printed at the end. They
// are safe for concurrent use.
type warnings struct {
	mu    sync.Mutex
	keep  bool // all, for the end
	list  warningList
	tally warningTally // of the turn
}

// warn keeps a warning, which is printed at the end of the turn.
func (c *conversation) warn(w event.Warning) { c.warnings.add(w) }

func (c *conversation) tellWarnings() { c.t.tell(c.warnings.lines()) }

func (ws *warnings) add(w event.Warning) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.keep {
		ws.list.add(w)
	}
	ws.tally.add(w)
}

// lines draws the turn's warnings and forgets them.
func (ws *warnings) lines() term.Text {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.tally.lines(term.Text{})
}

// note is what the live view says of them.
func (ws *warnings) note() term.Text {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	switch ws.tally.total {
	case 0:
		return term.Text{}
	case 1:
		return term.Sprintf("warning: %s", ws.tally.last)
	}
	return term.Sprintf("%s, the last: %s", transcript.Count(ws.tally.total, "warning"), ws.tally.last)
}
