package lint

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// ruleCodes are the checks that a warning of the fold means.
var ruleCodes = map[string]string{
	"P-ENF-1": "unknown", "P-ENF-2": "unknown", "P-ENF-3": "unknown", "P-ENF-5": "unknown", "P-CMP-1": "deprecated",
	"P-CMP-2": "deprecated", "P-CMP-3": "deprecated", "P-ID-1": "id-shared", "P-TXT-2": "text-gone", "P-TOL-1": "call-parent",
	"P-STA-1": "patch-fails", "P-ACT-2": "patch-fails", "P-RUN-3": "interrupt-unanswered", "P-VRS-1": "version",
	"P-RUN-1": "run-ids-differ", "P-REA-2": "text-gone",
}

// warnings finds what the warnings of a delivery mean.
func (l *Linter) warnings(d reducer.Delivery, thread func() *reducer.Thread) {
	var second map[string]int // how many of the next warnings about a result mean that its call has one already
	for _, w := range d.Warnings {
		code := ruleCodes[w.Rule]
		if w.Rule == "P-TOL-3" {
			if second == nil {
				second = secondResults(d, thread())
			}
			if code = "result-without-call"; second[w.Path] > 0 {
				code = "result-twice"
				second[w.Path]--
			}
		}
		if code != "" {
			l.find(code, w.Ordinal, w.Type, w.Path, "%s", w.Text)
		}
	}
}

// secondResults returns, by the id of a result, how many warnings about it say that its call has a result already. Those that
// say that the thread does not hold the call come last, one for each such result (P-TOL-3).
func secondResults(d reducer.Delivery, th *reducer.Thread) map[string]int {
	n := make(map[string]int)
	for _, w := range d.Warnings {
		if w.Rule == "P-TOL-3" {
			n[w.Path]++
		}
	}
	without := func(id, call string) {
		if tc, _ := th.ToolCall(call); tc == nil {
			n[id]--
		}
	}
	var list []*messages.Message
	switch e := d.Event.(type) {
	case *event.ToolCallResult:
		without(e.MessageID, e.ToolCallID)
	case *event.MessagesSnapshot:
		list = e.Messages
	case *event.RunStarted:
		if e.Input != nil {
			list = e.Input.Messages
		}
	}
	for _, m := range list {
		if _, warned := n[m.ID]; warned && m.Role == messages.RoleTool {
			without(m.ID, m.ToolCallID)
		}
	}
	return n
}
