package agenttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// narration is one run of a script.
type narration struct {
	ctx        context.Context
	in         event.RunInput
	run        *emit.Run
	send       func(...event.Event) error
	ids        int
	unanswered []func(narrator, messages.Content) error // what answers the calls without a result, oldest first
	started    bool                                     // the run, by RUN_STARTED
	ended      bool                                     // the run, by RUN_FINISHED or RUN_ERROR
	broken     bool                                     // the stream, by Break
	err        error
}

// pass sends an event of the script's own run to the reader.
func (r *narration) pass(ev event.Event) error {
	if ev.Type() == event.TypeRunStarted && r.started {
		return nil // Events have begun the run
	}
	return r.sendNoted(ev)
}

// raw sends an event as it is.
func (r *narration) raw(ev event.Event) error {
	if !r.started && ev.Type() != event.TypeRunStarted {
		if err := r.run.Start(); err != nil {
			return err
		}
	}
	return r.sendNoted(ev)
}

func (r *narration) sendNoted(ev event.Event) error {
	switch ev.Type() {
	case event.TypeRunStarted:
		r.started = true
	case event.TypeRunFinished, event.TypeRunError:
		r.ended = true
	}
	return r.send(ev)
}

// fail ends the stream with a mistake of the script.
func (r *narration) fail(reason string) bool {
	r.err = fmt.Errorf("agenttest: %s", reason)
	return false
}

// stopped reports whether a line has ended the stream early.
func (r *narration) stopped() bool { return r.broken || r.err != nil || r.ctx.Err() != nil }

func (r *narration) newID(what string) string {
	r.ids++
	return r.in.RunID + "-chunked-" + what + "-" + strconv.Itoa(r.ids)
}

// narrator is who tells a line, and in what form.
type narrator struct {
	*narration
	scope   *emit.Scope
	owner   messages.Owner
	turn    func() bool // lets the lines that are told at the same time continue
	chunked bool
	piece   int // characters a delta; 0 is a word
}

func (n narrator) all(lines []Line) bool {
	for _, line := range lines {
		if !line.tell(n) {
			return false
		}
	}
	return true
}

// told reports whether the script continues after something was sent, or was not because the run has ended.
func (n narrator) told(err error) bool {
	return (err == nil || errors.Is(err, emit.ErrClosed)) && n.turn()
}

// write writes a text in deltas, and closes what it is written to.
func (n narrator) write(to io.WriteCloser, text string) bool {
	if !n.chunked && !n.turn() {
		return false
	}
	for piece := range n.pieces(text) {
		if _, err := io.WriteString(to, piece.Or("")); !n.told(err) {
			return false
		}
	}
	return n.told(to.Close())
}

// pieces yields text in deltas. An empty text in chunks is one without a delta, which is its start.
func (n narrator) pieces(text string) iter.Seq[messages.Opt[string]] {
	return func(yield func(messages.Opt[string]) bool) {
		if text == "" && n.chunked {
			yield(messages.Opt[string]{})
			return
		}
		for text != "" {
			end := n.cut(text)
			if !yield(messages.Some(text[:end])) {
				return
			}
			text = text[end:]
		}
	}
}

// cut returns where the first delta of text ends.
func (n narrator) cut(text string) int {
	characters := 0
	for i, r := range text {
		if n.piece > 0 && characters == n.piece {
			return i
		}
		characters++
		if n.piece == 0 && i > 0 && r == ' ' {
			return i + 1
		}
	}
	return len(text)
}
