package client

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/version"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Peer returns a middleware for an agent that speaks no newer version than peer, such as "0.0.57": it reduces the exchange
// to what such an agent knows (P-VRS-2). Nothing is invented, and no outcome, id or order changes. Warnings say what is
// lost; those about the input come with the first event.
//
//   - below 1.0: the input says no protocolVersion (P-INP-1).
//   - up to 0.0.57: messages are sent without subagentRunId. SUBAGENT_* events are dropped, and what subagents
//     produced is the parent's.
//   - up to 0.0.39: content parts are sent as their text, an assistant message without content with an empty
//     one, and no parentRunId.
//
// What older agents send is converted even without Peer. If peer is not numbers and dots, every run returns an error.
func Peer(peer string) Middleware {
	if !version.Valid(peer) {
		return unusableMiddleware(fmt.Errorf("peer version %q is not digits and dots", peer))
	}
	atMost := func(v string) bool { return version.Compare(peer, v) <= 0 }
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			var warnings []event.Warning
			if version.Compare(peer, "1.0") < 0 {
				in.ProtocolVersion = messages.Opt[string]{}
			}
			if atMost("0.0.57") {
				in.Messages = downgraded(in.Messages, withoutOwner)
			}
			if atMost("0.0.39") {
				in.ParentRunID = messages.Opt[string]{}
				in.Messages, warnings = flattened(in.Messages)
			}
			events := next.Run(ctx, in)
			if atMost("0.0.57") {
				events = mapped(events, func() func(event.Event) event.Event { return new(flattener).flatten })
			}
			return withWarnings(warnings, events)
		})
	}
}

// downgraded returns the messages, each as convert returns it, without changing any; ms itself if convert
// changes none.
func downgraded(ms []*messages.Message, convert func(int, *messages.Message) *messages.Message) []*messages.Message {
	out := ms
	for i, m := range ms {
		if m == nil {
			continue // enforcement reports it
		}
		if n := convert(i, m); n != m {
			if &out[0] == &ms[0] {
				out = slices.Clone(ms)
			}
			out[i] = n
		}
	}
	return out
}

func withoutOwner(_ int, m *messages.Message) *messages.Message {
	if m.Owner.IsParent() {
		return m
	}
	n := *m
	n.Owner = messages.Owner{}
	return &n
}

// flattened returns the messages with text for content, and a warning for each message that lost parts.
func flattened(ms []*messages.Message) ([]*messages.Message, []event.Warning) {
	var warnings []event.Warning
	out := downgraded(ms, func(i int, m *messages.Message) *messages.Message {
		n := *m
		switch {
		case m.Content.IsParts():
			content, lost := flatten(m.Content.Parts())
			n.Content = content
			if len(lost) > 0 {
				warnings = append(warnings, event.Warning{
					Rule: "P-VRS-2", Type: "RunAgentInput", Path: fmt.Sprintf("/messages/%d/content", i),
					Text: fmt.Sprintf("not sent: the peer cannot receive the parts of message %q that are not text: %s", m.ID, strings.Join(lost, ", ")),
				})
			}
		case m.Role == messages.RoleAssistant && !m.Content.Exists():
			n.Content = messages.Text("")
		default:
			return m
		}
		return &n
	})
	return out, warnings
}

// flatten returns the joined texts of the parts, and the types of the other parts, which are lost.
func flatten(parts []messages.Part) (messages.Content, []string) {
	var texts strings.Builder
	var lost []string
	for _, p := range parts {
		if p.Type == messages.PartText {
			texts.WriteString(p.Text)
		} else {
			lost = append(lost, string(p.Type))
		}
	}
	return messages.Text(texts.String()), lost
}

// flattener takes the subagents out of one stream.
type flattener struct{ warned bool }

const tag = "subagentRunId"

// flatten returns ev without what a peer up to 0.0.57 does not know. It looks only where the protocol has a subagentRunId,
// not into open values.
func (p *flattener) flatten(ev event.Event) event.Event {
	f, isFrame := ev.(event.Frame)
	if !isFrame {
		f = event.FrameOfEvent(ev)
	}
	switch f.Type() {
	case event.TypeSubagentStarted, event.TypeSubagentFinished, event.TypeSubagentError:
		return dropped(f, event.Warning{
			Rule: "P-VRS-2", Type: f.TypeName(), Path: text(f.Value(), tag),
			Text: "dropping " + f.TypeName() + ": the peer is pinned to a version without subagents",
		})
	}
	if !bytes.Contains(f.Data(), []byte(tag)) {
		return ev
	}
	v := f.Value()
	flat, n := untagged(v)
	switch f.Type() {
	case event.TypeMessagesSnapshot:
		flat = untaggedList(flat, "messages", &n)
	case event.TypeRunStarted:
		if input := flat.Get("input"); input.Kind() == state.KindObject {
			flat = flat.With("input", untaggedList(input, "messages", &n))
		}
	case event.TypeRunFinished:
		if outcome := flat.Get("outcome"); outcome.Kind() == state.KindObject {
			flat = flat.With("outcome", untaggedList(outcome, "interrupts", &n))
		}
	}
	if n == 0 {
		return ev
	}
	g, err := event.FrameOf(flat)
	if err != nil {
		return ev // a frame always has its type
	}
	g = g.WithWarnings(f.Warnings()...)
	if !p.warned {
		p.warned = true
		g = g.WithWarnings(event.Warning{
			Rule: "P-VRS-2", Type: f.TypeName(), Path: "/" + tag,
			Text: "removed, here and in the rest of the stream: the peer is pinned to a version without subagents",
		})
	}
	return g
}

// untagged returns v without its tag, and how many it had.
func untagged(v state.Value) (state.Value, int) {
	if v.Kind() != state.KindObject || !v.Get(tag).Exists() {
		return v, 0
	}
	return v.Without(tag), 1
}

// untaggedList returns v with the elements of the array key untagged, and adds their number to n.
func untaggedList(v state.Value, key string, n *int) state.Value {
	list := v.Get(key)
	if list.Kind() != state.KindArray {
		return v
	}
	items := make([]state.Value, 0, list.Len())
	before := *n
	for _, item := range list.Elements() {
		item, tags := untagged(item)
		*n += tags
		items = append(items, item)
	}
	if *n == before {
		return v
	}
	return v.With(key, state.Array(items...))
}
