package transcript

import (
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// View draws one thread in one style. It is immutable and safe for concurrent use.
type View struct {
	Style
	thread  *reducer.Thread
	results map[string][]*messages.Message // the tool messages that are drawn with the call that they answer
	nested  map[*messages.Message]bool     // the same
	calls   map[string]callInfo
	cut     map[messages.Key]bool // the messages that broke off
	places  map[messages.Owner]place
}

// callInfo is what a view knows about a call before it draws it.
type callInfo struct {
	name     term.Text
	call     *messages.ToolCall // nil if only a Writer has seen it
	answered bool
	pending  bool // the client is to answer it
}

// place is the place of a subagent in the tree.
type place struct {
	name      term.Text
	depth     int  // from 1; the parent agent has 0
	suspended bool // it keeps its place when it comes back (P-SUB-1)
}

// maxGutter bounds the gutter of messages of deeply nested subagents.
const maxGutter = 6

func (s Style) emptyView() *View {
	return &View{
		Style: s, results: map[string][]*messages.Message{}, nested: map[*messages.Message]bool{},
		calls: map[string]callInfo{}, cut: map[messages.Key]bool{}, places: map[messages.Owner]place{},
	}
}

// View returns a view of a thread. It costs a pass over the thread's messages and subagents.
func (s Style) View(t *reducer.Thread) *View {
	v := s.emptyView()
	v.thread = t
	var holder *messages.Message // of the calls that a tool message right here may answer
	held := map[string]bool{}
	for _, m := range t.Messages.All() {
		if m.Role == messages.RoleTool {
			info, known := v.calls[m.ToolCallID]
			if info.answered = true; known {
				v.calls[m.ToolCallID] = info
			}
			if holder != nil && held[m.ToolCallID] {
				v.results[m.ToolCallID] = append(v.results[m.ToolCallID], m)
				v.nested[m] = true
			}
			continue
		}
		holder = nil
		if m.ToolCalls.Len() > 0 {
			holder = m
			clear(held)
		}
		for _, c := range m.ToolCalls.All() {
			if _, known := v.calls[c.ID]; !known { // if several share an id, the first counts (P-TOL-2)
				v.calls[c.ID] = callInfo{name: name(c.Name), call: c}
				held[c.ID] = true
			}
		}
	}
	for _, id := range t.PendingToolCallIDs() {
		info := v.calls[id]
		info.pending = true
		v.calls[id] = info
	}
	v.learn(t)
	return v
}

// learn adds all subagents of a thread.
func (v *View) learn(t *reducer.Thread) {
	for depth, n := range t.Subagents.Walk() {
		v.places[n.Owner] = place{subagentName(n.Name, n.Owner), min(depth+1, maxGutter), n.Status == reducer.SubagentSuspended}
	}
}

// subagentName draws the name of a subagent.
func subagentName(s string, id messages.Owner) term.Text {
	if s == "" {
		return name(id.String())
	}
	return name(s)
}

// place returns the place of an owner. A subagent that was not announced is under the parent agent.
func (v *View) place(o messages.Owner) place {
	if pl, ok := v.places[o]; ok || o.IsParent() {
		return pl
	}
	return place{name: name(o.String()), depth: 1}
}

// Title draws one line that names the thread.
func (v *View) Title() term.Text {
	t := v.thread
	_, ink := Sign(t.Status())
	return term.Join(dot, v.paint(term.Bold, term.Lit("thread ").Plus(idOf(t.ID))), Count(t.Messages.Len(), "message"),
		Count(t.Runs.Len(), "run"), v.paint(ink, term.Line(t.Status().String()))).Plus(newLine).Fold(v.width())
}

func idOf(id string) term.Text {
	if id == "" {
		return term.Lit("(no id)")
	}
	return name(id)
}

// Sections draws the sections below the messages, each under a title: subagents, state, interrupts and runs. Empty
// sections are left out.
func (v *View) Sections() []term.Text {
	var sections []term.Text
	for _, section := range []term.Text{v.Subagents(), v.State(), v.Interrupts(), v.Runs()} {
		if !section.Empty() {
			sections = append(sections, section)
		}
	}
	return sections
}

// Subagents draws the thread's subagent tree under a title. It draws nothing if there are none.
func (v *View) Subagents() term.Text {
	if v.thread.Subagents.Len() == 0 {
		return term.Text{}
	}
	return v.section(term.Lit("subagents"), v.Style.Subagents(v.thread.Subagents))
}

// State draws the thread's state under a title. It draws nothing if the state is {} or absent.
func (v *View) State() term.Text {
	s := v.thread.State
	if !s.Exists() || s.Kind() == state.KindObject && s.Len() == 0 {
		return term.Text{}
	}
	return v.section(term.Lit("state"), v.Style.State(s))
}

// Interrupts draws under a title the interrupts that the next run must answer. It draws nothing if there are none.
func (v *View) Interrupts() term.Text {
	var all term.Builder
	for _, in := range v.thread.Interrupts {
		all.Add(v.Interrupt(in))
	}
	if all.Len() == 0 {
		return term.Text{}
	}
	return v.section(term.Lit("interrupts to answer"), all.Text())
}

// Runs draws under a title how each run ended. It draws nothing if there was no run.
func (v *View) Runs() term.Text {
	if v.thread.Runs.Len() == 0 {
		return term.Text{}
	}
	p := v.page()
	for _, run := range v.thread.Runs.All() {
		v.run(p, run)
	}
	if usage := v.thread.Usage(); v.thread.Runs.Len() > 1 && len(usage) > 0 {
		p.line(term.Lit("all runs"))
		p.deeper(tab, func() { p.usage(usage) })
	}
	return v.section(term.Lit("runs"), p.b.Text())
}

func (v *View) section(title, body term.Text) term.Text {
	return v.Rule(title).Plus(newLine, body)
}

// callName draws the call with an id.
func (v *View) callName(id string) term.Text {
	if info := v.calls[id]; !info.name.Empty() {
		return info.name.Plus(term.Lit(" ("), name(id), term.Lit(")"))
	}
	return name(id)
}

// namesInterrupt reports whether a CUSTOM event names an interrupt, as LangGraph's on_interrupt does.
func namesInterrupt(e *event.Custom) bool {
	return strings.Contains(strings.ToLower(e.Name), "interrupt")
}
