package spans

import (
	"log/slog"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// beginText begins a text or a reasoning message.
func (st *stream) beginText(kind Kind, name, id string, owner messages.Owner) {
	s := st.begin(kind, name, st.scope(owner), st.now(), str("agfold.message.id", id))
	if s == nil {
		return
	}
	if st.texts == nil {
		st.texts = make(map[textKey]*piece)
	}
	st.texts[textKey{kind, id}] = &piece{span: s}
}

// append takes a piece of a text or of arguments.
func (st *stream) append(p *piece, delta string) {
	if delta == "" {
		return
	}
	now := st.now()
	if !st.seen.spoken {
		st.seen.spoken = true
		after := max(0, now.Sub(st.run.Start))
		st.run.set(slog.Float64("gen_ai.response.time_to_first_chunk", after.Seconds()))
		st.sink.Chunk(st.run, after)
	}
	if p == nil || p.span == nil {
		return // there were too many
	}
	if p.chunks > 0 {
		st.sink.Chunk(p.span, max(0, now.Sub(p.last)))
	}
	p.last = now
	p.chunks++
	p.bytes += int64(len(delta))
	if room := st.o.ContentBytes - len(p.text); room > 0 {
		p.text = append(p.text, delta[:min(room, len(delta))]...)
	}
}

// endText ends a text or a reasoning message.
func (st *stream) endText(key textKey, outcome string) {
	if p := st.texts[key]; p != nil {
		delete(st.texts, key)
		st.endPiece(p, outcome)
	}
}

// endPiece ends the span of what arrived in pieces.
func (st *stream) endPiece(p *piece, outcome string) {
	if p.span == nil || !p.span.End.IsZero() {
		return
	}
	p.span.set(slog.Int64("agfold.chunks", p.chunks), slog.Int64("agfold.bytes", p.bytes))
	if st.o.ContentBytes > 0 {
		key := "agfold.message.content"
		if p.span.Kind == ToolCall {
			key = "gen_ai.tool.call.arguments"
		}
		p.span.set(slog.String(key, clip(string(p.text), st.o.ContentBytes)))
	}
	p.text = nil
	st.finish(p.span, outcome, st.now())
}

// toolAttrs are those of a call and of the tool at work.
func toolAttrs(name, id string) []slog.Attr {
	return []slog.Attr{str("gen_ai.tool.name", name), str("gen_ai.tool.call.id", id)}
}

// beginCall begins a tool call, or one that was there again (P-TOL-2).
func (st *stream) beginCall(e *event.ToolCallStart) {
	c := &call{name: clip(e.ToolCallName, maxAttr), owner: e.Owner(), scope: st.scope(e.Owner())}
	if st.in != nil {
		for _, t := range st.in.Tools {
			c.offered = c.offered || t.Name == e.ToolCallName
		}
	}
	attrs := append(toolAttrs(e.ToolCallName, e.ToolCallID), slog.Bool("agfold.tool.offered", c.offered))
	attrs = opt(attrs, "agfold.message.id", e.ParentMessageID)
	if c.span = st.begin(ToolCall, named("tool_call", e.ToolCallName), c.scope, st.now(), attrs...); c.span == nil {
		return
	}
	if st.calls == nil {
		st.calls = make(map[string]*call)
	}
	if old := st.calls[e.ToolCallID]; old != nil {
		st.endPiece(&old.piece, "cut")
	}
	st.calls[e.ToolCallID] = c
}

// endCall takes the end of a call's arguments.
func (st *stream) endCall(id string) {
	if c := st.calls[id]; c != nil && c.closed.IsZero() {
		c.closed = st.now()
		st.endPiece(&c.piece, "complete")
	}
}

// work returns the span of the tool at work on a call. Only what comes later tells that it works on the agent's side: a result, or a
// subagent. So the span begins in the past, when the arguments were complete.
func (st *stream) work(c *call, id string) *Span {
	if c.tool == nil {
		start := c.closed
		if start.IsZero() {
			start = st.now()
		}
		scope := c.scope
		if !scope.End.IsZero() { // the step that called it is over: it is at work in the present one
			scope = st.scope(c.owner)
		}
		c.tool = st.begin(Tool, named("execute_tool", c.name), scope, start,
			append([]slog.Attr{slog.String("gen_ai.operation.name", "execute_tool"), slog.String("agfold.tool.by", "agent")}, toolAttrs(c.name, id)...)...)
	}
	return c.tool
}

// result takes the result of a tool that the agent's side has called.
func (st *stream) result(e *event.ToolCallResult) {
	c := st.calls[e.ToolCallID]
	if c == nil { // of a call of an earlier run, or one that was not recorded
		st.note(st.run, "agfold.tool_result", str("gen_ai.tool.call.id", e.ToolCallID))
		return
	}
	s := st.work(c, e.ToolCallID)
	if s == nil || !s.End.IsZero() {
		return
	}
	answerAttrs(s, e.Content, st.o.ContentBytes)
	st.finish(s, "answered", st.now())
}

// answerAttrs adds what a tool answered to its span.
func answerAttrs(s *Span, answer messages.Content, max int) {
	text := answer.Text()
	s.set(slog.Int64("agfold.bytes", int64(len(text))))
	if max > 0 {
		s.set(slog.String("gen_ai.tool.call.result", clip(text, max)))
	}
}

func (st *stream) beginStep(name string, owner messages.Owner) {
	s := st.begin(Step, named("step", name), st.scope(owner), st.now(), str("agfold.step.name", name))
	if s == nil {
		return
	}
	if st.steps == nil {
		st.steps = make(map[messages.Owner][]*Span)
	}
	st.steps[owner] = append(st.steps[owner], s)
}

// endStep ends the last step with the name. Steps of one owner may overlap.
func (st *stream) endStep(name string, owner messages.Owner) {
	steps := st.steps[owner]
	name = clip(name, maxAttr)
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Attr("agfold.step.name").String() == name {
			st.finish(steps[i], "finished", st.now())
			st.steps[owner] = append(steps[:i:i], steps[i+1:]...)
			return
		}
	}
}

