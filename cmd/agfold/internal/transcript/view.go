package transcript

import (
	"bufio"
	"io"
	"strings"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// View draws one thread in one style. It is immutable and safe for concurrent use.
type View struct {
	Style
	thread  *reducer.Thread
	results map[string][]*messages.Message // tool messages by the call that they answer
	calls   map[string]bool                // the calls that the thread holds
	pending map[string]bool                // the calls that its client is to answer
	places  map[messages.Owner]place
}

// place is where in the tree a subagent stands.
type place struct {
	name  string
	depth int // from 1; the parent agent has 0
}

// maxGutter bounds the gutter of what deep subagents say.
const maxGutter = 6

// View returns a view of a thread. It costs a pass over the thread's messages and subagents.
func (s Style) View(t *reducer.Thread) *View {
	v := &View{
		Style: s, thread: t,
		results: map[string][]*messages.Message{},
		calls:   map[string]bool{}, pending: map[string]bool{},
		places: map[messages.Owner]place{},
	}
	for _, m := range t.Messages.All() {
		if m.Role == messages.RoleTool {
			v.results[m.ToolCallID] = append(v.results[m.ToolCallID], m)
		}
		for _, c := range m.ToolCalls.All() {
			v.calls[c.ID] = true
		}
	}
	for _, id := range t.PendingToolCallIDs() {
		v.pending[id] = true
	}
	for depth, n := range t.Subagents.Walk() {
		v.places[n.RunID] = place{subagentName(n), min(depth+1, maxGutter)}
	}
	return v
}

// subagentName is what a subagent is called, clean.
func subagentName(n *reducer.Subagent) string {
	if n.Name == "" {
		return CleanLine(n.RunID.String())
	}
	return CleanLine(n.Name)
}

// Thread draws all of the thread to w: its messages, then what there is of subagents, state, interrupts
// and runs. The error is that of w.
func (v *View) Thread(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(v.Title())
	for _, m := range v.thread.Messages.All() {
		if text := v.Message(m); text != "" {
			b.WriteByte('\n')
			if _, err := b.WriteString(text); err != nil {
				return err
			}
		}
	}
	for _, section := range []string{v.Subagents(), v.State(), v.Interrupts(), v.Runs()} {
		if section != "" {
			b.WriteByte('\n')
			b.WriteString(section)
		}
	}
	return b.Flush()
}

// Title draws one line that names the thread.
func (v *View) Title() string {
	t := v.thread
	id := "(no id)"
	if t.ID != "" {
		id = CleanLine(t.ID)
	}
	return join(v.Paint(Bold, "thread "+id), count(t.Messages.Len(), "message"), count(t.Runs.Len(), "run"),
		v.status(t.Status().String())) + "\n"
}

// Subagents draws the thread's subagent tree under a title; "" if there are none.
func (v *View) Subagents() string {
	if v.thread.Subagents.Len() == 0 {
		return ""
	}
	return v.section("subagents") + v.Style.Subagents(v.thread.Subagents)
}

// State draws the thread's state under a title; "" if it is {} or absent.
func (v *View) State() string {
	s := v.thread.State
	if !s.Exists() || s.Kind() == state.KindObject && s.Len() == 0 {
		return ""
	}
	return v.section("state") + v.Style.State(s)
}

// Interrupts draws under a title the interrupts that the next run must answer; "" if there are none.
func (v *View) Interrupts() string {
	if len(v.thread.Interrupts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.section("interrupts to answer"))
	for _, in := range v.thread.Interrupts {
		b.WriteString(v.Interrupt(in))
	}
	return b.String()
}

// Runs draws under a title how each run ended; "" if there was none.
func (v *View) Runs() string {
	if v.thread.Runs.Len() == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.section("runs"))
	for _, run := range v.thread.Runs.All() {
		b.WriteString(v.run(run, v.owner))
	}
	if usage := v.thread.Usage(); v.thread.Runs.Len() > 1 && len(usage) > 0 {
		p := v.page()
		p.line("all runs")
		p.deeper("  ", 2, func() { p.usage(usage) })
		b.WriteString(p.b.String())
	}
	return b.String()
}

func (v *View) section(title string) string {
	p := v.page()
	p.rule(title)
	return p.b.String()
}

// owner names an owner, clean.
func (v *View) owner(o messages.Owner) string {
	if pl, ok := v.places[o]; ok {
		return pl.name
	}
	return CleanLine(o.String())
}
