package client_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/stretchr/testify/assert"
)

// historyFaults returns what model providers refuse in the messages of a request. It reads the JSON, as a server does, and
// knows nothing of the client. The rules are those of the providers' own reference pages:
//
//   - an assistant message with tool calls is followed by tool messages that respond to each call, and by nothing else
//     before that (chat completions; the messages API wants all results in the next message)
//   - a call has one result, and its id is unique in its message (messages API)
//   - a tool message responds to a call of the assistant message before it (both)
//   - arguments are JSON (chat completions), an object (messages API, function calling of other providers)
//
// Calls in open may lack a result: the agent that is resumed answers them. Results of calls that are not in the history at
// all are not judged: they are meant for an agent that holds the history itself.
func historyFaults(body []byte, open map[string]bool) []string {
	type call struct {
		ID       string
		Function struct{ Name, Arguments string }
	}
	var in struct {
		Messages []struct {
			ID, Role, ToolCallID string
			ToolCalls            []call
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return []string{err.Error()}
	}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	held := map[string]bool{}
	for _, m := range in.Messages {
		for _, c := range m.ToolCalls {
			held[c.ID] = true
		}
	}
	for i := 0; i < len(in.Messages); i++ {
		m := in.Messages[i]
		if m.Role == "tool" {
			if held[m.ToolCallID] {
				fault("the result %s does not follow its call %s", m.ID, m.ToolCallID)
			}
			continue
		}
		results := map[string]int{}
		for i+1 < len(in.Messages) && in.Messages[i+1].Role == "tool" {
			id := in.Messages[i+1].ToolCallID
			if held[id] && !slices.ContainsFunc(m.ToolCalls, func(c call) bool { return c.ID == id }) {
				break
			}
			i++
			results[id]++
		}
		seen := map[string]bool{}
		for _, c := range m.ToolCalls {
			if seen[c.ID] {
				fault("the message %s has two calls %s", m.ID, c.ID)
			}
			seen[c.ID] = true
			if n := results[c.ID]; n > 1 || n == 0 && !open[c.ID] {
				fault("the call %s of %s has %d results", c.ID, m.ID, n)
			}
			var args map[string]any
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
				fault("the arguments of %s are %q", c.ID, c.Function.Arguments)
			}
		}
	}
	return faults
}

func TestHistoryFaults(t *testing.T) {
	const call = `{"id":"a","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`
	one, two := `{"id":"t1","role":"tool","toolCallId":"c1","content":""}`, `{"id":"t2","role":"tool","toolCallId":"c2","content":""}`
	const user = `{"id":"u","role":"user","content":"hi"}`
	for _, r := range []struct {
		name  string
		body  []string
		fault string
	}{
		{"in order", []string{user, call, two, one, user}, ""},
		{"no result", []string{call, one}, "the call c2 of a has 0 results"},
		{"two results", []string{call, one, two, one}, "the call c1 of a has 2 results"},
		{"a result after something else", []string{call, one, user, two}, "the call c2 of a has 0 results; the result t2 does not follow its call c2"},
		{"a result before its call", []string{one, call, two}, "the result t1 does not follow its call c1; the call c1 of a has 0 results"},
		{"a result of no call", []string{user, `{"id":"t","role":"tool","toolCallId":"x","content":""}`}, ""},
		{"arguments that broke off", []string{strings.Replace(call, `"{}"`, `"{"`, 1), one, two}, `the arguments of c1 are "{"`},
		{"no arguments", []string{strings.Replace(call, `"{}"`, `""`, 1), one, two}, `the arguments of c1 are ""`},
		{"arguments that are not an object", []string{strings.Replace(call, `"{}"`, `"null"`, 1), one, two}, `the arguments of c1 are "null"`},
		{"one call twice", []string{strings.Replace(call, `"c2"`, `"c1"`, 1), one}, "the message a has two calls c1"},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := historyFaults([]byte(`{"messages":[`+strings.Join(r.body, ",")+`]}`), nil)
			assert.Equal(t, r.fault, strings.Join(got, "; "))
		})
	}
	assert.Empty(t, historyFaults([]byte(`{"messages":[`+call+`,`+one+`]}`), map[string]bool{"c2": true}), "one that the resumed agent answers")
}

// bodyOf returns the body of a request with that input.
func bodyOf(t testing.TB, in event.RunInput) []byte {
	t.Helper()
	body, err := json.Marshal(&in)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sentAs shows the messages of an input with their calls and results.
func sentAs(in event.RunInput) []string {
	var lines []string
	for _, m := range in.Messages {
		line := fmt.Sprintf("%s %s", m.Role, m.Text())
		if m.Role == messages.RoleTool {
			line = fmt.Sprintf("tool %s %s", m.ToolCallID, m.Text())
			if e, ok := m.Error.Get(); ok && e == m.Text() {
				line += " !"
			}
		}
		for _, c := range m.ToolCalls.All() {
			line += fmt.Sprintf(" [%s %s%s]", c.ID, c.Name, c.Arguments)
		}
		lines = append(lines, line)
	}
	return lines
}

// restated is a snapshot of messages.
func restated(ms ...string) string {
	return `{"type":"MESSAGES_SNAPSHOT","messages":[` + strings.Join(ms, ",") + `]}`
}

// callJSON is an assistant message with a call, and resultJSON a result of a call.
func callJSON(id, name string) string {
	return `{"id":"m` + id + `","role":"assistant","toolCalls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}]}`
}

func resultJSON(id, call string) string {
	return `{"id":"` + id + `","role":"tool","toolCallId":"` + call + `","content":"ok"}`
}
