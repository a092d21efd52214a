package live

import (
	"context"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

// How often the picture is drawn at most, and how often at least, for its clock and spinner.
const (
	fastest = 30 * time.Millisecond
	slowest = 100 * time.Millisecond
)

// Options of [Show].
type Options struct {
	// Out is the terminal. It gets nothing but what Show draws while Show goes on.
	Out *term.Writer
	// Size tells the size of the terminal, in columns and lines; it is asked before each picture.
	Size func() (width, height int)
	// Color allows ANSI colours.
	Color term.Colors
	// Title says what runs.
	Title term.Text
	// Start is where the clock begins; zero means now.
	Start time.Time
	// Note, if set, gives a line of news for each picture, such as the last warning.
	Note func() term.Text
}

// Show draws the snapshots of a channel until it closes or ctx ends, then takes the picture off the terminal
// and gives the cursor back, also when it panics. Snapshots that come faster than a terminal can be read are
// passed over, but for the last. The error is that of writing; the snapshots are then drained no longer.
func Show(ctx context.Context, snapshots <-chan *reducer.Thread, o *Options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := o.Start
	if start.IsZero() {
		start = time.Now()
	}
	screen := NewScreen(o.Out)
	defer func() {
		width, _ := o.Size()
		if cleared := screen.Clear(width); err == nil {
			err = cleared
		}
	}()
	tick := time.NewTicker(slowest)
	defer tick.Stop()
	thread := &reducer.Thread{}
	for frames := subscribe.Throttle(ctx, snapshots, fastest); ; {
		select {
		case th, open := <-frames:
			if !open {
				return nil
			}
			thread = th
		case <-tick.C:
		}
		look := Look{Color: o.Color, Title: o.Title, Elapsed: time.Since(start)}
		look.Width, look.Height = o.Size()
		if o.Note != nil {
			look.Note = o.Note()
		}
		if err := screen.Draw(Lines(thread, look), look.Width); err != nil {
			return err
		}
	}
}
