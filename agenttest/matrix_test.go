package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// matrixStream is the stream of docs/reliability.md.
func matrixStream(interrupted bool) []event.Event {
	patch := func(text string) state.Patch {
		var p state.Patch
		if err := p.UnmarshalJSON([]byte(text)); err != nil {
			panic(err)
		}
		return p
	}
	end := &event.RunFinished{ThreadID: "t", RunID: "r"}
	if interrupted {
		end.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "sure?"}}}
	}
	return []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.TextMessageStart{MessageID: "m"},
		&event.TextMessageContent{MessageID: "m", Delta: "Let me "},
		&event.TextMessageContent{MessageID: "m", Delta: "see."},
		&event.TextMessageEnd{MessageID: "m"},
		&event.ToolCallStart{ToolCallID: "a", ToolCallName: "weather"},
		&event.ToolCallArgs{ToolCallID: "a", Delta: `{"city":`},
		&event.ToolCallArgs{ToolCallID: "a", Delta: `"Oslo"}`},
		&event.ToolCallEnd{ToolCallID: "a"},
		&event.ToolCallStart{ToolCallID: "b", ToolCallName: "book"},
		&event.ToolCallArgs{ToolCallID: "b", Delta: `{"flight":`},
		&event.ToolCallArgs{ToolCallID: "b", Delta: `"SK1"}`},
		&event.ToolCallEnd{ToolCallID: "b"},
		&event.StateSnapshot{Snapshot: state.Object()},
		&event.StateDelta{Delta: patch(`[{"op":"add","path":"/step","value":1}]`)},
		&event.StateDelta{Delta: patch(`[{"op":"replace","path":"/step","value":2}]`)},
		end,
	}
}

// A broken is a fault of the matrix, and what it makes of the stream, said a second time by hand.
type broken struct {
	fault  func(stream []event.Event, n int) agenttest.Fault
	events func(stream []event.Event, n int) []event.Event // that arrive
}

func without(stream []event.Event, n int) []event.Event { return stream[:n-1] }
func whole(stream []event.Event, _ int) []event.Event   { return stream }

var faults = map[string]broken{
	"Cut": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Cut(n - 1) }, without},
	"CutBytes": {func(stream []event.Event, n int) agenttest.Fault {
		bytes := 0
		for _, ev := range stream[:n-1] {
			bytes += len("data: \n\n") + len(event.Append(nil, ev))
		}
		return agenttest.CutBytes(bytes + 10)
	}, without},
	"Silence": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Silence(n - 1) }, without},
	"Delay":   {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Delay(n, 20*time.Millisecond) }, whole},
	"Split":   {func([]event.Event, int) agenttest.Fault { return agenttest.Split(3) }, whole},
	"SlowReader": {func([]event.Event, int) agenttest.Fault {
		return agenttest.SlowReader(2 * time.Millisecond)
	}, whole},
	"Drop": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Drop(n) }, func(stream []event.Event, n int) []event.Event {
		return slices.Delete(slices.Clone(stream), n-1, n)
	}},
	"Duplicate": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Duplicate(n) }, func(stream []event.Event, n int) []event.Event {
		return slices.Insert(slices.Clone(stream), n, stream[n-1])
	}},
	"Reorder": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Reorder(n) }, func(stream []event.Event, n int) []event.Event {
		moved := slices.Clone(stream)
		if n < len(moved) {
			moved[n-1], moved[n] = moved[n], moved[n-1]
		}
		return moved
	}},
	"Endless": {func(_ []event.Event, n int) agenttest.Fault { return agenttest.Endless(n) }, func(stream []event.Event, n int) []event.Event {
		return slices.Concat(stream[:n], slices.Repeat(stream[n-1:n], 500))
	}},
}

func TestEveryFaultInEveryPhase(t *testing.T) {
	header, rows := matrix(t)
	require.Len(t, rows, len(faults))
	place := regexp.MustCompile(`^(\d+), (.*)$`)
	for _, row := range rows {
		name := regexp.MustCompile("^`([A-Za-z]+)`").FindStringSubmatch(row[0])[1]
		f, ok := faults[name]
		require.True(t, ok, name)
		for i, want := range row[1:] {
			at := place.FindStringSubmatch(header[i+1])
			t.Run(name+" "+at[2], func(t *testing.T) {
				var n int
				fmt.Sscan(at[1], &n)
				stream := matrixStream(at[2] == "at an interrupt")
				checkCell(t, f.fault(stream, n), f.events(stream, n), stream, want)
			})
		}
	}
}

