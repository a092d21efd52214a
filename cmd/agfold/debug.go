package main

import (
	"io"
	"log/slog"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// debugVariable is the environment variable that turns on the debug log, with a list of categories.
const debugVariable = "AGFOLD_DEBUG"

// lockedWriter is for several goroutines: lines of the debug log come from those of a session.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// startDebug begins the debug log on standard error if the variable asks for one. A live view would be drawn over it, so there
// is none then. The handler writes what is not printable as escapes. The error names what is not a category.
func (t *terminal) startDebug() error {
	categories, err := client.ParseDebugCategories(t.debugList)
	if err != nil || len(categories) == 0 {
		return err
	}
	handler := slog.NewTextHandler(t.errors, &slog.HandlerOptions{Level: slog.LevelDebug})
	t.debug = client.NewDebugLog(slog.New(handler), categories...)
	t.live, t.stage.size = false, nil
	return nil
}

// debugFold logs what becomes of a recording's events.
type debugFold struct {
	log      *client.DebugLog
	ordinal  int
	event    event.Event
	rejected error
}

// entry takes note of an entry before it is folded.
func (d *debugFold) entry(e recording.Entry) {
	if e.Head == nil && e.Err == nil {
		d.ordinal++
		d.event = e.Event
		d.log.Frame(d.ordinal, e.Event)
	}
}

// deliver logs a delivery that came of the latest entry, after which the fold has the error err. What comes after the event that
// a stream was rejected with is not folded.
func (d *debugFold) deliver(delivery reducer.Delivery, err error) {
	if err == nil || err != d.rejected {
		d.log.Deliver(d.event, delivery, err)
	}
	d.rejected = err
}
