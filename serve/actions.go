package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// action is what a POST does. acting is held.
type action func(t *Threads, e *entry, body state.Value) *problem

var actions = map[string]action{
	"messages": (*Threads).message,
	"answers":  (*Threads).answers,
	"results":  (*Threads).results,
	"edit":     (*Threads).edit,
	"retry":    (*Threads).retry,
	"stop":     (*Threads).stopRun,
}

// members checks that body is an object with no members but these; those that end in "?" may be absent.
func members(body state.Value, keys ...string) *problem {
	if body.Kind() != state.KindObject {
		return malformed(&messages.MalformedError{Rule: "P-ENF-4", Type: "body", Want: "an object", Found: found(body)})
	}
	known := make(map[string]bool, len(keys))
	for _, key := range keys {
		name := key
		if key[len(key)-1] == '?' {
			name = key[:len(key)-1]
		} else if !body.Get(key).Exists() {
			return malformed(&messages.MalformedError{Rule: "P-ENF-4", Type: "body", Path: state.Pointer(key), Want: "a value", Found: "nothing"})
		}
		known[name] = true
	}
	for key := range body.Members() {
		if !known[key] {
			return malformed(&messages.MalformedError{Rule: "P-ENF-2", Type: "body", Path: state.Pointer(key), Want: "no such member", Found: "one"})
		}
	}
	return nil
}

func found(v state.Value) string {
	if !v.Exists() {
		return "nothing"
	}
	return v.Kind().String()
}

// said returns what the body says as a message of this role, from its members with these names.
func said(body state.Value, role messages.Role, names ...string) (*messages.Message, *problem) {
	v := state.Object(state.Member{Key: "role", Value: state.String(string(role))}, state.Member{Key: "id", Value: state.String("new")})
	for _, name := range names {
		if member := body.Get(name); member.Exists() {
			v = v.With(name, member)
		}
	}
	m, removed, err := messages.Decode(v)
	if err != nil {
		return nil, malformed(err)
	}
	if len(removed) > 0 {
		return nil, malformed(&messages.MalformedError{
			Rule: removed[0].Rule, Type: "body", Path: removed[0].Path, Want: "what AG-UI " + event.ProtocolVersion + " describes", Found: removed[0].Text,
		})
	}
	if role == messages.RoleUser && isEmpty(m.Content) {
		return nil, &problem{status: http.StatusUnprocessableEntity, detail: "the message says nothing", path: "/content"}
	}
	if !body.Get("id").Exists() {
		m.ID = ""
	}
	return m, nil
}

// isEmpty reports whether a content says nothing, which model providers refuse, now and in each later request.
func isEmpty(c messages.Content) bool {
	for _, part := range c.Parts() {
		if part.Type != messages.PartText {
			return false
		}
	}
	return strings.TrimSpace(c.Text()) == ""
}

// message lets the user say something.
func (t *Threads) message(e *entry, body state.Value) *problem {
	if no := members(body, "content", "id?"); no != nil {
		return no
	}
	m, no := said(body, messages.RoleUser, "content", "id")
	if no != nil {
		return no
	}
	return t.run(e, &client.RunOptions{Messages: []*messages.Message{m}})
}

// answers answers the interrupts.
func (t *Threads) answers(e *entry, body state.Value) *problem {
	if no := members(body, "answers"); no != nil {
		return no
	}
	list := body.Get("answers")
	if list.Kind() != state.KindArray {
		return malformed(&messages.MalformedError{Rule: "P-ENF-4", Type: "body", Path: "/answers", Want: "an array", Found: found(list)})
	}
	var o client.RunOptions
	for i, v := range list.Elements() {
		var entry event.ResumeEntry
		if err := entry.UnmarshalJSON(v.AppendJSON(nil)); err != nil {
			return malformed(at(err, fmt.Sprintf("/answers/%d", i)))
		}
		o.Resume = append(o.Resume, client.AnswerEntry(entry))
	}
	if len(e.session.Thread().Interrupts) == 0 {
		return &problem{status: http.StatusUnprocessableEntity, detail: "no interrupt is pending", rule: "P-INT-1"}
	}
	return t.run(e, &o)
}

// at returns a malformed error with its path under another one.
func at(err error, path string) error {
	m, ok := errors.AsType[*messages.MalformedError](err)
	if !ok {
		return err
	}
	placed := *m
	placed.Path = path + m.Path
	return &placed
}

