package spans_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/spans"
)

// place is the key of what the sink puts into contexts: the names of the spans that one is in.
type place struct{}

// collector is a sink that keeps what it gets and checks the contract of the calls.
type collector struct {
	t      *testing.T
	nested bool // a turn begins in a tool

	mu     sync.Mutex
	began  []*spans.Span
	ended  []*spans.Span
	places map[*spans.Span]string
	chunks map[*spans.Span][]time.Duration
}

func collect(t *testing.T) *collector {
	return &collector{t: t, places: map[*spans.Span]string{}, chunks: map[*spans.Span][]time.Duration{}}
}

func (c *collector) Began(ctx context.Context, s *spans.Span) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	outer, _ := ctx.Value(place{}).(string)
	if s.Kind == spans.Turn && c.nested {
		c.places[nil] = outer
	}
	assert.Equal(c.t, c.places[s.Parent], outer, "%s begins in the context of its parent", s.Name)
	assert.Zero(c.t, s.End)
	c.began = append(c.began, s)
	c.places[s] = outer + "/" + s.Name
	return context.WithValue(ctx, place{}, c.places[s])
}

func (c *collector) Ended(s *spans.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.NotContains(c.t, c.ended, s, "%s ended twice", s.Name)
	assert.False(c.t, s.End.Before(s.Start), "%s ends before it begins", s.Name)
	if s.Parent != nil && s.Parent.Kind == spans.Run {
		assert.NotContains(c.t, c.ended, s.Parent, "%s ends after its parent", s.Name)
		assert.False(c.t, s.Start.Before(s.Parent.Start), "%s begins before its parent", s.Name)
	}
	assert.NotEmpty(c.t, s.Outcome, s.Name)
	assert.Equal(c.t, s.Error != "", s.ErrorType != "", s.Name)
	seen := map[string]bool{}
	for _, a := range s.Attrs {
		assert.False(c.t, seen[a.Key], "%s has %s twice", s.Name, a.Key)
		seen[a.Key] = true
	}
	c.ended = append(c.ended, s)
}

func (c *collector) Chunk(s *spans.Span, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks[s] = append(c.chunks[s], after)
}

// tree draws the spans, with the times since the first one and what they hold if full.
func (c *collector) tree(full bool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Equal(c.t, len(c.began), len(c.ended), "each span that begins ends")
	var b strings.Builder
	var draw func(parent *spans.Span, indent string)
	draw = func(parent *spans.Span, indent string) {
		for _, s := range c.began {
			if s.Parent != parent {
				continue
			}
			zero := c.began[0].Start
			fmt.Fprintf(&b, "%s%s %v-%v %s", indent, s.Name, s.Start.Sub(zero), s.End.Sub(zero), s.Outcome)
			if s.Error != "" {
				fmt.Fprintf(&b, " (%s: %s)", s.ErrorType, s.Error)
			}
			b.WriteByte('\n')
			if full {
				for _, a := range s.Attrs {
					fmt.Fprintf(&b, "%s    %s\n", indent, a)
				}
			}
			for _, e := range s.Events {
				fmt.Fprintf(&b, "%s  * %v %s", indent, e.Time.Sub(zero), e.Name)
				for _, a := range e.Attrs {
					fmt.Fprintf(&b, " %s", a)
				}
				b.WriteByte('\n')
			}
			draw(s, indent+"  ")
		}
	}
	draw(nil, "")
	return b.String()
}

// find returns the spans of a kind, in the order of their beginnings.
func (c *collector) find(kind spans.Kind) []*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*spans.Span
	for _, s := range c.began {
		if s.Kind == kind {
			found = append(found, s)
		}
	}
	return found
}

// convert makes the spans of a recording.
func convert(t *testing.T, text string, o *spans.Options) (*collector, spans.Times, error) {
	t.Helper()
	rec, err := recording.Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	c := collect(t)
	times, err := spans.Recording(t.Context(), rec, c, o)
	return c, times, err
}

// recorded makes a recording of one run out of events and the milliseconds when they came.
func recorded(lines ...string) string {
	return `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"state":{},"forwardedProps":{}}}` +
		"\n" + strings.Join(lines, "\n") + "\n"
}

func at(ms int, event string) string { return fmt.Sprintf(`{"at":%d,"event":%s}`, ms, event) }

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
)

func user(text string) *messages.Message {
	return &messages.Message{Role: messages.RoleUser, Content: messages.Text(text)}
}
