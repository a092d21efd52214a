package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/reducer"
)

// Look says how to draw. It is a value.
type Look struct {
	Width, Height int           // of the terminal; what is less than 24 by 4 is taken as that
	Color         bool          // use ANSI colours
	Title         string        // what runs
	Elapsed       time.Duration // since it began; it also turns the spinner
	Note          string        // one line of news, such as a warning; "" for none
}

const (
	minWidth, minHeight = 24, 4
	sideBySide          = 100 // columns from which on the panes stand beside the messages
	widestPane          = 48
	shortest            = 12 // lines from which on there are panes below the messages
)

// Lines draws the last screenful of a thread: a head with status and time, the end of the messages, and panes
// with the subagents and the state. It gives less than Height lines, none wider than Width columns.
func Lines(th *reducer.Thread, l Look) []string {
	l.Width, l.Height = max(l.Width, minWidth), max(l.Height, minHeight)
	lines := []string{l.head(th), l.rule("Ctrl-C stops the run", l.Width)}
	if l.Note != "" {
		lines = append(lines, l.paint(transcript.Yellow, transcript.CleanLine(l.Note)))
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
		lines[i] = clip(line, l.Width)
	}
	return lines
}

// head draws the first line: what runs on which thread, how it stands, and for how long.
func (l Look) head(th *reducer.Thread) string {
	status := th.Status()
	mark, color := "", transcript.Yellow
	switch status {
	case reducer.Empty, reducer.Running:
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		mark, color = string(frames[l.Elapsed/(100*time.Millisecond)%time.Duration(len(frames))]), transcript.Cyan
	case reducer.Succeeded:
		mark, color = "✓", transcript.Green
	case reducer.Interrupted:
		mark = "‖"
	case reducer.Failed, reducer.Rejected:
		mark, color = "✗", transcript.Red
	default:
		mark = "!"
	}
	word := status.String()
	if status == reducer.Empty {
		word = "waiting"
	}
	parts := []string{l.paint(transcript.Bold, transcript.CleanLine(l.Title)), l.paint(color, word)}
	if run := th.LastRun(); run != nil && status == reducer.Running {
		if step := openStep(run); step != "" {
			parts = append(parts, "step "+transcript.CleanLine(step))
		}
		if n := th.Runs.Len(); n > 1 {
			parts = append(parts, fmt.Sprintf("run %d", n))
		}
	}
	parts = append(parts, l.paint(transcript.Dim, "thread "+transcript.CleanLine(th.ID)))
	clock := elapsed(l.Elapsed)
	left := clip(l.paint(color, mark)+" "+strings.Join(parts, " · "), l.Width-len(clock)-1)
	return left + strings.Repeat(" ", max(1, l.Width-len(clock)-columns(left))) + clock
}

// openStep returns the name of the parent agent's step that began last and goes on.
func openStep(run *reducer.Run) string {
	for _, step := range run.Steps.Backward() {
		if !step.Finished && step.Owner.IsParent() {
			return step.Name
		}
	}
	return ""
}

// elapsed writes a duration to a tenth of a second.
func elapsed(d time.Duration) string {
	d = max(d, 0).Truncate(100 * time.Millisecond)
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// rule draws a line with a title on it.
func (l Look) rule(title string, width int) string {
	return l.paint(transcript.Dim, "── "+title+" "+strings.Repeat("─", max(2, width-len(title)-4)))
}

// messages draws the end of the messages, in at least the wanted number of lines if there are as many.
func (l Look) messages(th *reducer.Thread, width, wanted int) []string {
	view := transcript.Style{Width: width, Color: l.Color}.View(th)
	var blocks [][]string
	total := 0
	for _, m := range th.Messages.Backward() {
		text := view.Message(m)
		if text == "" {
			continue
		}
		block := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if m.Streaming && m.ToolCalls.Len() == 0 { // calls are drawn behind the text
			block[len(block)-1] += l.paint(transcript.Cyan, "▌")
		}
		blocks = append(blocks, block)
		if total += len(block) + 1; total > wanted {
			break
		}
	}
	var lines []string
	for i := len(blocks) - 1; i >= 0; i-- {
		lines = append(lines, blocks[i]...)
		if i > 0 {
			lines = append(lines, "")
		}
	}
	return lines
}

func hasSubagents(th *reducer.Thread) bool { return th.Subagents.Len() > 0 }
func hasState(th *reducer.Thread) bool     { return th.State.Len() > 0 }

// panes draws the subagents and the state in at most height lines.
func (l Look) panes(th *reducer.Thread, width, height int) []string {
	style := transcript.Style{Width: width, Color: l.Color}
	var tree, data []string
	if hasSubagents(th) {
		tree = split(style.Subagents(th.Subagents))
	}
	if hasState(th) {
		data = split(style.State(th.State))
	}
	share := height
	if tree != nil && data != nil {
		share = max(height/2, height-len(data)-1) // what the state leaves
	}
	var lines []string
	if tree != nil {
		lines = append(lines, l.rule("subagents", width))
		lines = append(lines, l.tooLong(tree, share-1, true)...)
	}
	if data != nil {
		lines = append(lines, l.rule("state", width))
		lines = append(lines, l.tooLong(data, height-len(lines), false)...)
	}
	return lines[:min(len(lines), max(height, 0))]
}

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// tooLong cuts lines to a height, at their beginning or end, and says so.
func (l Look) tooLong(lines []string, height int, keepEnd bool) []string {
	height = max(height, 1)
	if len(lines) <= height {
		return lines
	}
	if height == 1 {
		return []string{l.paint(transcript.Dim, fmt.Sprintf("… %d lines", len(lines)))}
	}
	note := l.paint(transcript.Dim, fmt.Sprintf("… %d more lines", len(lines)-height+1))
	if keepEnd {
		return append([]string{note}, lines[len(lines)-height+1:]...)
	}
	return append(lines[:height-1:height-1], note)
}

// tail returns the last lines.
func tail(lines []string, height int) []string { return lines[max(0, len(lines)-max(height, 0)):] }

// beside draws the messages with the panes at their right.
func (l Look) beside(th *reducer.Thread, height int) []string {
	pane := min(widestPane, l.Width*2/5)
	width := l.Width - pane - 3
	left := tail(l.messages(th, width, height), height)
	right := l.panes(th, pane, height)
	bar := l.paint(transcript.Dim, "│")
	lines := make([]string, max(len(left), len(right)))
	for i := range lines {
		text := ""
		if i < len(left) {
			text = clip(left[i], width)
		}
		lines[i] = text + strings.Repeat(" ", width-columns(text)) + " " + bar
		if i < len(right) {
			lines[i] += " " + right[i]
		}
	}
	return lines
}

func (l Look) paint(i transcript.Ink, text string) string {
	return transcript.Style{Color: l.Color}.Paint(i, text)
}
