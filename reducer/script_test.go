package reducer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// verbs are the words that a script has for the types of events. Each member takes one word of the line,
// a member with a leading colon takes JSON; the last member takes the rest of the line.
var verbs = map[string]struct{ typ, members string }{
	"run":      {"RUN_STARTED", "runId"},
	"done":     {"RUN_FINISHED", "runId"},
	"fail":     {"RUN_ERROR", "message"},
	"text":     {"TEXT_MESSAGE_START", "messageId"},
	"say":      {"TEXT_MESSAGE_CONTENT", "messageId delta"},
	"endtext":  {"TEXT_MESSAGE_END", "messageId"},
	"chunk":    {"TEXT_MESSAGE_CHUNK", "messageId delta"},
	"call":     {"TOOL_CALL_START", "toolCallId toolCallName parentMessageId"},
	"args":     {"TOOL_CALL_ARGS", "toolCallId delta"},
	"endcall":  {"TOOL_CALL_END", "toolCallId"},
	"result":   {"TOOL_CALL_RESULT", "messageId toolCallId content"},
	"span":     {"REASONING_START", "messageId"},
	"endspan":  {"REASONING_END", "messageId"},
	"think":    {"REASONING_MESSAGE_START", "messageId"},
	"thought":  {"REASONING_MESSAGE_CONTENT", "messageId delta"},
	"endthink": {"REASONING_MESSAGE_END", "messageId"},
	"secret":   {"REASONING_ENCRYPTED_VALUE", "subtype entityId encryptedValue"},
	"step":     {"STEP_STARTED", "stepName"},
	"endstep":  {"STEP_FINISHED", "stepName"},
	"sub":      {"SUBAGENT_STARTED", "subagentRunId name"},
	"endsub":   {"SUBAGENT_FINISHED", "subagentRunId"},
	"failsub":  {"SUBAGENT_ERROR", "subagentRunId message"},
	"state":    {"STATE_SNAPSHOT", ":snapshot"},
	"patch":    {"STATE_DELTA", ":delta"},
	"messages": {"MESSAGES_SNAPSHOT", ":messages"},
	"activity": {"ACTIVITY_SNAPSHOT", "messageId activityType :content"},
	"apatch":   {"ACTIVITY_DELTA", "messageId activityType :patch"},
	"custom":   {"CUSTOM", "name"},
	"raw":      {"RAW", ":event"},
	"unknown":  {"SOMETHING_NEW", ""},
}

// fixed are members that a script need not tell.
var fixed = map[string]string{
	"run": `"threadId":"t"`, "done": `"threadId":"t"`, "think": `"role":"reasoning"`, "custom": `"value":1`,
}

// parse reads a script: events divided by " | ", each a verb, an optional @subagentRunId, its members, and
// optionally " + " with a JSON object of more members. A line that begins with { is an event itself, _ is
// the empty string, and what is left out at the end is absent (the id of a run is r then).
func parse(t testing.TB, script string) []event.Event {
	t.Helper()
	var events []event.Event
	for line := range strings.SplitSeq(script, " | ") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !strings.HasPrefix(line, "{") {
			line = translate(t, line)
		}
		f, err := event.NewFrame([]byte(line))
		require.NoError(t, err, line)
		events = append(events, f)
	}
	return events
}

func translate(t testing.TB, line string) string {
	t.Helper()
	line, more, _ := strings.Cut(line, " + ")
	verb, rest, _ := strings.Cut(line, " ")
	v, ok := verbs[verb]
	require.True(t, ok, "no verb %q", verb)
	members := []string{fmt.Sprintf("%q:%q", "type", v.typ)}
	if f := fixed[verb]; f != "" {
		members = append(members, f)
	}
	if strings.HasPrefix(rest, "@") {
		var tag string
		tag, rest, _ = strings.Cut(rest[1:], " ")
		members = append(members, fmt.Sprintf("%q:%q", "subagentRunId", strings.TrimSuffix(tag, "_")))
	}
	if (verb == "run" || verb == "done") && rest == "" {
		rest = "r"
	}
	keys := strings.Fields(v.members)
	for i, key := range keys {
		if rest == "" {
			break
		}
		word := rest
		if i < len(keys)-1 {
			word, rest, _ = strings.Cut(rest, " ")
		}
		switch {
		case key[0] == ':':
			members = append(members, fmt.Sprintf("%q:%s", key[1:], word))
		case word == "_":
			members = append(members, fmt.Sprintf("%q:%q", key, ""))
		default:
			members = append(members, fmt.Sprintf("%q:\"%s\"", key, strings.ReplaceAll(word, `"`, `\"`)))
		}
	}
	if more = strings.TrimSpace(more); more != "" {
		members = append(members, more[1:len(more)-1])
	}
	return "{" + strings.Join(members, ",") + "}"
}

// played is all that a script came to.
type played struct {
	r          *reducer.Reducer
	th         *reducer.Thread
	deliveries []reducer.Delivery
	warnings   []event.Warning
	err        error
}

