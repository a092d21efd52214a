package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/agfold/agfold/event"
)

// source makes choices: from a fuzzer's bytes while there are any, else from a generator.
type source struct {
	data []byte
	rand *rand.Rand
}

// n returns a number from 0 to below.
func (s *source) n(below int) int {
	if s.rand != nil {
		return s.rand.IntN(below)
	}
	if len(s.data) == 0 {
		return 0
	}
	b := int(s.data[0])
	s.data = s.data[1:]
	return b % below
}

func (s *source) chance(percent int) bool { return s.n(100) < percent }

func (s *source) of(words ...string) string { return words[s.n(len(words))] }

// teller tells streams of events as JSON lines. It knows few ids, so that they collide, and keeps account of
// what is open, so that it may stay within the protocol as long as it wants to.
type teller struct {
	*source
	wild int // percent of events told without regard to what is open
	// only, unless "all", is the one thing that is told of those that the official client takes differently.
	only string

	lines  []string
	runs   int
	active bool
	open   map[string][]string // verb that opened → ids
	told   int
}

// The things that the official client takes differently; see deviations.
const (
	sharedIDs    = "one id for messages of several kinds"
	partsText    = "text for a message of parts"
	resultIDs    = "a result's id again"
	inputState   = "state in RUN_STARTED.input"
	repeats      = "an id twice in a snapshot"
	noObject     = "an activity that is not an object"
	enumStrings  = "an unknown role"
	nullRoles    = "a null role"
	thinking     = "THINKING_* events"
	laxPatches   = "patches that only a lax library applies"
	reusedAgents = "a subagent's id in several runs" // no deviation
)

func newTeller(s *source) *teller {
	return &teller{source: s, only: "all", open: map[string][]string{}}
}

// may reports whether the thing may be told.
func (g *teller) may(thing string) bool { return g.only == "all" || g.only == thing }

