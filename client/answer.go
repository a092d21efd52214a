package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// pendingCall is a pending call that a tool's function answers.
type pendingCall struct {
	tool  Tool
	call  *messages.ToolCall
	owner messages.Owner
}

// pending returns the pending calls of offered tools: those that functions answer, and those that the caller must answer
// before the thread continues (P-RUN-2). With AnswerUnknownTools those of no offered tool are among the former, without a tool. Left out are those that a pending interrupt is about: its answer decides about
// the call, and the agent knows what that means.
func (s *Session) pending(th *reducer.Thread) (calls []pendingCall, callers []*messages.ToolCall) {
	for tc, m := range th.PendingToolCalls() {
		if slices.ContainsFunc(th.Interrupts, func(in event.Interrupt) bool { return in.ToolCallID == messages.Some(tc.ID) }) {
			continue
		}
		offered := false
		tool := slices.IndexFunc(s.o.Tools, func(t Tool) bool {
			offered = offered || t.Name == tc.Name
			return t.Name == tc.Name && t.Call != nil && s.o.MaxRounds > 0
		})
		switch {
		case tool >= 0:
			calls = append(calls, pendingCall{s.o.Tools[tool], tc, m.Owner})
		case offered:
			callers = append(callers, tc)
		case s.o.AnswerUnknownTools && s.o.MaxRounds > 0 && th.Status() == reducer.Succeeded:
			calls = append(calls, pendingCall{call: tc, owner: m.Owner})
		}
	}
	return calls, callers
}

// maxParallelCalls bounds how many functions of one round run at once.
const maxParallelCalls = 16

// answer runs the functions of pending calls side by side and adds the answers to the thread, in the order of the
// calls. If the context ends first, it adds those that are there, the others stay pending, and it returns why.
func (t *Turn) answer(calls []pendingCall) error {
	if len(calls) == 0 {
		return nil
	}
	s := t.session
	s.enter(PhaseCallingTools)
	answers := make([]*messages.Message, len(calls))
	called := 0
	slots := make(chan struct{}, maxParallelCalls)
	var wg sync.WaitGroup
	for i, p := range calls {
		select {
		case slots <- struct{}{}:
		case <-t.ctx.Done():
		}
		if t.ctx.Err() != nil { // even if a slot is free because of that
			break
		}
		called++
		wg.Go(func() {
			defer func() { <-slots }()
			if content, err := s.invoke(t.observed, p); err == nil {
				answers[i] = p.answer(content, messages.Opt[string]{})
			} else if t.ctx.Err() == nil {
				answers[i] = p.answer(messages.Text(err.Error()), messages.Some(err.Error()))
			}
		})
	}
	wg.Wait()
	for i, p := range calls[:called] {
		if answers[i] == nil {
			s.settled.start(p.call.ID)
		}
	}
	answers = s.completed(slices.DeleteFunc(answers, func(m *messages.Message) bool { return m == nil }))
	s.detach()
	th := s.thread.WithMessages(answers...)
	s.mu.Lock()
	if th != s.thread {
		s.thread = th
		s.hub.Changed()
	}
	s.mu.Unlock()
	if t.ctx.Err() != nil {
		return t.cause(t.ctx.Err())
	}
	return nil
}

// answer returns the message that answers the call.
func (p pendingCall) answer(content messages.Content, failure messages.Opt[string]) *messages.Message {
	return &messages.Message{Role: messages.RoleTool, Owner: p.owner, ToolCallID: p.call.ID, Content: content, Error: failure}
}

// invoke asks for consent and calls the function. Whatever goes wrong is an error whose text is for the agent.
func (s *Session) invoke(ctx context.Context, p pendingCall) (messages.Content, error) {
	if p.tool.Call == nil {
		return messages.Content{}, errors.New(noTool(p.call.Name))
	}
	if s.o.Approve != nil {
		_, err := guard(ctx, "asking for consent", func() (messages.Content, error) {
			return messages.Content{}, s.o.Approve(ctx, p.call)
		})
		if err != nil {
			return messages.Content{}, err
		}
	}
	ctx, end := observers(s.o.Observers).tool(ctx, p.call)
	content, err := p.invoke(ctx)
	end(content, err)
	return content, err
}

// lateError is the answer of a tool that took too long.
type lateError struct {
	tool  string
	after time.Duration
}

func (e *lateError) Error() string {
	return fmt.Sprintf("%s did not answer within %v", e.tool, e.after)
}

// Timeout returns true, for observers.
func (e *lateError) Timeout() bool { return true }

// invoke calls the function.
func (p pendingCall) invoke(ctx context.Context) (messages.Content, error) {
	if p.tool.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.tool.Timeout, &lateError{p.tool.Name, p.tool.Timeout})
		defer cancel()
	}
	return guard(ctx, "the tool", func() (messages.Content, error) {
		result, err := p.tool.Call(ctx, p.call)
		if err != nil {
			return messages.Content{}, err
		}
		content, err := contentOf(result)
		if err != nil {
			return messages.Content{}, err
		}
		m := p.answer(content, messages.Opt[string]{})
		if err := event.Check(&event.MessagesSnapshot{Messages: []*messages.Message{m}}); err != nil {
			return messages.Content{}, fmt.Errorf("the tool's result cannot be sent: %w", err)
		}
		return content, nil
	})
}

// guard runs a function that is not ours: a panic or the end of its goroutine becomes an error, and it is not
// waited for once ctx ends; what it then makes of that is the context's cause.
func guard(ctx context.Context, what string, fn func() (messages.Content, error)) (messages.Content, error) {
	type outcome struct {
		content messages.Content
		err     error
	}
	done := make(chan outcome, 1) // room for a result that comes too late
	go func() {
		o := outcome{err: errors.New(what + " ended without a result")} // unless it returns
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: fmt.Errorf("%s panicked: %v", what, p)}
			}
			done <- o
		}()
		content, err := fn()
		if err != nil {
			err = errors.New(err.Error()) // the text is all that counts, and making it may panic
		}
		o = outcome{content, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // it came at the same time
		default:
			o.err = ctx.Err()
		}
	}
	if o.err != nil && ctx.Err() != nil {
		o.err = context.Cause(ctx)
	}
	return o.content, o.err
}

// contentOf returns the content of the answer that a function's result makes.
func contentOf(result any) (messages.Content, error) {
	switch r := result.(type) {
	case string:
		return messages.Text(r), nil
	case messages.Content:
		if !r.Exists() {
			return messages.Text(""), nil
		}
		return r, nil
	case []messages.Part:
		return messages.Parts(r...), nil
	}
	v, err := state.Of(result)
	if err != nil {
		return messages.Content{}, fmt.Errorf("the tool's result cannot be encoded: %w", err)
	}
	return messages.Text(v.String()), nil
}
