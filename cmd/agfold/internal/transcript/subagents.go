package transcript

import (
	"iter"
	"strings"

	"github.com/agfold/agfold/reducer"
)

// maxTreeDepth bounds how far the drawing of a tree is indented.
const maxTreeDepth = 16

// Subagents draws a subagent tree, an invocation a line, with results and errors below; "" if it is empty.
func (s Style) Subagents(tree reducer.Subagents) string {
	type row struct {
		node  *reducer.Subagent
		depth int
		last  bool // no sibling follows
	}
	var rows []row
	for depth, n := range tree.Walk() {
		rows = append(rows, row{n, min(depth, maxTreeDepth), false})
	}
	follows := [maxTreeDepth + 1]bool{} // by depth: a sibling of what comes next was seen behind it
	for i := len(rows) - 1; i >= 0; i-- {
		d := rows[i].depth
		rows[i].last = !follows[d]
		follows[d] = true
		clear(follows[d+1:])
	}
	p := s.page()
	open := [maxTreeDepth + 1]bool{} // by depth: a sibling follows below
	for i, r := range rows {
		open[r.depth] = !r.last
		branch, trunk := branches(open[:], r.depth, r.last)
		p.line(p.Paint(Dim, branch) + s.node(r.node))
		if i+1 < len(rows) && rows[i+1].depth > r.depth {
			trunk += "│  "
		} else {
			trunk += "   "
		}
		p.deeper(p.Paint(Dim, trunk), columns(trunk), func() { p.outcome(r.node) })
	}
	return p.b.String()
}

// branches returns what stands before a node, and before the lines below it.
func branches(open []bool, depth int, last bool) (branch, trunk string) {
	var b strings.Builder
	for d := 1; d < depth; d++ {
		b.WriteString([...]string{"   ", "│  "}[btoi(open[d])])
	}
	if depth == 0 {
		return "", ""
	}
	if last {
		return b.String() + "└─ ", b.String() + "   "
	}
	return b.String() + "├─ ", b.String() + "│  "
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// node draws a subagent in one line.
func (s Style) node(n *reducer.Subagent) string {
	id := CleanLine(n.RunID.String())
	if n.Name == "" {
		id = "never announced"
	}
	return s.mark(n.Status.String()) + " " + join(s.Paint(Bold, subagentName(n)), s.Paint(Dim, id),
		s.status(n.Status.String()), CleanLine(n.Description.Or("")))
}

// outcome writes what a subagent ended with.
func (p *page) outcome(n *reducer.Subagent) {
	if n.Err != nil {
		text := Clean(n.Err.Message)
		if code, ok := n.Err.Code.Get(); ok {
			text += " (" + CleanLine(code) + ")"
		}
		wrap(text, p.room(), func(line string) bool { p.line(p.Paint(Red, line)); return true })
	}
	if n.Result.Exists() {
		p.value(n.Result, p.limit(maxLines))
	}
	if len(n.InterruptIDs) > 0 {
		p.line("waits for " + CleanLine(strings.Join(n.InterruptIDs, ", ")))
	}
}

// mark is the sign of a status.
func (s Style) mark(status string) string {
	switch status {
	case "succeeded":
		return s.Paint(Green, "✓")
	case "failed", "rejected":
		return s.Paint(Red, "✗")
	case "interrupted", "suspended":
		return s.Paint(Yellow, "‖")
	case "running":
		return s.Paint(Blue, "…")
	}
	return s.Paint(Yellow, "!")
}

func (s Style) status(status string) string {
	switch status {
	case "succeeded":
		return s.Paint(Green, status)
	case "failed", "rejected":
		return s.Paint(Red, status)
	case "running":
		return s.Paint(Blue, status)
	}
	return s.Paint(Yellow, status)
}

// lines yields the lines of a text that ends with a line feed.
func lines(text string) iter.Seq[string] {
	return strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n")
}
