package web

import (
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// runPair is two runs that stand for each other.
type runPair struct {
	A           *runInfo `json:"a"` // null if the side has no such run
	B           *runInfo `json:"b"`
	Differences []int    `json:"d,omitempty"` // places in comparison.Differences
}

// runInfo is a run of one side.
type runInfo struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	From   int    `json:"from"` // its positions; 0 if they are not known
	To     int    `json:"to"`
}

// alignRuns pairs the runs by their order.
func (c *comparison) alignRuns() {
	c.Runs = []runPair{}
	for i := range max(c.A.thread.Runs.Len(), c.B.thread.Runs.Len()) {
		c.Runs = append(c.Runs, runPair{A: c.A.run(i), B: c.B.run(i)})
	}
}

// run returns the run at a place, nil if there is none.
func (s *side) run(i int) *runInfo {
	if i >= s.thread.Runs.Len() {
		return nil
	}
	run := s.thread.Runs.At(i)
	info := &runInfo{ID: short(run.ID), Status: run.Status.String()}
	if len(s.runs) == s.thread.Runs.Len() {
		info.From, info.To = s.runs[i].from, s.runs[i].to
	}
	return info
}

// messagePair is two messages that stand for each other, by their places; -1 is none.
type messagePair struct {
	A           int          `json:"a"`
	B           int          `json:"b"`
	InA         *messageInfo `json:"inA,omitempty"` // absent if it says what the other one says
	InB         *messageInfo `json:"inB,omitempty"`
	Differences []int        `json:"d,omitempty"` // places in comparison.Differences
}

// messageInfo is a message as it is shown beside another one.
type messageInfo struct {
	ID    string     `json:"id"`
	Role  string     `json:"role"`
	Owner string     `json:"owner,omitempty"`
	Text  string     `json:"text"`
	More  int        `json:"more,omitempty"` // bytes of the text that are left out
	Calls []callInfo `json:"calls,omitempty"`
}

type callInfo struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
	More int    `json:"more,omitempty"`
}

// What is shown of messages is bounded: of one, and of all together.
const (
	mostText     = 8 << 10
	mostAllTexts = 4 << 20
	mostCalls    = 50
)

// alignMessages makes the rows of the report's pairs.
func (c *comparison) alignMessages() {
	c.Rows, c.rowOf = make([]messagePair, 0, len(c.report.Messages)), make(map[[2]int]int)
	budget := mostAllTexts
	for _, p := range c.report.Messages {
		row := messagePair{A: p.A, B: p.B}
		if p.A >= 0 {
			c.rowOf[[2]int{0, p.A}] = len(c.Rows)
			row.InA = messageOf(c.A.thread, p.A, &budget)
		}
		if p.B >= 0 {
			c.rowOf[[2]int{1, p.B}] = len(c.Rows)
			row.InB = messageOf(c.B.thread, p.B, &budget)
		}
		c.Rows = append(c.Rows, row)
	}
}

func messageOf(th *reducer.Thread, i int, budget *int) *messageInfo {
	m := th.Messages.At(i)
	info := &messageInfo{ID: short(m.ID), Role: string(m.Role)}
	if id, ok := m.Owner.RunID(); ok {
		info.Owner = short(id)
	}
	text := m.Text()
	if m.Role == messages.RoleActivity {
		text = m.ActivityType + " " + m.Activity.String()
	}
	info.Text, info.More = within(text, budget)
	for k, call := range m.ToolCalls.All() {
		if k == mostCalls {
			break
		}
		shown := callInfo{ID: short(call.ID), Name: short(call.Name)}
		shown.Args, shown.More = within(call.Arguments, budget)
		info.Calls = append(info.Calls, shown)
	}
	return info
}

// within returns the beginning of a text, as long as it may be, and how many bytes it lacks.
func within(text string, budget *int) (string, int) {
	most := min(mostText, max(*budget, mostRunes))
	shown := headOf(text, most)
	*budget -= len(shown)
	return shown, len(text) - len(shown)
}

// headOf returns at most n bytes of a text, without a rune that is cut.
func headOf(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// extract is a value of one side, as JSON text; a long one is what stands around the place where the two differ.
type extract struct {
	Text   string `json:"text"`
	Before int    `json:"before,omitempty"` // bytes left out before it
	After  int    `json:"after,omitempty"`  // and after it
}

// mostExtract is how many bytes of a value are shown.
const mostExtract = 2 << 10

// extracts returns two values around the place where they differ, nil for one that is absent.
func extracts(a, b state.Value) (x, y *extract) {
	var left, right string
	if a.Exists() {
		left = a.String()
	}
	if b.Exists() {
		right = b.String()
	}
	same := commonPrefix(left, right)
	around := func(v state.Value, text string) *extract {
		if !v.Exists() {
			return nil
		}
		if len(text) <= mostExtract {
			return &extract{Text: text}
		}
		from := max(0, min(same-mostExtract/4, len(text)-mostExtract))
		for from > 0 && !utf8.RuneStart(text[from]) {
			from--
		}
		shown := headOf(text[from:], mostExtract)
		return &extract{Text: strings.ToValidUTF8(shown, "\uFFFD"), Before: from, After: len(text) - from - len(shown)}
	}
	return around(a, left), around(b, right)
}
