package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// pending is a session whose agent called tools, in a message "a", without answers; the thread's
// messages are "user u", "assistant a" and "assistant m".
func pending(t *testing.T, ids ...string) (*client.Session, *scripted) {
	first := []any{begins}
	for _, id := range ids {
		first = append(first, calls(id, "mine", ""))
	}
	agent := script(says(append(first, text("m", "well?"), succeeds)...), says(begins, succeeds))
	s := client.NewSession(agent, quiet(client.SessionOptions{}))
	res, err := s.Send(t.Context(), withID("u", messages.UserText("hi")))
	require.NoError(t, err)
	require.Len(t, res.PendingToolCalls, len(ids))
	return s, agent
}

func withID(id string, m *messages.Message) *messages.Message {
	m.ID = id
	return m
}

func TestAddMessages(t *testing.T) {
	result := func(id, call string) *messages.Message { return withID(id, messages.ToolResult(call, "answer")) }
	for _, row := range []struct {
		rule    string
		add     []*messages.Message
		thread  []string
		pending []string
		clash   string // the kind of a *DuplicateError

		malformed bool
	}{
		{rule: "messages are appended", add: []*messages.Message{withID("s", messages.SystemText("be brief")), withID("v", messages.UserText("go on"))},
			thread: []string{"user u: hi", "assistant a: ", "assistant m: well?", "system s: be brief", "user v: go on"}, pending: []string{"c1", "c2"}},
		{rule: "one without an id gets one", add: []*messages.Message{messages.UserText("go on")},
			thread: []string{"user u: hi", "assistant a: ", "assistant m: well?", "user id-3: go on"}, pending: []string{"c1", "c2"}},
		{rule: "P-TOL-3 a tool message goes after the message of its call", add: []*messages.Message{result("x", "c1")},
			thread: []string{"user u: hi", "assistant a: ", "tool x: answer", "assistant m: well?"}, pending: []string{"c2"}},
		{rule: "P-TOL-3 and after results that are there", add: []*messages.Message{result("x", "c2"), result("y", "c1")},
			thread: []string{"user u: hi", "assistant a: ", "tool x: answer", "tool y: answer", "assistant m: well?"}},
		{rule: "P-TOL-3 a tool message without its call goes to the end", add: []*messages.Message{result("x", "c9")},
			thread: []string{"user u: hi", "assistant a: ", "assistant m: well?", "tool x: answer"}, pending: []string{"c1", "c2"}},
		{rule: "P-ID-1 an id that is held by a message of the same kind", add: []*messages.Message{withID("m", messages.UserText("x"))}, clash: "text"},
		{rule: "P-ID-1 an id that is held by a message of another kind is free", add: []*messages.Message{result("m", "c1")},
			thread: []string{"user u: hi", "assistant a: ", "tool m: answer", "assistant m: well?"}, pending: []string{"c2"}},
		{rule: "P-ID-1 a message twice", add: []*messages.Message{result("x", "c1"), result("x", "c1")}, clash: "tool result"},
		{rule: "P-TOL-3 the results of two calls under one id", add: []*messages.Message{result("x", "c1"), result("x", "c2")},
			thread: []string{"user u: hi", "assistant a: ", "tool x: answer", "tool x: answer", "assistant m: well?"}},
		{rule: "P-ENF-4 nil is not a message", add: []*messages.Message{nil}, malformed: true},
		{rule: "P-ENF-4 a message without a role", add: []*messages.Message{{ID: "x"}}, malformed: true},
		{rule: "P-ENF-4 user content that is absent", add: []*messages.Message{{ID: "x", Role: messages.RoleUser}}, malformed: true},
		{rule: "one bad message keeps the good ones out", add: []*messages.Message{messages.UserText("x"), {Role: "narrator"}}, malformed: true},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s, _ := pending(t, "c1", "c2")
			before := s.Thread()
			given := append([]*messages.Message(nil), row.add...)
			err := s.AddMessages(row.add...)
			assert.Equal(t, given, row.add, "what the caller holds stays as it was")
			if row.malformed || row.clash != "" {
				if row.malformed {
					assert.ErrorAs(t, err, new(*messages.MalformedError))
				} else {
					var clash *client.DuplicateError
					require.ErrorAs(t, err, &clash)
					assert.Equal(t, row.clash, clash.Kind.String())
					assert.Equal(t, row.add[0].ID, clash.ID)
					assert.Contains(t, err.Error(), clash.ID)
				}
				assert.Same(t, before, s.Thread(), "nothing has changed")
				return
			}
			require.NoError(t, err)
			th := s.Thread()
			assert.Equal(t, row.thread, shown(th))
			assert.ElementsMatch(t, row.pending, th.PendingToolCallIDs())
			assert.Greater(t, th.Revision, before.Revision)
			for _, tc := range th.Messages.At(1).ToolCalls.All() {
				want := messages.ToolCallAnswered
				for _, id := range row.pending {
					if id == tc.ID {
						want = messages.ToolCallComplete
					}
				}
				assert.Equal(t, want, tc.Status, tc.ID)
			}
			assert.Equal(t, []string{"user u: hi", "assistant a: ", "assistant m: well?"}, shown(before), "older snapshots stay")
			assert.Equal(t, []string{"c1", "c2"}, before.PendingToolCallIDs())
		})
	}
	t.Run("P-INP-1 what was added goes to the agent", func(t *testing.T) {
		s, agent := pending(t)
		require.NoError(t, s.AddMessages(messages.DeveloperText("psst")))
		_, err := s.Send(t.Context(), messages.UserText("go on"))
		require.NoError(t, err)
		assert.Equal(t, []string{"user u: hi", "assistant m: well?", "developer id-3: psst", "user id-4: go on"}, said(agent.inputs[1]))
	})
	t.Run("a call that is answered before the next run is not called again", func(t *testing.T) {
		s, _ := pending(t, "c1")
		require.NoError(t, s.AddMessages(messages.ToolResult("c1", "done")))
		require.NoError(t, s.SetTools(does("mine", func(context.Context) (any, error) { panic("called") })))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, res.Runs)
	})
}