func (g *teller) emit(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

// members returns what any event may carry besides: a tag, metadata, seldom a rawEvent.
func (g *teller) members(tag string) string {
	var s string
	if tag != "" {
		s += `,"subagentRunId":"` + tag + `"`
	}
	if g.chance(15) {
		s += `,"metadata":` + g.of(`{"a":1}`, `{"b":null}`, `{"a":{"c":2}}`, `{}`, `{"a":"x","b":2}`)
	}
	if g.chance(3) {
		s += `,"rawEvent":{"p":1}`
	}
	return s
}

func (g *teller) tag() string {
	if g.chance(80) {
		return ""
	}
	return g.of("s1", "s2")
}

// id returns one of few ids; each kind has its own unless they may be shared.
func (g *teller) id(kind string) string {
	if g.may(sharedIDs) && g.chance(50) {
		kind = ""
	}
	return kind + strconv.Itoa(1+g.n(3))
}

// text returns a piece of text, now and then with half of a surrogate pair.
func (g *teller) text() string {
	return g.of("a", "bc ", "", `é`, `\n`, "x", `\ud83d`, `\ude00`, `{\"k\":1}`, "long enough to make a buffer grow more than once")
}

// patch returns a patch, in order or not.
func (g *teller) patch() string {
	if g.may(laxPatches) && g.chance(20) {
		return g.of(`[{"op":"add","path":"/list/01","value":5}]`, `[{"op":"remove","path":""}]`,
			`[{"op":"remove","path":"/list/-1"}]`, `[{"op":"replace","path":"/list/00","value":5}]`,
			`[{"op":"add","path":"/list/9","value":5}]`, `[{"op":"replace","path":"/nope","value":5}]`,
			`[{"op":"test","path":"/a","value":1.0}]`, `[{"op":"add","path":"/list/-","value":1},{"op":"remove","path":"/list/-"}]`)
	}
	return patches[g.n(len(patches))]
}

var patches = []string{
	`[{"op":"add","path":"/a","value":1}]`, `[{"op":"replace","path":"/a","value":{"b":[1,2]}}]`,
	`[{"op":"remove","path":"/a"}]`, `[{"op":"add","path":"/list","value":[]},{"op":"add","path":"/list/-","value":3}]`,
	`[{"op":"test","path":"/a","value":1},{"op":"add","path":"/n","value":null}]`, `[]`,
	`[{"op":"move","from":"/a","path":"/m"}]`, `[{"op":"copy","from":"/list","path":"/c"}]`,
}

// document returns a message as MESSAGES_SNAPSHOT and inputs hold it.
func (g *teller) document() string {
	tag := g.members(g.tag())
	if i := strings.Index(tag, `,"rawEvent"`); i >= 0 {
		tag = tag[:i]
	}
	switch g.n(7) {
	case 0, 1:
		calls := ""
		for range g.n(3) {
			calls += fmt.Sprintf(`,{"id":%q,"type":"function","function":{"name":"f","arguments":"{}"}}`, g.id("c"))
		}
		content := `,"content":"held"`
		if g.chance(30) {
			content = ""
		}
		if calls != "" {
			content += `,"toolCalls":[` + calls[1:] + `]`
		}
		return fmt.Sprintf(`{"id":%q,"role":"assistant"%s%s}`, g.id("m"), content, tag)
	case 2:
		return fmt.Sprintf(`{"id":%q,"role":"tool","toolCallId":%q,"content":"held"%s}`, g.id("t"), g.id("c"), tag)
	case 3:
		return fmt.Sprintf(`{"id":%q,"role":"reasoning","content":"held"%s}`, g.id("r"), tag)
	case 4:
		return fmt.Sprintf(`{"id":%q,"role":"activity","activityType":%q,"content":{"a":1}%s}`, g.id("a"), g.of("plan", "map"), tag)
	case 5:
		if g.may(partsText) && g.chance(50) {
			return fmt.Sprintf(`{"id":%q,"role":"user","content":[{"type":"text","text":"p"},{"type":"image","source":{"type":"url","value":"u"}}]%s}`, g.id("m"), tag)
		}
		return fmt.Sprintf(`{"id":%q,"role":"user","content":"asks"%s}`, g.id("m"), tag)
	}
	return fmt.Sprintf(`{"id":%q,"role":"system","content":"rules"%s}`, g.id("m"), tag)
}

func (g *teller) documents() string {
	var docs []string
	seen := map[string]bool{}
	for range g.n(5) {
		d := g.document()
		if id := strings.SplitN(d, `"`, 5)[3]; seen[id] && !g.may(repeats) {
			continue
		} else {
			seen[id] = true
		}
		docs = append(docs, d)
	}
	return "[" + strings.Join(docs, ",") + "]"
}

func (g *teller) begin() {
	g.runs++
	g.active = true
	input := ""
	if g.chance(30) {
		st := ""
		if g.may(inputState) {
			st = `,"state":` + g.of(`{"a":0}`, "null", `{}`)
		}
		input = `,"input":{"threadId":"t","runId":"x","messages":` + g.documents() + st + `,"tools":[],"context":[]}`
	}
	g.emit(`{"type":"RUN_STARTED","threadId":"t","runId":"run-%d"%s%s}`, g.runs, input, g.members(""))
}

// finish closes what is open and ends the run.
func (g *teller) finish() {
	if !g.chance(g.wild) {
		for _, verb := range []string{"TEXT_MESSAGE", "TOOL_CALL", "REASONING_MESSAGE", "REASONING", "STEP", "SUBAGENT"} {
			for _, id := range g.open[verb] {
				g.end(verb, id, "")
			}
		}
	}
	g.open = map[string][]string{}
	g.active = false
	switch g.n(6) {
	case 0:
		g.emit(`{"type":"RUN_ERROR","message":"it broke","code":"E"%s}`, g.members(""))
	case 1:
		g.emit(`{"type":"RUN_FINISHED","threadId":"t","runId":"run-%d","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]}%s}`, g.runs, g.members(""))
	case 2:
		g.emit(`{"type":"RUN_FINISHED","threadId":"t","runId":"run-%d","outcome":{"type":"cancelled"}%s}`, g.runs, g.members(""))
	default:
		outcome := g.of("", "", `,"outcome":{"type":"success"}`, `,"outcome":{"type":"success","pendingToolCallIds":["c9"]}`)
		g.emit(`{"type":"RUN_FINISHED","threadId":"t","runId":"run-%d","result":{"ok":true}%s%s}`, g.runs, outcome, g.members(""))
		if g.chance(10) {
			g.emit(`{"type":"RUN_ERROR","message":"late"}`)
		}
	}
}

// end tells the end of something open. Steps and subagents keep their owner in the id.
func (g *teller) end(verb, id, tag string) {
	member := map[string]string{"TOOL_CALL": "toolCallId", "STEP": "stepName", "SUBAGENT": "subagentRunId"}[verb]
	if member == "" {
		member = "messageId"
	}
	typ := verb + "_END"
	if verb == "STEP" || verb == "SUBAGENT" {
		typ = verb + "_FINISHED"
		tag = ""
		if verb == "STEP" {
			id, tag, _ = strings.Cut(id, "@")
		}
		if verb == "SUBAGENT" && g.chance(20) {
			g.emit(`{"type":"SUBAGENT_ERROR","subagentRunId":%q,"message":"no"%s}`, id, g.members(""))
			return
		}
	}
	g.emit(`{"type":%q,%q:%q%s}`, typ, member, id, g.members(tag))
}

// pick returns what is open under the verb, or whatever id comes along.
func (g *teller) pick(verb, kind string) (string, bool) {
	if ids := g.open[verb]; len(ids) > 0 && !g.chance(g.wild) {
		return ids[g.n(len(ids))], true
	}
	return g.id(kind), g.chance(g.wild)
}

func (g *teller) opened(verb, id string) bool {
	for _, o := range g.open[verb] {
		if o == id {
			return true
		}
	}
	return false
}

// start notes that something is opened, and says whether it may be.
func (g *teller) start(verb, id string) bool {
	if g.opened(verb, id) {
		return g.chance(g.wild)
	}
	g.open[verb] = append(g.open[verb], id)
	return true
}

func (g *teller) close(verb, id string) {
	for i, o := range g.open[verb] {
		if o == id {
			g.open[verb] = append(g.open[verb][:i:i], g.open[verb][i+1:]...)
			return
		}
	}
}

var bracketed = []struct{ verb, kind, member string }{
	{"TEXT_MESSAGE", "m", "messageId"}, {"TOOL_CALL", "c", "toolCallId"},
	{"REASONING_MESSAGE", "r", "messageId"}, {"REASONING", "r", "messageId"},
}

// next tells one event, or none.
func (g *teller) next() {
	if !g.active && !g.chance(g.wild) {
		g.begin()
		return
	}
	switch k := g.n(40); {
	case k < 8: // open something
		b := bracketed[g.n(4)]
		id := g.id(b.kind)
		if !g.start(b.verb, id) {
			return
		}
		more := ""
		switch b.verb {
		case "TEXT_MESSAGE":
			more = g.of("", "", `,"role":"user"`, `,"role":"developer","name":"N"`)
			if g.may(enumStrings) && g.chance(20) {
				more = `,"role":"narrator"`
			}
			if g.may(nullRoles) && g.chance(20) {
				more = `,"role":null`
			}
		case "TOOL_CALL":
			more = `,"toolCallName":` + g.of(`"f"`, `"g"`) + g.of("", "", `,"parentMessageId":"`+g.id("m")+`"`, `,"parentMessageId":"`+g.id("m")+`"`, `,"parentMessageId":""`)
		case "REASONING_MESSAGE":
			more = `,"role":"reasoning"`
		}
		tag := ""
		if g.chance(g.wild) {
			tag = g.tag()
		}
		g.emit(`{"type":"%s_START",%q:%q%s%s}`, b.verb, b.member, id, more, g.members(tag))
	case k < 20: // continue with something
		b := bracketed[g.n(3)]
		id, ok := g.pick(b.verb, b.kind)
		if !ok {
			return
		}
		typ := b.verb + "_CONTENT"
		if b.verb == "TOOL_CALL" {
			typ = "TOOL_CALL_ARGS"
		}
		tag := ""
		if g.chance(g.wild) {
			tag = g.tag()
		}
		g.emit(`{"type":%q,%q:%q,"delta":"%s"%s}`, typ, b.member, id, g.text(), g.members(tag))
	case k < 25: // end something
		b := bracketed[g.n(4)]
		id, ok := g.pick(b.verb, b.kind)
		if !ok {
			return
		}
		g.close(b.verb, id)
		g.end(b.verb, id, "")
	case k < 28: // chunks
		if !g.chance(g.wild+20) || g.open["TEXT_MESSAGE"] != nil && !g.chance(g.wild) {
			return
		}
		switch g.n(3) {
		case 0:
			g.emit(`{"type":"TEXT_MESSAGE_CHUNK","messageId":%q,"delta":"%s"%s}`, g.id("k"), g.text(), g.members(g.tag()))
		case 1:
			g.emit(`{"type":"TOOL_CALL_CHUNK","toolCallId":%q,"toolCallName":"f","delta":"%s"%s}`, g.id("kc"), g.text(), g.members(g.tag()))
		default:
			g.emit(`{"type":"REASONING_MESSAGE_CHUNK","messageId":%q,"delta":"%s"%s}`, g.id("kr"), g.text(), g.members(g.tag()))
		}
	case k < 30:
		g.told++
		id := g.id("t")
		if !g.may(resultIDs) {
			id = "t" + strconv.Itoa(3+g.told)
		}
		g.emit(`{"type":"TOOL_CALL_RESULT","messageId":%q,"toolCallId":%q,"content":"%s"%s}`, id, g.id("c"), g.of("ok", "no", ""), g.members(g.tag()))
	case k < 31:
		g.emit(`{"type":"STATE_SNAPSHOT","snapshot":%s%s}`, g.of(`{"a":1}`, `{"a":{"b":1},"list":[1]}`, "null", "3", `[]`), g.members(g.tag()))
	case k < 33:
		g.emit(`{"type":"STATE_DELTA","delta":%s%s}`, g.patch(), g.members(g.tag()))
	case k < 34:
		meta := g.of("", "", "", `,"metadata":{"@ag-ui/client":{"authoritativeActivityTypes":null}}`,
			`,"metadata":{"@ag-ui/client":{"authoritativeActivityTypes":["plan"]}}`,
			`,"metadata":{"@ag-ui/client":{"authoritativeActivityTypes":7}}`)
		g.emit(`{"type":"MESSAGES_SNAPSHOT","messages":%s%s}`, g.documents(), meta)
	case k < 35:
		g.emit(`{"type":"ACTIVITY_SNAPSHOT","messageId":%q,"activityType":%q,"content":%s%s%s}`, g.id("a"), g.of("plan", "map"),
			g.of(`{"a":1}`, `{"list":[1,2]}`, `{}`), g.of("", "", `,"replace":false`, `,"replace":true`), g.members(g.tag()))
	case k < 36:
		patch := g.patch()
		if g.may(noObject) && g.chance(30) {
			patch = g.of(`[{"op":"replace","path":"","value":[1]}]`, `[{"op":"add","path":"","value":null}]`, `[{"op":"replace","path":"","value":{"k":1}}]`)
		}
		tag := ""
		if g.chance(g.wild) {
			tag = g.tag()
		}
		g.emit(`{"type":"ACTIVITY_DELTA","messageId":%q,"activityType":%q,"patch":%s%s}`, g.id("a"), g.of("plan", "map"), patch, g.members(tag))
	case k < 37:
		tag := g.tag()
		name := g.of("s", "p") + "@" + tag
		if g.opened("STEP", name) {
			g.close("STEP", name)
			g.end("STEP", name, "")
		} else if g.start("STEP", name) {
			g.emit(`{"type":"STEP_STARTED","stepName":%q%s}`, name[:1], g.members(tag))
		}
	case k < 38:
		id := g.of("s1", "s2", "s3") + "-" + strconv.Itoa(g.runs)
		if g.may(reusedAgents) && g.chance(50) {
			id = g.of("s1", "s2")
		}
		if g.opened("SUBAGENT", id) {
			g.close("SUBAGENT", id)
			g.end("SUBAGENT", id, "")
		} else if g.open["ended "+id] == nil || g.chance(g.wild) {
			g.open["ended "+id] = []string{}
			g.start("SUBAGENT", id)
			g.emit(`{"type":"SUBAGENT_STARTED","subagentRunId":%q,"name":"n"%s}`, id, g.members(""))
		}
	case k < 39:
		subtype, id := "message", g.id(g.of("m", "r", "t"))
		if g.chance(40) {
			subtype, id = "tool-call", g.id("c")
		}
		tag := ""
		if g.chance(g.wild) {
			tag = g.tag()
		}
		g.emit(`{"type":"REASONING_ENCRYPTED_VALUE","subtype":%q,"entityId":%q,"encryptedValue":"v"%s}`, subtype, id, g.members(tag))
	default:
		switch g.n(6) {
		case 0:
			g.emit(`{"type":"CUSTOM","name":"n","value":null%s}`, g.members(g.tag()))
		case 1:
			g.emit(`{"type":"RAW","event":{"x":1}%s}`, g.members(g.tag()))
		case 2:
			g.emit(`{"type":"SOMETHING_NEW","x":1}`)
		case 3:
			if !g.may(thinking) {
				return
			}
			g.emit(`{"type":%q,"delta":"x"}`, g.of("THINKING_START", "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END", "THINKING_END"))
		default:
			if g.active && g.runs < 4 {
				g.finish()
			}
		}
	}
}

// tell tells a stream of about n events.
func (g *teller) tell(n int) []string {
	for range n {
		if g.rand == nil && len(g.data) == 0 {
			break
		}
		g.next()
	}
	if g.active && g.chance(70) {
		g.finish()
	}
	return g.lines
}

// frames reads lines as events; the teller's lines are frames all.
func frames(lines []string) []event.Event {
	events := make([]event.Event, 0, len(lines))
	for _, line := range lines {
		f, err := event.NewFrame([]byte(line))
		if err != nil {
			panic(line + ": " + err.Error())
		}
		events = append(events, f)
	}
	return events
}
