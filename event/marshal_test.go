package event_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// What is marshaled alone looks as it does inside its event, and never shows the names of Go fields.
func TestValuesMarshalAlone(t *testing.T) {
	for want, v := range map[string]any{
		`{"description":"d","value":"v"}`:                          event.Context{Description: "d", Value: "v"},
		`{"type":"suspended","interruptIds":["i"]}`:                event.SubagentOutcome{Type: event.SubagentSuspended, InterruptIDs: []string{"i"}},
		`{"interruptId":"i","status":"resolved"}`:                  event.ResumeEntry{InterruptID: "i", Status: event.ResumeResolved},
		`{"name":"n","description":"d"}`:                           event.Tool{Name: "n", Description: "d"},
		`{"id":"i","reason":"r"}`:                                  event.Interrupt{ID: "i", Reason: "r"},
		`{"type":"success"}`:                                       event.Outcome{Type: event.OutcomeSuccess},
		`{"inputTokens":1}`:                                        event.TokenUsage{InputTokens: messages.Some[int64](1)},
		`{"type":"url","value":"u"}`:                               messages.Source{Type: messages.SourceURL, Value: "u"},
		`{"type":"text","text":"t"}`:                               messages.TextPart("t"),
		`{"type":"CUSTOM","name":"n","value":null}`:                &event.Custom{Name: "n", Value: state.Null()},
		`{"type":"CUSTOM","name":"v","value":null}`:                event.Custom{Name: "v", Value: state.Null()},
		`{"rule":"P-1","ordinal":2,"type":"","path":"","text":""}`: event.Warning{Rule: "P-1", Ordinal: 2},
		`[{"id":"m","role":"user","content":"t"}]`:                 []messages.Message{{ID: "m", Role: messages.RoleUser, Content: messages.Text("t")}},
	} {
		got, err := json.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got))
	}
}
