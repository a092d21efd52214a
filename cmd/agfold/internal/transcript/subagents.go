package transcript

import (
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/reducer"
)

// maxTreeDepth bounds how far the drawing of a tree is indented.
const maxTreeDepth = 16

// Subagents draws a subagent tree, one invocation per line, with results and errors below. It draws nothing if the tree is empty.
func (s Style) Subagents(tree reducer.Subagents) term.Text {
	type row struct {
		node  *reducer.Subagent
		depth int
		last  bool // no sibling follows
	}
	var rows []row
	for depth, n := range tree.Walk() {
		rows = append(rows, row{n, min(depth, maxTreeDepth), false})
	}
	follows := [maxTreeDepth + 1]bool{} // by depth: a sibling follows
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
		branch, trunk := branches(open[:], r.depth)
		if i+1 < len(rows) && rows[i+1].depth > r.depth {
			trunk = trunk.Plus(bar)
		} else {
			trunk = trunk.Plus(blank)
		}
		first := s.paint(term.Dim, branch)
		for line := range s.node(r.node).Wrap(max(s.width()-trunk.Columns(), minWidth)) {
			p.line(first, line)
			first = s.paint(term.Dim, trunk)
		}
		p.deeper(s.paint(term.Dim, trunk), func() { p.outcome(r.node) })
	}
	return p.b.Text()
}

var bar, blank = term.Lit("│  "), term.Lit("   ")

// branches returns what precedes a node, and what precedes the lines below it. open says at which depths a sibling follows.
func branches(open []bool, depth int) (branch, trunk term.Text) {
	if depth == 0 {
		return branch, trunk
	}
	for d := 1; d < depth; d++ {
		if open[d] {
			trunk = trunk.Plus(bar)
		} else {
			trunk = trunk.Plus(blank)
		}
	}
	if open[depth] {
		return trunk.Plus(term.Lit("├─ ")), trunk.Plus(bar)
	}
	return trunk.Plus(term.Lit("└─ ")), trunk.Plus(blank)
}

// node draws a subagent in one line.
func (s Style) node(n *reducer.Subagent) term.Text {
	id := name(n.Owner.String())
	if n.Name == "" {
		id = term.Lit("never announced")
	}
	text := s.status(n.Status, s.paint(term.Bold, subagentName(n.Name, n.Owner)), s.paint(term.Dim, id))
	return term.Join(dot, text, term.Line(n.Description.Or("")))
}

// outcome writes the result or error of a subagent.
func (p *page) outcome(n *reducer.Subagent) {
	if n.Err != nil {
		text := n.Err.Message
		if code, ok := n.Err.Code.Get(); ok {
			text += " (" + code + ")"
		}
		p.prosePainted(term.Red, text)
	}
	if n.Result.Exists() {
		p.value(n.Result, p.limit(maxLines))
	}
	if len(n.InterruptIDs) > 0 {
		var ids []term.Text
		for _, id := range n.InterruptIDs {
			ids = append(ids, name(id))
		}
		p.wrap(term.Lit("waits for "), term.Join(comma, ids...))
	}
}