func TestSetMessages(t *testing.T) {
	s, agent := pending(t, "c1", "c2")
	before := s.Thread()
	kept := *before.Messages.At(1)
	kept.ToolCalls = messages.NewList(&messages.ToolCall{ID: "c1", Name: "mine"}, &messages.ToolCall{ID: "c3", Name: "mine"})
	require.NoError(t, s.SetMessages(messages.UserText("again"), &kept, messages.ToolResult("c3", "done")))
	th := s.Thread()
	assert.Equal(t, []string{"user id-3: again", "assistant a: ", "tool id-4: done"}, shown(th))
	assert.Equal(t, []string{"c1"}, th.PendingToolCallIDs(), "what is not held any more does not pend")
	assert.Equal(t, messages.ToolCallComplete, th.Messages.At(1).ToolCalls.At(0).Status)
	assert.Equal(t, messages.ToolCallAnswered, th.Messages.At(1).ToolCalls.At(1).Status)
	assert.Equal(t, messages.ToolCallComplete, kept.ToolCalls.At(1).Status, "what the caller holds stays as it was")
	assert.Greater(t, th.Revision, before.Revision)
	assert.Equal(t, []string{"user u: hi", "assistant a: ", "assistant m: well?"}, shown(before))

	var clash *client.DuplicateError
	require.ErrorAs(t, s.SetMessages(withID("x", messages.UserText("1")), withID("x", messages.AssistantText("2"))), &clash)
	assert.ErrorAs(t, s.SetMessages(nil), new(*messages.MalformedError))
	assert.Same(t, th, s.Thread())

	require.NoError(t, s.SetMessages())
	_, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []*messages.Message{}, agent.inputs[1].Messages)
}

