package live

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Look says how to draw.
type Look struct {
	Width, Height int           // of the terminal; at least 24 by 4 is assumed
	Color         term.Colors   // use ANSI colors
	Title         term.Text     // what runs
	Phase         client.Phase  // what the session does; the thread's status says the rest
	Elapsed       time.Duration // since it began; it also turns the spinner
	Note          term.Text     // one line of news, such as a warning; empty for none
}

const (
	minWidth, minHeight = 24, 4
	sideBySide          = 100 // least columns for panes beside the messages
	widestPane          = 48
	shortest            = 12 // least lines for panes below the messages
)

// Lines draws the last screenful of a thread: a head with status and time, the end of the messages, and panes
// with the subagents and the state. It returns fewer than Height lines, none wider than Width columns.
func Lines(th *reducer.Thread, l Look) []term.Text {
	l.Width, l.Height = max(l.Width, minWidth), max(l.Height, minHeight)
	lines := []term.Text{l.head(th), l.rule(term.Lit("Ctrl-C stops the run"), l.Width)}
	if !l.Note.Empty() {
		lines = append(lines, l.Color.Paint(term.Yellow, l.Note))
	}
	room := l.Height - 1 - len(lines)
	switch panes := hasSubagents(th) || hasState(th); {
	case panes && l.Width >= sideBySide:
		lines = append(lines, l.beside(th, room)...)
	case panes && l.Height >= shortest:
		below := l.panes(th, l.Width, room/2)
		lines = append(lines, tail(l.messages(th, l.Width, room-len(below)), room-len(below))...)
		lines = append(lines, below...)
	default:
		lines = append(lines, tail(l.messages(th, l.Width, room), room)...)
	}
	for i, line := range lines {
		lines[i] = line.Clip(l.Width)
	}
	return lines
}

// head draws the first line: the title, the thread, its status or the phase between two runs, and the elapsed time.
func (l Look) head(th *reducer.Thread) term.Text {
	status := th.Status()
	sign, ink := transcript.Sign(status)
	word := term.Line(status.String())
	between := l.Phase == client.PhaseSending || l.Phase == client.PhaseCallingTools // the status is that of the run before
	if between || status == reducer.Empty || status == reducer.Running {
		sign, ink = spinner[l.Elapsed/(100*time.Millisecond)%time.Duration(len(spinner))], term.Cyan
	}
	switch {
	case between:
		word = term.Line(l.Phase.String())
	case status == reducer.Empty:
		word = term.Lit("waiting")
	}
	parts := []term.Text{l.Color.Paint(term.Bold, l.Title), l.Color.Paint(ink, word)}
	if run := th.LastRun(); run != nil && status == reducer.Running {
		if step := openStep(run); step != "" {
			parts = append(parts, term.Sprintf("step %s", step))
		}
		if n := th.Runs.Len(); n > 1 {
			parts = append(parts, term.Sprintf("run %d", n))
		}
	}
	parts = append(parts, l.Color.Paint(term.Dim, term.Sprintf("thread %s", th.ID)))
	clock := elapsed(l.Elapsed)
	left := l.Color.Paint(ink, sign).Plus(space, term.Join(term.Lit(" · "), parts...)).Clip(l.Width - clock.Columns() - 1)
	return left.Plus(space.Repeat(max(1, l.Width-clock.Columns()-left.Columns())), clock)
}

var (
	space   = term.Lit(" ")
	spinner = []term.Text{term.Lit("⠋"), term.Lit("⠙"), term.Lit("⠹"), term.Lit("⠸"), term.Lit("⠼"),
		term.Lit("⠴"), term.Lit("⠦"), term.Lit("⠧"), term.Lit("⠇"), term.Lit("⠏")}
)

// openStep returns the name of the parent agent's latest step that has not finished.
func openStep(run *reducer.Run) string {
	for _, step := range run.Steps.Backward() {
		if !step.Finished && step.Owner.IsParent() {
			return step.Name
		}
	}
	return ""
}