// play folds a script to its end; it is not an error here if the last run continues.
func play(t testing.TB, script string, o *reducer.Options) played {
	t.Helper()
	return playEvents(parse(t, script), o)
}

func playEvents(events []event.Event, o *reducer.Options) played {
	var p played
	var opts reducer.Options
	if o != nil {
		opts = *o
	}
	opts.OnWarning = func(w event.Warning) { p.warnings = append(p.warnings, w) }
	r := reducer.New(&opts)
	p.r = r
	for ev := range event.Upgrade(reducer.Events(events...)) {
		delivered, err := deliver(r, ev)
		for _, s := range delivered {
			s.Warnings = append([]event.Warning(nil), s.Warnings...)
			p.deliveries = append(p.deliveries, s)
		}
		if err != nil {
			p.err = err
			break
		}
	}
	p.th = r.Thread()
	return p
}

func (p played) types() string {
	var names []string
	for _, s := range p.deliveries {
		if s.Event != nil {
			names = append(names, s.Event.Type().String())
		}
	}
	return strings.Join(names, " ")
}

// rule returns the rule of the error, "" if there is none.
func rule(err error) string {
	var v *reducer.Violation
	var m *messages.MalformedError
	switch {
	case errors.As(err, &v):
		return v.Rule
	case errors.As(err, &m):
		return m.Rule
	}
	return ""
}

// show writes messages in one line: role, id, @owner, what it holds, divided by " | ".
func show(th *reducer.Thread) string {
	var lines []string
	for _, m := range th.Messages.All() {
		lines = append(lines, showMessage(m))
	}
	return strings.Join(lines, " | ")
}

func showMessage(m *messages.Message) string {
	s := string(m.Role) + " " + m.ID
	if id, ok := m.Owner.RunID(); ok {
		s += " @" + id
	}
	if name, ok := m.Name.Get(); ok {
		s += " name=" + name
	}
	if m.Role == messages.RoleTool {
		s += " ->" + m.ToolCallID
	}
	if m.Role == messages.RoleActivity {
		s += " " + m.ActivityType + " " + m.Activity.String()
	}
	if m.Content.Exists() {
		text, _ := m.Content.MarshalJSON()
		s += " " + string(text)
	}
	for _, c := range m.ToolCalls.All() {
		s += fmt.Sprintf(" [%s %s(%s) %s", c.ID, c.Name, c.Arguments, c.Status)
		s += showRest(c.EncryptedValue, c.Metadata) + "]"
	}
	return s + showRest(m.EncryptedValue, m.Metadata)
}

func showRest(secret messages.Opt[string], meta messages.Metadata) string {
	var s string
	if v, ok := secret.Get(); ok {
		s += " secret=" + v
	}
	if meta.Exists() {
		s += " meta=" + meta.Value().String()
	}
	return s
}

// showWarnings writes warnings as rule and path, divided by commas.
func showWarnings(ws []event.Warning) string {
	var lines []string
	for _, w := range ws {
		lines = append(lines, strings.TrimSpace(w.Rule+" "+w.Path))
	}
	return strings.Join(lines, ", ")
}

// row is one sentence of a rule: a script and what must come of it.
type row struct {
	name     string
	script   string
	messages string // what show writes; "*" to look at something else
	state    string // the state's JSON, "" to look at something else
	rule     string // of the error, "" if there must be none
	id       string // that the error names, "" to look at something else
	reason   string // a part of the error's reason
	warnings string // what showWarnings writes
	options  *reducer.Options
	check    func(t *testing.T, p played)
}

func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, r.options)
			if r.rule == "" {
				require.NoError(t, p.err)
			} else {
				require.Error(t, p.err)
				assert.Equal(t, r.rule, rule(p.err), p.err.Error())
				assert.ErrorAs(t, p.err, new(*reducer.Violation))
				assert.Contains(t, p.err.Error(), r.reason)
				assert.Equal(t, reducer.Rejected, p.th.Status())
				if r.id != "" {
					var v *reducer.Violation
					require.ErrorAs(t, p.err, &v)
					assert.Equal(t, r.id, v.ID)
				}
			}
			if r.messages != "*" {
				assert.Equal(t, r.messages, show(p.th))
			}
			if r.state != "" {
				assert.Equal(t, r.state, p.th.State.String())
			}
			assert.Equal(t, r.warnings, showWarnings(p.warnings))
			if r.check != nil {
				r.check(t, p)
			}
		})
	}
}

// deliver applies an event and returns all that it delivered.
func deliver(r *reducer.Reducer, ev event.Event) ([]reducer.Delivery, error) {
	var all []reducer.Delivery
	for d, err := range r.Deliver(ev) {
		if err != nil {
			return all, err
		}
		d.Warnings = slices.Clone(d.Warnings)
		all = append(all, d)
	}
	return all, nil
}
