package protobuf_test

import (
	"math/rand/v2"
	"strconv"

	"github.com/agfold/agfold/state"
)

// teller makes random events as JSON values, each in order by the rules of AG-UI 1.0. What the wire cannot carry is not among
// them, and neither are keys that look like array indexes, which JavaScript sorts to the front.
type teller struct{ *rand.Rand }

func newTeller(seed uint64) teller { return teller{rand.New(rand.NewPCG(seed, 1))} }

func (g teller) chance(percent int) bool { return g.IntN(100) < percent }

func (g teller) of(words ...string) state.Value { return state.String(words[g.IntN(len(words))]) }

func (g teller) text() state.Value {
	s := ""
	for range g.IntN(6) {
		s += []string{"a", "Zeichen ", "\u00e9", "\U0001f600", "\n", "\"", "\\", "\u0000", "long enough to need a length of two bytes, since it goes on and on and on: ", "\uFEFF", "1"}[g.IntN(11)]
	}
	return state.String(s)
}

func (g teller) id() state.Value {
	return g.of("", "m1", "m2", "call-1", "Ω", "a rather long identifier")
}

func (g teller) number() state.Value {
	switch g.IntN(5) {
	case 0:
		return state.Int(g.Int64N(1<<53) - 1<<52)
	case 1:
		v, _ := state.Parse([]byte(strconv.FormatFloat(g.NormFloat64()*[]float64{1, 1e-9, 1e30, 1e300}[g.IntN(4)], 'g', -1, 64)))
		return v
	}
	return state.Int(int64(g.IntN(300) - 100))
}

func (g teller) any(depth int) state.Value {
	switch n := g.IntN(7 - min(depth, 2)); {
	case n == 0:
		return state.Null()
	case n == 1:
		return state.Bool(g.chance(50))
	case n == 2:
		return g.number()
	case n <= 4 && depth < 4:
		return g.text()
	case n == 5 && depth < 4:
		var items []state.Value
		for range g.IntN(4) {
			items = append(items, g.any(depth+1))
		}
		return state.Array(items...)
	case depth < 4:
		return g.open(depth + 1)
	}
	return g.text()
}

// something is any value but null, which an optional member must not be.
func (g teller) something() state.Value {
	for {
		if v := g.any(0); v.Kind() != state.KindNull {
			return v
		}
	}
}

func (g teller) open(depth int) state.Value {
	var members []state.Member
	for range g.IntN(4) {
		key, _ := g.of("a", "b", "", "a key with spaces", "x-1", "Ω", "type").AsString()
		members = append(members, state.Member{Key: key, Value: g.any(depth)})
	}
	return state.Object(members...)
}

// builder collects members.
type builder struct {
	g       teller
	members []state.Member
}

func (b *builder) must(name string, v state.Value) *builder {
	b.members = append(b.members, state.Member{Key: name, Value: v})
	return b
}

// may adds the member half of the time.
func (b *builder) may(name string, make func() state.Value) *builder {
	if b.g.chance(50) {
		b.must(name, make())
	}
	return b
}

func (b *builder) object() state.Value { return state.Object(b.members...) }

func (g teller) build() *builder { return &builder{g: g} }

func (g teller) list(most int, make func() state.Value) func() state.Value {
	return func() state.Value {
		var items []state.Value
		for range g.IntN(most + 1) {
			items = append(items, make())
		}
		return state.Array(items...)
	}
}

// some is a list that is not empty: the wire does not tell an empty one from none.
func (g teller) some(most int, make func() state.Value) func() state.Value {
	return func() state.Value {
		for {
			if v := g.list(most, make)(); v.Len() > 0 {
				return v
			}
		}
	}
}

func (g teller) metadata() state.Value { return g.open(0) }

func (g teller) count() state.Value { return state.Int(g.Int64N(1 << uint(1+g.IntN(52)))) }

func (g teller) part() state.Value {
	if g.chance(40) {
		return g.build().must("type", state.String("text")).must("text", g.text()).may("id", g.id).may("metadata", g.something).object()
	}
	source := g.build()
	switch g.IntN(3) {
	case 0:
		source.must("type", state.String("data")).must("value", g.text()).must("mimeType", g.id())
	case 1:
		source.must("type", state.String("url")).must("value", g.text()).may("mimeType", g.id)
	default:
		source.must("type", state.String("file")).must("value", g.text()).may("provider", g.id).may("mimeType", g.id)
	}
	return g.build().must("type", g.of("image", "audio", "video", "document")).must("source", source.object()).may("id", g.id).may("metadata", g.something).object()
}