// elapsed writes a duration to a tenth of a second.
func elapsed(d time.Duration) term.Text {
	d = max(d, 0).Truncate(100 * time.Millisecond)
	if d < time.Minute {
		return term.Sprintf("%.1f s", d.Seconds())
	}
	return term.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// rule draws a line that begins with a title.
func (l Look) rule(title term.Text, width int) term.Text {
	return transcript.Style{Width: width, Color: l.Color}.Rule(title)
}

// messages draws the end of the messages, in at least the wanted number of lines if there are that many.
func (l Look) messages(th *reducer.Thread, width, wanted int) []term.Text {
	th = recent(th, width, max(wanted, 1))
	view := transcript.Style{Width: width, Color: l.Color}.View(th)
	var blocks [][]term.Text
	total := 0
	for _, m := range th.Messages.Backward() {
		text := view.Message(m)
		if text.Empty() {
			continue
		}
		block := text.Lines()
		if m.Streaming && m.ToolCalls.Len() == 0 { // calls are drawn after the text
			last := &block[len(block)-1]
			*last = last.Plus(l.Color.Paint(term.Cyan, term.Lit("▌")))
		}
		blocks = append(blocks, block)
		if total += len(block) + 1; total > wanted {
			break
		}
	}
	var lines []term.Text
	for i := len(blocks) - 1; i >= 0; i-- {
		lines = append(lines, blocks[i]...)
		if i > 0 {
			lines = append(lines, term.Text{})
		}
	}
	return lines
}

// recent returns a thread with the messages that the last lines may show, so that drawing them does not cost a pass over
// the thread. Long texts, and arguments that still arrive, are cut to their end.
func recent(th *reducer.Thread, width, lines int) *reducer.Thread {
	const maxArguments = 6 // lines, less than what is drawn of arguments
	var msgs []*messages.Message
	for _, m := range th.Messages.From(max(0, th.Messages.Len()-4*lines-16)) { // several may be drawn together, or not at all
		short := *m
		if text := m.Text(); !m.Content.IsParts() && m.Content.Exists() {
			short.Content = messages.Text(lastPart(text, 8*width*lines))
		}
		for i, c := range m.ToolCalls.All() {
			if args := lastPart(c.Arguments, maxArguments*width); (c.Status == messages.ToolCallStreaming || c.Status == messages.ToolCallBroken) && args != c.Arguments {
				call := *c
				call.Arguments = "…" + args
				short.ToolCalls = short.ToolCalls.Set(i, &call)
			}
		}
		msgs = append(msgs, &short)
	}
	short := *th
	short.Messages = messages.NewList(msgs...)
	return &short
}

// lastPart returns about the last size bytes of a text, from the beginning of a line if there is one in their first half.
func lastPart(text string, size int) string {
	if len(text) <= size {
		return text
	}
	text = text[len(text)-size:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < size/2 {
		return text[i+1:]
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

func hasSubagents(th *reducer.Thread) bool { return th.Subagents.Len() > 0 }
func hasState(th *reducer.Thread) bool     { return th.State.Len() > 0 }

// panes draws the subagents and the state in at most height lines.
func (l Look) panes(th *reducer.Thread, width, height int) []term.Text {
	style := transcript.Style{Width: width, Color: l.Color}
	var tree, data []term.Text
	if hasSubagents(th) {
		tree = style.Subagents(th.Subagents).Lines()
	}
	if hasState(th) {
		data = style.State(th.State).Lines()
	}
	share := height
	if tree != nil && data != nil {
		share = max(height/2, height-len(data)-1) // what the state leaves
	}
	var lines []term.Text
	if tree != nil {
		lines = append(lines, l.rule(term.Lit("subagents"), width))
		lines = append(lines, l.tooLong(tree, share-1, true)...)
	}
	if data != nil {
		lines = append(lines, l.rule(term.Lit("state"), width))
		lines = append(lines, l.tooLong(data, height-len(lines), false)...)
	}
	return lines[:min(len(lines), max(height, 0))]
}

// tooLong cuts lines to a height, at their beginning or end, and says so.
func (l Look) tooLong(lines []term.Text, height int, keepEnd bool) []term.Text {
	height = max(height, 1)
	if len(lines) <= height {
		return lines
	}
	if height == 1 {
		return []term.Text{l.Color.Paint(term.Dim, term.Lit("… ").Plus(transcript.Count(len(lines), "line")))}
	}
	note := l.Color.Paint(term.Dim, term.Lit("… ").Plus(transcript.Count(len(lines)-height+1, "more line")))
	if keepEnd {
		return append([]term.Text{note}, lines[len(lines)-height+1:]...)
	}
	return append(lines[:height-1:height-1], note)
}

// tail returns the last lines.
func tail(lines []term.Text, height int) []term.Text {
	return lines[max(0, len(lines)-max(height, 0)):]
}

// beside draws the messages with the panes to their right.
func (l Look) beside(th *reducer.Thread, height int) []term.Text {
	pane := min(widestPane, l.Width*2/5)
	width := l.Width - pane - 3
	left := tail(l.messages(th, width, height), height)
	right := l.panes(th, pane, height)
	bar := l.Color.Paint(term.Dim, term.Lit("│"))
	lines := make([]term.Text, max(len(left), len(right)))
	for i := range lines {
		var text term.Text
		if i < len(left) {
			text = left[i].Clip(width)
		}
		lines[i] = text.Plus(space.Repeat(width-text.Columns()+1), bar)
		if i < len(right) {
			lines[i] = lines[i].Plus(space, right[i])
		}
	}
	return lines
}
