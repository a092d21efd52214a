package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Options configures [Threads] and [Streams]; nil means defaults.
type Options struct {
	// ExactIDs compares ids as they are. Otherwise an id of one side stands for the id of the other side that is in its
	// place.
	ExactIDs bool
	// Ignore leaves sections out: "runs", "messages", "calls", "state", "usage", "metadata", "subagents", "interrupts".
	Ignore []string
	// Max bounds the differences that are listed; the rest is counted. 0 means 1000.
	Max int
}

// Difference is a place at which two threads differ.
type Difference struct {
	Section string      // as in Options.Ignore
	Where   string      // for people, such as "message 3 (assistant)"
	Path    string      // a JSON pointer in the first thread's JSON, or in the second one's if only that has it
	A, B    state.Value // what is there; absent if nothing is
}

// Report lists how two threads differ.
type Report struct {
	Differences []Difference
	More        int    // differences that are not listed
	Messages    []Pair // all messages of both threads in order, aligned
}

// Same reports whether there is no difference.
func (r *Report) Same() bool { return len(r.Differences) == 0 }

// sections are the values of Options.Ignore.
var sections = []string{"runs", "messages", "calls", "state", "usage", "metadata", "subagents", "interrupts"}

// Sections returns what Options.Ignore may name.
func Sections() []string { return slices.Clone(sections) }

// comparison is one call of Threads.
type comparison struct {
	ids    *ids
	ignore []string
	max    int
	report Report
}

// Threads compares two threads: their runs in order, then the messages, which are aligned by what they are, then the state,
// subagents and interrupts. The revision and the thread's id play no part. The order of messages does. It costs a
// pass over both threads' JSON, and, where messages came or went, up to a few million comparisons.
func Threads(a, b *reducer.Thread, o *Options) *Report {
	if o == nil {
		o = new(Options)
	}
	c := &comparison{ids: newIDs(o.ExactIDs), ignore: o.Ignore, max: o.Max}
	if c.max == 0 {
		c.max = 1000
	}
	x, y := treeOf(a), treeOf(b)
	runsA, runsB := x.Get("runs"), y.Get("runs")
	messagesA, messagesB := x.Get("messages"), y.Get("messages")
	pairs := align(messagesA, messagesB)
	c.report.Messages = pairs
	c.matchIDs(runsA, runsB, messagesA, messagesB, pairs)
	for i := range max(runsA.Len(), runsB.Len()) {
		c.run(i, runsA.Index(i), runsB.Index(i))
	}
	for _, p := range pairs {
		c.message(p, messagesA, messagesB)
	}
	c.section("state", "state", "/state", "state", x.Get("state"), y.Get("state"))
	c.section("subagents", "subagents", "/subagents", "subagents", x.Get("subagents"), y.Get("subagents"))
	c.section("interrupts", "open interrupts", "/interrupts", "interrupts", x.Get("interrupts"), y.Get("interrupts"))
	c.section("calls", "pending calls", "/pendingToolCallIds", "pendingToolCallIds", x.Get("pendingToolCallIds"), y.Get("pendingToolCallIds"))
	return &c.report
}

func treeOf(th *reducer.Thread) state.Value {
	if th == nil {
		th = new(reducer.Thread)
	}
	v, _ := state.ParseDepth(th.AppendJSON(nil), state.DefaultMaxDepth+8)
	return v
}

// matchIDs makes the ids of aligned runs, messages and calls stand for each other.
func (c *comparison) matchIDs(runsA, runsB, messagesA, messagesB state.Value, pairs []Pair) {
	match := func(a, b state.Value, key string) {
		x, ok := a.Get(key).AsString()
		y, both := b.Get(key).AsString()
		if ok && both {
			c.ids.match(x, y)
		}
	}
	for i := range min(runsA.Len(), runsB.Len()) {
		match(runsA.Index(i), runsB.Index(i), "runId")
	}
	for _, p := range pairs {
		if p.A < 0 || p.B < 0 {
			continue
		}
		a, b := messagesA.Index(p.A), messagesB.Index(p.B)
		match(a, b, "id")
		callsA, callsB := a.Get("toolCalls"), b.Get("toolCalls")
		for i := range min(callsA.Len(), callsB.Len()) {
			match(callsA.Index(i), callsB.Index(i), "id")
		}
	}
}

// add notes a difference.
func (c *comparison) add(section, where, path string, a, b state.Value) {
	switch {
	case slices.Contains(c.ignore, section):
	case len(c.report.Differences) >= c.max:
		c.report.More++
	default:
		c.report.Differences = append(c.report.Differences, Difference{section, where, path, a, b})
	}
}

// section compares one part of the threads. What is in its metadata or usage counts as such.
func (c *comparison) section(section, where, path, key string, a, b state.Value) {
	c.ids.walk(path, key, a, b, func(p string, a, b state.Value) {
		rest, section := strings.TrimPrefix(p, path), section
		switch {
		case section == "state":
		case strings.Contains(rest+"/", "/metadata/"):
			section = "metadata"
		case section == "runs" && strings.HasPrefix(rest+"/", "/usage/"):
			section = "usage"
		case section == "messages" && strings.HasPrefix(rest+"/", "/toolCalls/"):
			section = "calls"
		}
		c.add(section, where, p, a, b)
	})
}

func (c *comparison) run(i int, a, b state.Value) {
	if x, y := a.Get("error"), b.Get("error"); x.Exists() && y.Exists() { // an ordinal depends on how a text was split
		a, b = a.With("error", x.With("ordinal", state.Value{})), b.With("error", y.With("ordinal", state.Value{}))
	}
	c.eachMember("runs", fmt.Sprintf("run %d", i+1), "/runs/"+itoa(i), a, b)
}

// eachMember compares two objects member by member, so that each gets the section that it belongs to.
func (c *comparison) eachMember(section, where, path string, a, b state.Value) {
	if a.Kind() != b.Kind() {
		c.add(section, where, path, a, b)
		return
	}
	for name, value := range a.Members() {
		c.section(section, where, path, name, state.Object(state.Member{Key: name, Value: value}), only(b, name))
	}
	for name, value := range b.Members() {
		if !a.Get(name).Exists() {
			c.section(section, where, path, name, state.Object(), state.Object(state.Member{Key: name, Value: value}))
		}
	}
}

func only(v state.Value, name string) state.Value {
	if member := v.Get(name); member.Exists() {
		return state.Object(state.Member{Key: name, Value: member})
	}
	return state.Object()
}

func (c *comparison) message(p Pair, messagesA, messagesB state.Value) {
	var a, b state.Value
	place := p.A
	if p.A >= 0 {
		a = messagesA.Index(p.A)
	} else {
		place = p.B
	}
	if p.B >= 0 {
		b = messagesB.Index(p.B)
	}
	shown := a
	if !shown.Exists() {
		shown = b
	}
	role, _ := shown.Get("role").AsString()
	c.eachMember("messages", fmt.Sprintf("message %d (%s)", place+1, role), "/messages/"+itoa(place), a, b)
}

func itoa(i int) string { return strconv.Itoa(i) }