func TestEditState(t *testing.T) {
	s := client.NewSession(script(says(begins, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/c","value":3}]}`, succeeds)), quiet(client.SessionOptions{State: parsed(t, `{"a":1}`)}))
	before := s.Thread()
	require.NoError(t, s.PatchState(state.Patch{{Kind: state.OpAdd, Path: "/b", Value: state.Int(2)}}))
	assert.Equal(t, `{"a":1,"b":2}`, s.Thread().State.String())
	assert.Greater(t, s.Thread().Revision, before.Revision)

	th := s.Thread()
	err := s.PatchState(state.Patch{{Kind: state.OpAdd, Path: "/b", Value: state.Int(3)}, {Kind: state.OpRemove, Path: "/x"}})
	var bad *state.PatchError
	require.ErrorAs(t, err, &bad, "P-STA-3")
	assert.Same(t, th, s.Thread(), "P-STA-3 all of it or nothing")

	res, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, `{"a":1,"b":2,"c":3}`, res.Thread.State.String(), "P-STA-1 the agent continues with what was set")
	require.NoError(t, s.SetState(state.Null()))
	assert.Equal(t, `{}`, s.Thread().State.String(), "P-STA-2 null is taken as {}")
	require.NoError(t, s.SetState(state.Value{}))
	assert.Equal(t, `{}`, s.Thread().State.String(), "P-STA-2")
	assert.Equal(t, `{"a":1}`, before.State.String())
}

func TestPatchStateIsBounded(t *testing.T) {
	patch := state.Patch{{Kind: state.OpAdd, Path: "/b", Value: state.String("0123456789")}} // the size of {"b":"0123456789"} is 19
	activity := &messages.Message{ID: "a", Role: messages.RoleActivity, ActivityType: "x", Activity: parsed(t, `{"k":"123456"}`)}
	for _, r := range []struct {
		max      int
		activity bool
		fits     bool
	}{{max: 19, fits: true}, {max: 18}, {max: 33, activity: true}, {max: 34, activity: true, fits: true}, {max: -1, fits: true}, {fits: true}} {
		s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{MaxPatchedBytes: r.max}))
		if r.activity {
			require.NoError(t, s.AddMessages(activity))
		}
		err := s.PatchState(patch)
		if r.fits {
			assert.NoError(t, err, "%+v", r)
		} else {
			assert.ErrorIs(t, err, state.ErrLimit, "%+v", r)
		}
	}
}

func TestEditsWhileARunGoesOn(t *testing.T) {
	edits := map[string]func(*client.Session) error{
		"AddMessages": func(s *client.Session) error { return s.AddMessages(messages.UserText("x")) },
		"SetMessages": func(s *client.Session) error { return s.SetMessages() },
		"SetState":    func(s *client.Session) error { return s.SetState(state.Int(1)) },
		"PatchState":  func(s *client.Session) error { return s.PatchState(nil) },
		"SetTools":    func(s *client.Session) error { return s.SetTools() },
		"SetContext":  func(s *client.Session) error { return s.SetContext() },
		"Send": func(s *client.Session) error {
			res, err := s.Send(context.Background(), messages.UserText("x"))
			if res != nil {
				return nil
			}
			return err
		},
		"Resume": func(s *client.Session) error {
			_, err := s.Resume(context.Background())
			return err
		},
		"Run": func(s *client.Session) (last error) {
			for _, err := range s.Run(context.Background(), nil) {
				last = err
			}
			return last
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{}))
			for _, err := range s.Run(t.Context(), nil) {
				require.NoError(t, err)
				before := s.Thread()
				require.ErrorIs(t, edit(s), client.ErrBusy)
				require.Same(t, before, s.Thread())
			}
			require.NoError(t, s.Snapshot().Result.Err)
			s.Close()
			before := s.Thread()
			assert.ErrorIs(t, edit(s), client.ErrClosed)
			assert.Same(t, before, s.Thread())
		})
	}
}

func TestAddedMessagesAreUTF8(t *testing.T) {
	s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{}))
	require.NoError(t, s.AddMessages(
		&messages.Message{ID: "u\xff", Role: messages.RoleUser, Name: messages.Some("n\xff"), Content: messages.Text("hi")},
		&messages.Message{ID: "a", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "c\xff", Name: "f\xff", Arguments: "x\xff"})},
		&messages.Message{ID: "t", Role: messages.RoleTool, ToolCallID: "c\xff", Content: messages.Text("done")},
	))
	th := s.Thread()
	user, call := th.Messages.At(0), th.Messages.At(1).ToolCalls.At(0)
	assert.Equal(t, []string{"u\uFFFD", "n\uFFFD"}, []string{user.ID, user.Name.Or("")})
	assert.Equal(t, []string{"c\uFFFD", "f\uFFFD", "x\uFFFD"}, []string{call.ID, call.Name, call.Arguments})
	assert.Equal(t, "c\uFFFD", th.Messages.At(2).ToolCallID)
}
