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

// edited returns the thread after a client has changed it between runs.
func (g *teller) edited(t *testing.T, th *reducer.Thread) *reducer.Thread {
	for range g.n(3) {
		items := th.Messages.Slice()
		switch g.n(7) {
		case 0: // answers to pending calls, and messages of its own
			var added []*messages.Message
			if in := g.input(t, th); in != nil {
				held := map[messages.Key]bool{}
				for _, m := range slices.Concat(items, in.Messages) {
					if !held[m.Key()] && !slices.Contains(items, m) {
						added = append(added, m)
					}
					held[m.Key()] = true
				}
			}
			th = th.WithMessages(added...)
			continue
		case 1: // as an application may, whose thread is none that a reducer made
			if len(items) > 0 {
				m := *items[g.n(len(items))]
				m.Content, m.Streaming = messages.Text("edited"), g.chance(20)
				c := *th
				c.Messages = c.Messages.Set(slices.IndexFunc(items, func(o *messages.Message) bool { return o.Key() == m.Key() }), &m)
				th = &c
			}
			continue
		case 2: // another state
			c := *th
			c.State = state.Int(int64(g.n(9)))
			c.Revision++
			th = &c
			continue
		case 3:
			items = items[:g.n(len(items)+1)]
		case 4:
			if len(items) > 0 {
				at := g.n(len(items))
				items = slices.Delete(items, at, at+1)
			}
		case 5:
			if len(items) > 0 {
				m := *items[g.n(len(items))]
				for i, tc := range m.ToolCalls.All() {
					c := *tc
					c.Status, c.Arguments = messages.ToolCallStatus(g.n(4)), "{}"
					m.ToolCalls = m.ToolCalls.Set(i, &c)
				}
				items[slices.IndexFunc(items, func(o *messages.Message) bool { return o.Key() == m.Key() })] = &m
			}
		default:
			m := messages.UserText("between")
			m.ID = g.of("b1", "b2", "m1")
			if !slices.ContainsFunc(items, func(o *messages.Message) bool { return o.Key() == m.Key() }) {
				items = slices.Insert(items, g.n(len(items)+1), m)
			}
		}
		th = th.ReplaceMessages(items...)
	}
	return th
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
				if g.chance(50) {
					next.Next(&o)
					resume = resumed(th, options(1, i+1, in))
				} else { // any changes, or none
					o.Thread = g.edited(t, th)
					p := options(1, i+1, in)
					p.Thread = o.Thread
					next.Next(&o)
					resume = reducer.New(&p)
				}
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

// A change at the front of a long thread, and a thread that holds a message twice, are taken as by a new reducer.
func TestNextOfAnotherThread(t *testing.T) {
	var held []*messages.Message
	for i := range 200 {
		m := messages.UserText("hi")
		m.ID = fmt.Sprint("m", i)
		held = append(held, m)
	}
	for name, msgs := range map[string][]*messages.Message{
		"the first message is gone":  held[1:],
		"the last messages are gone": held[:190],
		"one message is there twice": append(slices.Clip(held), held[5]),
	} {
		t.Run(name, func(t *testing.T) {
			r := reducer.New(&reducer.Options{Input: &event.RunInput{Messages: held}})
			th := r.End(nil).ReplaceMessages(msgs...)
			r.Next(&reducer.Options{Thread: th})
			fresh := reducer.New(&reducer.Options{Thread: th})
			for _, r := range []*reducer.Reducer{r, fresh} {
				require.NoError(t, r.Apply(&event.RunStarted{ThreadID: "t", RunID: "r"}))
				require.NoError(t, r.Apply(&event.TextMessageStart{MessageID: "m0"}))
			}
			assert.Equal(t, whatIs(fresh.Thread()), whatIs(r.Thread()))
			assert.True(t, r.Holds(messages.Key{Kind: messages.KindText, ID: "m7"}))
			assert.False(t, r.Holds(messages.Key{Kind: messages.KindText, ID: "m200"}))
		})
	}
}