// checkCell runs one cell of the matrix, over HTTP and as a middleware.
func checkCell(t *testing.T, fault agenttest.Fault, arrive, stream []event.Event, want string) {
	agenttest.NoLeaks(t)
	fs := agenttest.NewFaults(1, fault)
	script := agenttest.Script(agenttest.Events(stream...))
	ids := 0
	options := func() *client.SessionOptions {
		ids = 0
		return &client.SessionOptions{ThreadID: "t", Strict: true, OnWarning: func(event.Warning) {},
			Linger: 100 * time.Millisecond, NewID: func() string { ids++; return fmt.Sprint("id-", ids) }}
	}

	server := agenttest.NewServer(t, script, fs.Handler)
	defer server.Close()
	transport := &http.Transport{DisableKeepAlives: true}
	agent := server.Agent(&client.HTTPOptions{Client: &http.Client{Transport: transport}, IdleTimeout: 300 * time.Millisecond})
	checkRun(t, agent, options(), arrive, want)
	assert.Equal(t, 1, server.Requests(), "a POST is sent once")

	if strings.HasPrefix(fault.String(), "Silence") {
		return // a middleware has no idle time
	}
	checkRun(t, fs.Middleware()(script), options(), arrive, want)
}

func checkRun(t *testing.T, agent client.Agent, o *client.SessionOptions, arrive []event.Event, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := client.NewSession(agent, o)
	defer s.Close()
	deliveries := 0
	for _, err := range s.Run(ctx, &client.RunOptions{RunID: "r", Messages: []*messages.Message{messages.UserText("Hi")}}) {
		if err != nil {
			break
		}
		if deliveries++; deliveries == 200 {
			break
		}
	}
	require.NoError(t, ctx.Err(), "it hangs")
	status, rule, _ := strings.Cut(want, " ")
	// A session is free as soon as the run has ended; what the stream then brings comes later.
	th := agenttest.WaitFor(t, s, func(now client.Snapshot) bool { return !now.Phase.Busy() && now.Status().String() == status }).Thread
	if want == "stopped" {
		assert.Equal(t, 200, deliveries)
		arrive = arrive[:200]
	}
	var v *reducer.Violation
	if errors.As(th.Err(), &v) {
		assert.Equal(t, rule, v.Rule)
	} else {
		assert.Empty(t, rule, "the rule of %v", th.Err())
	}
	// What the reducer makes of the events that arrive is what the thread must hold, whatever way they took.
	expected, _ := reducer.Fold(reducer.Events(arrive...), &reducer.Options{
		Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: slices.Collect(firstMessages(th))}})
	assert.Equal(t, content(t, expected), content(t, th))
}

// firstMessages yields what the user said.
func firstMessages(th *reducer.Thread) func(func(*messages.Message) bool) {
	return func(yield func(*messages.Message) bool) {
		for _, m := range th.Messages.All() {
			if m.Role != messages.RoleUser || !yield(m) {
				return
			}
		}
	}
}

// content is a thread as JSON without its revision and how its run ended, which is compared by itself.
func content(t *testing.T, th *reducer.Thread) string {
	v, err := state.Parse(th.AppendJSON(nil))
	require.NoError(t, err)
	v = v.Without("revision").Without("status").Without("error").Without("runs").Without("subagents")
	return v.String()
}

// matrix reads the table of faults from the documentation.
func matrix(t *testing.T) (header []string, rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/reliability.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "\n| fault at event |")
	require.True(t, ok)
	table, _, _ = strings.Cut("| fault at event |"+table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "| "), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch i {
		case 0:
			header = cells
		case 1: // the line under the header
		default:
			require.Len(t, cells, len(header), line)
			rows = append(rows, cells)
		}
	}
	return header, rows
}
