package live

import (
	"context"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

// The shortest and the longest time between two pictures; the longest keeps the clock and the spinner moving. After a
// picture that took long to draw the pause is a multiple of that time, so that drawing does not keep a processor busy.
const (
	fastest = 30 * time.Millisecond
	slowest = 100 * time.Millisecond
	rest    = 4
)

// Options configures [Show].
type Options struct {
	// Out is the terminal. Nothing else writes to it until Show returns.
	Out *term.Writer
	// Size returns the size of the terminal, in columns and lines. It is called before each picture.
	Size func() (width, height int)
	// Color allows ANSI colors.
	Color term.Colors
	// Title says what runs.
	Title term.Text
	// Start is where the clock begins; zero means now.
	Start time.Time
	// Note, if set, gives a line of news for each picture, such as the last warning.
	Note func() term.Text
	// Aside, if set, delivers functions that need the terminal restored, such as one that suspends the process. The
	// picture is removed while one runs, and drawn again after it.
	Aside <-chan func()
}

// Show draws the snapshots of a channel until it closes or ctx ends. Then it removes the picture and restores the
// cursor, even if it panics. Snapshots that come faster than a person can read are skipped, except for the last.
// The error is an error of Out; then the remaining snapshots are not read.
func Show(ctx context.Context, snapshots <-chan client.Snapshot, o *Options) (err error) {
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
	now := client.Snapshot{Thread: new(reducer.Thread)}
	frames := subscribe.Throttle(ctx, snapshots, fastest) // a goroutine, which ends with ctx
	for {
		next, open := now, true
		select {
		case next, open = <-frames:
		case aside := <-o.Aside:
			width, _ := o.Size()
			if err := screen.Clear(width); err != nil {
				return err
			}
			aside()
		case <-tick.C: // after the end no picture follows
			select {
			case next, open = <-frames:
			default:
			}
		}
		if !open {
			return nil
		}
		now = next
		began := time.Now()
		look := Look{Color: o.Color, Title: o.Title, Phase: now.Phase, Elapsed: time.Since(start)}
		look.Width, look.Height = o.Size()
		if o.Note != nil {
			look.Note = o.Note()
		}
		if err := screen.Draw(Lines(now.Thread, look), look.Width); err != nil {
			return err
		}
		if took := time.Since(began); took > fastest/rest {
			select {
			case <-time.After(rest * took):
			case <-ctx.Done():
			}
		}
	}
}
