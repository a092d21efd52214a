package chunks_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// source yields what it is given, then the error if there is one, and notes how it was left.
type source struct {
	events []event.Event
	err    error
	pulled int
	left   bool
}

func (s *source) all() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		defer func() { s.left = true }()
		s.pulled = 0
		for _, ev := range s.events {
			s.pulled++
			if !yield(ev, nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

// frames makes one frame a line.
func frames(t testing.TB, text string) []event.Event {
	t.Helper()
	var all []event.Event
	for _, line := range lines(text) {
		frame, err := event.NewFrame([]byte(line))
		require.NoError(t, err, line)
		all = append(all, frame)
	}
	return all
}

// drain ranges over all and returns the events and the error, which must come alone and last.
func drain(t testing.TB, all iter.Seq2[event.Event, error]) (out []event.Event, failed error) {
	t.Helper()
	for ev, err := range all {
		require.NoError(t, failed, "something came after the error")
		if failed = err; err != nil {
			require.Nil(t, ev)
			continue
		}
		out = append(out, ev)
	}
	return out, failed
}

const helloChunks = `
	{"type":"RUN_STARTED","threadId":"t","runId":"r"}
	{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}
	{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}
	{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`

const helloWhole = `
	{"type":"RUN_STARTED","threadId":"t","runId":"r"}
	{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
	{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}
	{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"b"}
	{"type":"TEXT_MESSAGE_END","messageId":"m"}
	{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`

func TestExpandStream(t *testing.T) {
	t.Run("frames and typed events, as often as the source can be iterated", func(t *testing.T) {
		for _, all := range [][]event.Event{frames(t, helloChunks), events(t, helloChunks)} {
			src := &source{events: all}
			expanded := chunks.Expand(src.all(), nil)
			for range 2 {
				got, err := drain(t, expanded)
				require.NoError(t, err)
				assertWire(t, helloWhole, got)
			}
		}
	})

	t.Run("P-CHK-7 at the end of input nothing is synthesized", func(t *testing.T) {
		got, err := drain(t, chunks.Expand((&source{events: frames(t, helloChunks)[:2]}).all(), nil))
		require.NoError(t, err)
		assert.Len(t, got, 3)
	})

	t.Run("breaking off releases the source, also in the middle of what one event expands to", func(t *testing.T) {
		src := &source{events: frames(t, helloChunks)}
		for ev := range chunks.Expand(src.all(), nil) {
			if ev.Type() == event.TypeTextMessageStart {
				break
			}
		}
		assert.True(t, src.left)
		assert.Equal(t, 2, src.pulled)
	})

	t.Run("an error carries the ordinal of its event, dropped ones counted, and releases the source", func(t *testing.T) {
		var warnings []event.Warning
		src := &source{events: frames(t, `
			{"type":"RUN_STARTED","threadId":"t","runId":"r"}
			{"type":"FUTURE"}
			{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}
			{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)}
		got, err := drain(t, chunks.Expand(src.all(), func(w event.Warning) { warnings = append(warnings, w) }))
		assert.Len(t, got, 1)
		var e *chunks.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "P-CHK-2", e.Rule)
		assert.Equal(t, 3, e.Ordinal)
		assert.True(t, src.left)
		assert.Equal(t, 3, src.pulled)
		require.NotEmpty(t, warnings)
		assert.Contains(t, warnings[0].String(), "P-ENF-1 event 2 FUTURE")
	})

	t.Run("P-PIPE-1 enforcement comes first, for frames and typed events", func(t *testing.T) {
		malformed := []event.Event{
			frames(t, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":null}`)[0],
			&event.TextMessageChunk{MessageID: messages.Some("m"), Role: "narrator"},
		}
		for _, ev := range malformed {
			_, err := drain(t, chunks.Expand((&source{events: []event.Event{ev}}).all(), nil))
			var e *messages.MalformedError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 1, e.Ordinal)
		}
	})

	t.Run("no event is an error, not a panic", func(t *testing.T) {
		_, err := drain(t, chunks.Expand((&source{events: []event.Event{nil}}).all(), nil))
		assert.Error(t, err)
	})

	t.Run("the source's error comes through, and what came before it", func(t *testing.T) {
		cut := errors.New("cut")
		got, err := drain(t, chunks.Expand((&source{events: frames(t, helloChunks)[:3], err: cut}).all(), nil))
		assert.Same(t, cut, err)
		assert.Len(t, got, 4)
	})
}