// content is a text or parts.
func (g teller) content() state.Value {
	if g.chance(50) {
		return g.text()
	}
	return g.list(3, g.part)()
}

func (g teller) call() state.Value {
	return g.build().must("id", g.id()).must("type", state.String("function")).
		must("function", g.build().must("name", g.id()).must("arguments", g.text()).object()).
		may("encryptedValue", g.text).may("metadata", g.metadata).object()
}

func (g teller) message() state.Value {
	b := g.build().must("id", g.id()).may("subagentRunId", g.id).may("metadata", g.metadata)
	switch g.IntN(6) {
	case 0:
		b.must("role", g.of("developer", "system")).must("content", g.text()).may("name", g.id).may("encryptedValue", g.text)
	case 1:
		b.must("role", state.String("assistant")).may("content", g.text).may("name", g.id).may("toolCalls", g.some(2, g.call)).may("encryptedValue", g.text)
	case 2:
		b.must("role", state.String("user")).must("content", g.content()).may("name", g.id).may("encryptedValue", g.text)
	case 3:
		b.must("role", state.String("tool")).must("content", g.content()).must("toolCallId", g.id()).may("error", g.text).may("encryptedValue", g.text)
	case 4:
		b.must("role", state.String("activity")).must("activityType", g.id()).must("content", g.open(0))
	default:
		b.must("role", state.String("reasoning")).must("content", g.text()).may("encryptedValue", g.text)
	}
	return b.object()
}

func (g teller) pointer() state.Value { return g.of("", "/a", "/a/0", "/b~1c/-", "/Ω") }

func (g teller) op() state.Value {
	b := g.build()
	switch g.IntN(3) {
	case 0:
		b.must("op", g.of("add", "replace", "test")).must("path", g.pointer()).must("value", g.any(0))
	case 1:
		b.must("op", state.String("remove")).must("path", g.pointer())
	default:
		b.must("op", g.of("move", "copy")).must("from", g.pointer()).must("path", g.pointer())
	}
	return b.object()
}

func (g teller) usage() state.Value {
	return g.build().may("provider", g.id).may("model", g.id).may("inputTokens", g.count).may("outputTokens", g.count).
		may("totalTokens", g.count).may("reasoningTokens", g.count).may("cachedInputTokens", g.count).may("cacheWriteInputTokens", g.count).object()
}

func (g teller) interrupt() state.Value {
	return g.build().must("id", g.id()).must("reason", g.id()).may("message", g.text).may("toolCallId", g.id).
		may("responseSchema", g.metadata).may("expiresAt", g.id).may("subagentRunId", g.id).may("metadata", g.metadata).object()
}

func (g teller) outcome() state.Value {
	switch g.IntN(3) {
	case 0:
		return g.build().must("type", state.String("success")).may("pendingToolCallIds", g.some(3, g.id)).object()
	case 1:
		return g.build().must("type", state.String("interrupt")).must("interrupts", g.some(2, g.interrupt)()).object()
	}
	return g.build().must("type", state.String("cancelled")).object()
}

func (g teller) suspension() state.Value {
	if g.chance(50) {
		return g.build().must("type", state.String("success")).object()
	}
	return g.build().must("type", state.String("suspended")).may("interruptIds", g.some(2, g.id)).object()
}

func (g teller) tool() state.Value {
	return g.build().must("name", g.id()).must("description", g.text()).may("parameters", g.something).may("metadata", g.metadata).object()
}

func (g teller) hint() state.Value {
	return g.build().must("description", g.text()).must("value", g.text()).object()
}

func (g teller) resume() state.Value {
	return g.build().must("interruptId", g.id()).must("status", g.of("resolved", "cancelled")).may("payload", g.something).may("metadata", g.metadata).object()
}

func (g teller) input() state.Value {
	return g.build().must("threadId", g.id()).must("runId", g.id()).may("parentRunId", g.id).may("state", g.something).
		must("messages", g.list(2, g.message)()).must("tools", g.list(2, g.tool)()).must("context", g.list(2, g.hint)()).
		may("forwardedProps", g.something).must("resume", g.list(2, g.resume)()).may("protocolVersion", g.id).object()
}

