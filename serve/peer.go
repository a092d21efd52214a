package serve

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/version"
	"github.com/agfold/agfold/state"
)

// peer is the client of a run, which may be older than the protocol (P-VRS-3). What clients up to 0.0.57 do not
// know is taken out by client.Peer.
type peer struct {
	before10 bool // it rejects what came with 1.0
	upTo39   bool // it knows no content parts
}

// peer returns what is known of the client that sent in.
func (h *agentHandler) peer(in *event.RunInput) peer {
	v, declared := in.ProtocolVersion.Get()
	if pinned := h.o.PeerVersion; pinned != "" && version.Valid(pinned) {
		v, declared = pinned, true
	}
	if !declared {
		return peer{before10: true}
	}
	if !version.Valid(v) {
		return peer{} // P-VRS-1
	}
	return peer{before10: version.Compare(v, "1.0") < 0, upTo39: version.Compare(v, "0.0.39") <= 0}
}

// strange returns the warning about a version that is newer than ours, or not one, "" if there is nothing to say (P-VRS-1).
func strange(in *event.RunInput) string {
	v, ok := in.ProtocolVersion.Get()
	switch {
	case !ok:
		return ""
	case !version.Valid(v):
		return fmt.Sprintf("the client says that it speaks version %q, which is not digits and dots", v)
	case version.Compare(v, event.ProtocolVersion) > 0:
		return fmt.Sprintf("the client speaks version %s, which is newer than %s", v, event.ProtocolVersion)
	}
	return ""
}

// downgrade returns ev in a shape that the client knows, and warnings that say what that loses.
func (p peer) downgrade(ev event.Event) (event.Event, []event.Warning) {
	if !p.before10 {
		return ev, nil
	}
	switch ev.Type() {
	case event.TypeRunFinished, event.TypeToolCallResult, event.TypeMessagesSnapshot, event.TypeRunStarted:
	default:
		return ev, nil
	}
	f := event.FrameOfEvent(ev)
	before := f.Value()
	v := before
	var lost []string
	switch f.Type() {
	case event.TypeRunFinished:
		if outcome := v.Get("outcome"); outcome.Get("pendingToolCallIds").Exists() {
			v = v.With("outcome", outcome.Without("pendingToolCallIds")) // the calls without a result are the same
		}
	case event.TypeToolCallResult:
		v = flatContent(v, &lost)
	case event.TypeMessagesSnapshot:
		v = p.flatMessages(v, &lost)
	case event.TypeRunStarted:
		if p.upTo39 {
			v = v.Without("parentRunId")
		}
		if input := v.Get("input"); input.Kind() == state.KindObject {
			v = v.With("input", p.flatMessages(input, &lost))
		}
	}
	if state.Same(v, before) {
		return ev, nil
	}
	g, err := event.FrameOf(v)
	if err != nil {
		return ev, nil // a frame always has its type
	}
	if len(lost) == 0 {
		return g, nil
	}
	return g, []event.Warning{{
		Rule: "P-VRS-3", Type: f.TypeName(),
		Text: "not sent: the client is older than the parts that are not text: " + strings.Join(lost, ", "),
	}}
}

// flatMessages returns v with text for the content of its messages, as far as the client knows no parts there.
func (p peer) flatMessages(v state.Value, lost *[]string) state.Value {
	list := v.Get("messages")
	if list.Kind() != state.KindArray {
		return v
	}
	changed := false
	items := make([]state.Value, 0, list.Len())
	for _, item := range list.Elements() {
		flat := item
		if role, _ := item.Get("role").AsString(); role == "tool" || p.upTo39 {
			flat = flatContent(item, lost)
		}
		changed = changed || !state.Same(flat, item)
		items = append(items, flat)
	}
	if !changed {
		return v
	}
	return v.With("messages", state.Array(items...))
}

// flatContent returns v with the joined texts of its content, if that is a list of parts. It appends the types of the
// others to lost.
func flatContent(v state.Value, lost *[]string) state.Value {
	content := v.Get("content")
	if content.Kind() != state.KindArray {
		return v
	}
	var texts strings.Builder
	for _, part := range content.Elements() {
		kind, _ := part.Get("type").AsString()
		if text, ok := part.Get("text").AsString(); ok && kind == "text" {
			texts.WriteString(text)
		} else {
			*lost = append(*lost, kind)
		}
	}
	return v.With("content", state.String(texts.String()))
}