// results gives the results of calls that wait for the user's side. The run continues once none is left.
func (t *Threads) results(e *entry, body state.Value) *problem {
	if no := members(body, "results"); no != nil {
		return no
	}
	list := body.Get("results")
	if list.Kind() != state.KindArray || list.Len() == 0 {
		return malformed(&messages.MalformedError{Rule: "P-ENF-4", Type: "body", Path: "/results", Want: "an array that is not empty", Found: found(list)})
	}
	pending := make(map[string]bool)
	for call := range e.session.Thread().PendingToolCalls() {
		pending[call.ID] = !e.functions[call.Name] // what a function of ours answers is not a page's to say
	}
	var results []*messages.Message
	for i, v := range list.Elements() {
		path := fmt.Sprintf("/results/%d", i)
		if no := members(v, "toolCallId", "content", "error?"); no != nil {
			no.path = path + no.path
			return no
		}
		m, no := said(v, messages.RoleTool, "toolCallId", "content", "error")
		if no != nil {
			no.path = path + no.path
			return no
		}
		if !pending[m.ToolCallID] {
			return &problem{
				status: http.StatusUnprocessableEntity, rule: "P-RUN-2", path: path + "/toolCallId",
				detail: fmt.Sprintf("P-RUN-2: the call %q does not wait for a result", m.ToolCallID),
			}
		}
		delete(pending, m.ToolCallID)
		results = append(results, m)
	}
	err := t.start(e, &client.RunOptions{Messages: results})
	if _, more := errors.AsType[*client.PendingCallError](err); more {
		if err = e.session.AddMessages(results...); err == nil {
			_ = t.save(e)
		}
	}
	return t.refused(e, err)
}

// edit replaces a message of the user, drops what follows and runs from there. Interrupts that pend are declined.
func (t *Threads) edit(e *entry, body state.Value) *problem {
	if no := members(body, "messageId", "content"); no != nil {
		return no
	}
	id, ok := body.Get("messageId").AsString()
	if !ok {
		return malformed(&messages.MalformedError{Rule: "P-ENF-4", Type: "body", Path: "/messageId", Want: "a string", Found: found(body.Get("messageId"))})
	}
	m, no := said(body, messages.RoleUser, "content")
	if no != nil {
		return no
	}
	th := e.session.Thread()
	old, _ := th.Message(id)
	if old == nil || old.Role != messages.RoleUser {
		return &problem{status: http.StatusUnprocessableEntity, path: "/messageId", detail: fmt.Sprintf("the thread has no message %q of the user", id)}
	}
	o := client.RunOptions{Rewind: id, Messages: []*messages.Message{m}}
	o.Resume = client.AnswerAll(th.Interrupts, func(in event.Interrupt) client.Answer { return client.Decline(in.ID) })
	return t.refused(e, t.start(e, &o))
}

// retry runs again after a run that did not end well.
func (t *Threads) retry(e *entry, body state.Value) *problem {
	if no := nothing(body); no != nil {
		return no
	}
	snapshot := e.session.Snapshot()
	switch status := snapshot.Status(); {
	case snapshot.Phase.Busy():
		return t.refused(e, client.ErrBusy)
	case status == reducer.Empty, status == reducer.Succeeded, status == reducer.Interrupted:
		return &problem{status: http.StatusUnprocessableEntity, detail: fmt.Sprintf("there is nothing to retry: the thread is %s", status)}
	}
	return t.run(e, new(client.RunOptions))
}

// stopRun stops the run, if there is one.
func (t *Threads) stopRun(e *entry, body state.Value) *problem {
	if no := nothing(body); no != nil {
		return no
	}
	now := e.session.Snapshot()
	if now.Messages.Len() == 0 && now.Runs.Len() == 0 && !now.Phase.Busy() {
		return refuse(http.StatusNotFound, "there is nothing in the thread")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = e.session.Stop(ended) // which does not wait
	return nil
}

// nothing checks that there is no body, or an empty object.
func nothing(body state.Value) *problem {
	if !body.Exists() {
		return nil
	}
	return members(body)
}

// run starts a run.
func (t *Threads) run(e *entry, o *client.RunOptions) *problem { return t.refused(e, t.start(e, o)) }

// refused returns why the session has refused something, nil if err is.
func (t *Threads) refused(e *entry, err error) *problem {
	if err == nil {
		return nil
	}
	no := malformed(err)
	_, isMalformed := errors.AsType[*messages.MalformedError](err)
	_, isDuplicate := errors.AsType[*client.DuplicateError](err)
	_, isGone := errors.AsType[*client.NoMessageError](err)
	_, isInterrupt := errors.AsType[*client.InterruptError](err)
	_, isCall := errors.AsType[*client.PendingCallError](err)
	switch {
	case errors.Is(err, client.ErrBusy):
		return &problem{status: http.StatusConflict, detail: client.ErrBusy.Error(), retry: true}
	case errors.Is(err, client.ErrClosed), t.ctx.Err() != nil:
		return &problem{status: http.StatusServiceUnavailable, detail: "the thread is being stored", retry: true}
	case isInterrupt:
		no.rule = "P-INT-1"
	case isCall:
		no.rule = "P-RUN-2"
	case isGone:
		no.path = "/messageId"
	case isMalformed, isDuplicate:
	default: // the agent or a tool cannot be used
		t.log().Error("a run cannot be started", "thread", e.id, "error", err)
		return refuse(http.StatusInternalServerError, "the run cannot be started")
	}
	return no
}
