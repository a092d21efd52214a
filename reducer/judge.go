package reducer

import (
	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// A Verifier judges the events of one stream as a [Reducer] does, without folding them: by enforcement, expansion and
// verification (P-PIPE-1). Servers use it to check what they send. It remembers the ids of the current run and nothing
// else, so its memory does not depend on the thread. One goroutine at a time may use it.
//
// It knows only what the stream says. So it does not warn of what needs the thread, such as a patch that does not apply.
type Verifier struct {
	intake   intake
	verifier verifier
	err      error
}

// NewVerifier returns a verifier for one stream. It uses Strict, Ordinal and OnWarning of the options; nil means defaults.
func NewVerifier(o *Options) *Verifier {
	if o == nil {
		o = new(Options)
	}
	v := new(Verifier)
	v.intake = intake{
		decoder: event.NewDecoder(&event.DecodeOptions{Strict: o.Strict}), expander: new(chunks.Expander),
		ordinal: o.Ordinal, onWarning: o.OnWarning,
	}
	v.verifier.in = &v.intake
	return v
}

// Verify judges the next event of the stream, a Frame or one made in Go. An error means that the event must not be sent
// here, and it is final: each further call returns it again. It is a *Violation or a *messages.MalformedError.
func (v *Verifier) Verify(ev event.Event) error {
	if v.err != nil {
		return v.err
	}
	v.intake.take(ev, v.verifier.hasEnded())
	for _, typed := range v.intake.expanded {
		v.intake.typ = typed.Type()
		if err := v.verifier.verify(typed); err != nil {
			v.err = err
			return err
		}
		v.verifier.attribute(typed)
	}
	v.err = v.intake.fault
	return v.err
}

// Running reports whether the stream may not end yet: no run has begun, or one has begun and not ended (P-RUN-1).
func (v *Verifier) Running() bool { return !v.verifier.hasEnded() }

// attribute takes note of the owners that a draft would tell the verifier (P-VER-5).
func (v *verifier) attribute(ev event.Event) {
	switch e := ev.(type) {
	case *event.RunStarted:
		if e.Input != nil {
			for _, m := range e.Input.Messages {
				v.attributeMessage(m, v.ownNew)
			}
		}
	case *event.MessagesSnapshot:
		last := make(map[messages.Key]int, len(e.Messages))
		for i, m := range e.Messages {
			last[m.Key()] = i
		}
		for i, m := range e.Messages {
			if last[m.Key()] == i { // D-8
				v.attributeMessage(m, v.own)
			}
		}
	case *event.ToolCallResult:
		v.own(toolResults, e.MessageID, e.SubagentRunID)
	case *event.ActivitySnapshot:
		if e.Replace.Or(true) {
			v.own(activities, e.MessageID, e.SubagentRunID)
		} else {
			v.ownNew(activities, e.MessageID, e.SubagentRunID)
		}
	}
}

func (v *verifier) attributeMessage(m *messages.Message, own func(namespace, string, messages.Owner)) {
	own(namespaceOf[m.Kind()], m.ID, m.Owner)
	for _, tc := range m.ToolCalls.All() {
		own(toolCalls, tc.ID, m.Owner)
	}
}