// event is a random event of the type.
func (g teller) event(typ string) state.Value {
	b := g.build().must("type", state.String(typ))
	own := func() { b.may("subagentRunId", g.id) }
	role := func() state.Value { return g.of("developer", "system", "assistant", "user") }
	switch typ {
	case "TEXT_MESSAGE_START":
		b.must("messageId", g.id()).may("role", role).may("name", g.id)
		own()
	case "TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT":
		b.must("messageId", g.id()).must("delta", g.text())
		own()
	case "TEXT_MESSAGE_END", "REASONING_START", "REASONING_END", "REASONING_MESSAGE_END":
		b.must("messageId", g.id())
		own()
	case "TEXT_MESSAGE_CHUNK":
		b.may("messageId", g.id).may("role", role).may("delta", g.text).may("name", g.id)
		own()
	case "TOOL_CALL_START":
		b.must("toolCallId", g.id()).must("toolCallName", g.id()).may("parentMessageId", g.id)
		own()
	case "TOOL_CALL_ARGS":
		b.must("toolCallId", g.id()).must("delta", g.text())
		own()
	case "TOOL_CALL_END":
		b.must("toolCallId", g.id())
		own()
	case "TOOL_CALL_CHUNK":
		b.may("toolCallId", g.id).may("toolCallName", g.id).may("parentMessageId", g.id).may("delta", g.text)
		own()
	case "TOOL_CALL_RESULT":
		b.must("messageId", g.id()).must("toolCallId", g.id()).must("content", g.content()).may("role", func() state.Value { return state.String("tool") })
		own()
	case "STATE_SNAPSHOT":
		b.must("snapshot", g.any(0))
		own()
	case "STATE_DELTA":
		b.must("delta", g.list(3, g.op)())
		own()
	case "MESSAGES_SNAPSHOT":
		b.must("messages", g.list(4, g.message)())
	case "ACTIVITY_SNAPSHOT":
		b.must("messageId", g.id()).must("activityType", g.id()).must("content", g.open(0)).may("replace", func() state.Value { return state.Bool(g.chance(50)) })
		own()
	case "ACTIVITY_DELTA":
		b.must("messageId", g.id()).must("activityType", g.id()).must("patch", g.list(3, g.op)())
		own()
	case "RAW":
		b.must("event", g.any(0)).may("source", g.id)
		own()
	case "CUSTOM":
		b.must("name", g.id()).must("value", g.any(0))
		own()
	case "RUN_STARTED":
		b.must("threadId", g.id()).must("runId", g.id()).may("protocolVersion", func() state.Value { return state.String("1.0") }).may("parentRunId", g.id).may("input", g.input)
	case "RUN_FINISHED":
		b.must("threadId", g.id()).must("runId", g.id()).may("result", g.something).may("outcome", g.outcome).may("usage", g.some(2, g.usage))
	case "RUN_ERROR":
		b.must("message", g.text()).may("code", g.id).may("usage", g.some(2, g.usage))
	case "STEP_STARTED", "STEP_FINISHED":
		b.must("stepName", g.id())
		own()
	case "REASONING_MESSAGE_START":
		b.must("messageId", g.id()).must("role", state.String("reasoning"))
		own()
	case "REASONING_MESSAGE_CHUNK":
		b.may("messageId", g.id).may("delta", g.text)
		own()
	case "REASONING_ENCRYPTED_VALUE":
		b.must("subtype", g.of("tool-call", "message")).must("entityId", g.id()).must("encryptedValue", g.text())
		own()
	case "SUBAGENT_STARTED":
		b.must("subagentRunId", g.id()).must("name", g.id()).may("description", g.text).may("parentSubagentRunId", g.id).may("parentToolCallId", g.id).may("parentMessageId", g.id)
	case "SUBAGENT_FINISHED":
		b.must("subagentRunId", g.id()).may("result", g.something).may("outcome", g.suspension)
	case "SUBAGENT_ERROR":
		b.must("subagentRunId", g.id()).must("message", g.text()).may("code", g.id)
	default:
		panic(typ)
	}
	if g.chance(60) {
		return b.object()
	}
	return b.may("timestamp", func() state.Value { return state.Int(g.Int64N(1<<53) - 1<<52) }).may("rawEvent", g.something).may("metadata", g.metadata).object()
}