func (st *stream) beginSubagent(e *event.SubagentStarted) {
	parent := st.scope(e.ParentSubagentRunID)
	var attrs []slog.Attr
	if id, ok := e.ParentToolCallID.Get(); ok {
		attrs = append(attrs, str("gen_ai.tool.call.id", id))
		if c := st.calls[id]; c != nil {
			if s := st.work(c, id); s != nil && s.End.IsZero() {
				parent = s
			}
		}
	}
	st.addAgent(e.Owner(), e.Name, parent, append(attrs, slog.Bool("agfold.subagent.announced", true))...)
}

// addAgent begins the span of a subagent.
func (st *stream) addAgent(owner messages.Owner, name string, parent *Span, attrs ...slog.Attr) *Span {
	id, _ := owner.RunID()
	all := []slog.Attr{slog.String("gen_ai.operation.name", "invoke_agent"), str("agfold.subagent.run_id", id)}
	if name != "" {
		all = append(all, str("gen_ai.agent.name", name))
	}
	s := st.begin(Subagent, named("invoke_agent", name), parent, st.now(), append(all, attrs...)...)
	if st.agents == nil {
		st.agents = make(map[messages.Owner]*Span)
	}
	st.agents[owner] = s // nil if there are too many: the thread remembers each of them too
	return s
}

// endSubagent ends a subagent, with its outcome or its error.
func (st *stream) endSubagent(owner messages.Owner, outcome *event.SubagentOutcome, err *reducer.AgentError) {
	s := st.agents[owner]
	if s == nil || !s.End.IsZero() {
		return
	}
	word := reducer.SubagentSucceeded
	switch {
	case err != nil:
		word = reducer.SubagentFailed
		s.fail(err.Message, codeOf(err.Code))
	case outcome.Type == event.SubagentSuspended:
		word = reducer.SubagentSuspended
	}
	for steps := st.steps[owner]; len(steps) > 0; steps = steps[:len(steps)-1] {
		st.finish(steps[len(steps)-1], "unfinished", st.now())
	}
	delete(st.steps, owner)
	st.finish(s, word.String(), st.now())
}
