package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resumed returns a new reducer for a thread after its client did what an input tells.
func resumed(th *reducer.Thread, o reducer.Options) *reducer.Reducer {
	if in := o.Input; in != nil {
		held := map[messages.Key]bool{}
		for _, m := range th.Messages.All() {
			held[m.Key()] = true
		}
		var added []*messages.Message
		for _, m := range in.Messages {
			if !held[m.Key()] {
				held[m.Key()] = true
				added = append(added, m)
			}
		}
		th = th.WithMessages(added...)
		if in.State.Exists() && in.State.Kind() != state.KindNull {
			c := *th
			if !c.State.Equal(in.State) {
				c.Revision++
			}
			c.State = in.State
			th = &c
		}
	}
	o.Thread = th
	return reducer.New(&o)
}

// whatIs returns all that can be seen of a thread.
func whatIs(th *reducer.Thread) string {
	return fmt.Sprint(string(th.AppendJSON(nil)), show(th), showStreaming(th), showTree(th), th.PendingToolCallIDs(), th.Interrupts, th.Revision, th.Err())
}

// input returns what a client may send with its next run: some of the thread, answers to its pending calls, messages of
// its own.
func (g *teller) input(t *testing.T, th *reducer.Thread) *event.RunInput {
	if g.chance(20) {
		return nil
	}
	st := g.of("null", `{}`, `{"a":1}`, `{"client":true}`, `[]`)
	if g.chance(40) {
		st = th.State.String()
	}
	v, err := state.Parse([]byte(`{"threadId":"t","runId":"in","messages":` + g.documents() + `,"state":` + st +
		`,"tools":[{"name":"f","description":"d"}],"context":[],"forwardedProps":{},"resume":` + g.of(`[]`, `[{"interruptId":"i1","status":"resolved"}]`) + `}`))
	require.NoError(t, err)
	in, _, err := event.DecodeRunInput(v, nil)
	require.NoError(t, err)
	for _, id := range th.PendingToolCallIDs() {
		if g.chance(60) {
			in.Messages = slices.Insert(in.Messages, g.n(len(in.Messages)+1), answer(g.of("t1", "t2", "t9"), id))
		}
	}
	if g.chance(50) {
		in.Messages = append(th.Messages.Slice(), in.Messages...)
	}
	return in
}

func TestNextIsResume(t *testing.T) {
	var streams, changed int
	for seed := range uint64(400) {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 3))})
		g.wild = []int{0, 0, 1, 3}[seed%4]
		events := upgraded(frames(g.tell(20 + g.n(150))))
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var warned [2]strings.Builder
			options := func(i, ordinal int, in *event.RunInput) reducer.Options {
				return reducer.Options{Input: in, Ordinal: ordinal, OnWarning: func(w event.Warning) { fmt.Fprintln(&warned[i], w) }}
			}
			o := options(0, 0, nil)
			next := reducer.New(&o)
			o = options(1, 0, nil)
			resume := reducer.New(&o)
			same := func(i int) {
				t.Helper()
				require.Equal(t, whatIs(resume.Thread()), whatIs(next.Thread()), "event %d", i)
				require.Equal(t, warned[1].String(), warned[0].String())
			}
			for i := 0; i < len(events); i++ {
				delivered, err := deliver(next, events[i])
				delivered2, err2 := deliver(resume, events[i])
				require.Equal(t, delivered2, delivered)
				require.Equal(t, fmt.Sprint(err2), fmt.Sprint(err))
				if g.chance(50) {
					same(i)
				}
				if over := err != nil || ended(events[:i+1]); !over && !g.chance(1) || over && g.chance(20) {
					continue
				}
				for i+1 < len(events) && events[i+1].Type() != event.TypeRunStarted && !g.chance(2) {
					i++
				}
				var cause error
				if g.chance(50) {
					cause = fmt.Errorf("cut at %d", i)
				}
				next.End(cause)
				th := resume.End(cause)
				same(i)
				before := whatIs(th)
				in := g.input(t, th)
				o := options(0, i+1, in)
				next.Next(&o)
				resume = resumed(th, options(1, i+1, in))
				same(i)
				require.NoError(t, next.Err())
				require.Equal(t, before, whatIs(th), "the thread before stays")
				streams++
				if next.Revision() > th.Revision {
					changed++
				}
			}
			next.End(nil)
			resume.End(nil)
			same(len(events))
			checkThread(t, next.Thread())
		})
	}
	t.Log(streams, "streams continued,", changed, "of them after a change")
	assert.Greater(t, changed, 200)
}
