package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Tool is a tool that the session offers to the agent. [NewTool] makes one from a Go function; a literal may
// carry a schema written by hand and a function of the raw arguments, or no function at all.
type Tool struct {
	event.Tool
	// Call runs the tool. Its result becomes the content of the answer: a string, a messages.Content or
	// []messages.Part as it is, anything else as JSON. An error, also a panic or a result that cannot be
	// sent, is an answer too: its text is the answer's content and Error. The context ends with the run. Call
	// may be called from several goroutines at once, 16 at most in one run. With a nil Call the calls of the
	// tool stay pending, and the caller of the session answers them.
	Call func(ctx context.Context, call *messages.ToolCall) (any, error)
	// Timeout bounds a call of Call; a time-out is an answer. 0 means no bound but the run's context. A
	// function that does not heed its context keeps its goroutine until it returns, its result unused.
	Timeout time.Duration
}

// NewTool makes a tool from a function of a struct. The schema of the parameters is inferred from Args: the
// json tags name the members, those without omitempty are required, jsonschema tags describe them. Arguments
// that do not fit the schema never reach the function; the agent is told what is wrong with them.
//
// It panics if no schema of an object can be inferred from Args: it must be a struct or a map, without channels,
// functions and cycles of types in it.
func NewTool[Args any](name, description string, fn func(ctx context.Context, args Args) (any, error)) Tool {
	schema, err := jsonschema.For[Args](nil)
	if err != nil {
		panic(fmt.Sprintf("client: NewTool(%q): %v", name, err))
	}
	if schema.Type != "object" {
		panic(fmt.Sprintf("client: NewTool(%q): the arguments are no struct or map", name))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("client: NewTool(%q): %v", name, err))
	}
	parameters, err := state.Of(schema)
	if err != nil {
		panic(fmt.Sprintf("client: NewTool(%q): %v", name, err))
	}
	return Tool{
		Tool: event.Tool{Name: name, Description: description, Parameters: parameters},
		Call: func(ctx context.Context, call *messages.ToolCall) (any, error) {
			args, err := decodeArgs[Args](call, resolved)
			if err != nil {
				return nil, err
			}
			return fn(ctx, args)
		},
	}
}

// ArgumentsError is the answer to a call whose arguments do not fit the tool's schema.
type ArgumentsError struct {
	Tool string
	Err  error
}

// Error names the tool and what is wrong.
func (e *ArgumentsError) Error() string {
	return "invalid arguments for " + e.Tool + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *ArgumentsError) Unwrap() error { return e.Err }

func decodeArgs[Args any](call *messages.ToolCall, schema *jsonschema.Resolved) (Args, error) {
	var args Args
	v, err := call.Args()
	if err != nil {
		return args, &ArgumentsError{call.Name, err}
	}
	var instance any
	if err := v.Unmarshal(&instance); err != nil {
		return args, &ArgumentsError{call.Name, err}
	}
	if err := schema.Validate(instance); err != nil {
		return args, &ArgumentsError{call.Name, err}
	}
	if err := v.Unmarshal(&args); err != nil {
		return args, &ArgumentsError{call.Name, err}
	}
	return args, nil
}

// pendingCall is a call that waits for an answer.
type pendingCall struct {
	tool  Tool // that answers it
	call  *messages.ToolCall
	owner messages.Owner
}

// answerable returns the pending calls of a thread that tools have functions for.
func answerable(th *reducer.Thread, tools []Tool) []pendingCall {
	var calls []pendingCall
	for _, p := range pendingCalls(th) {
		i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == p.call.Name && t.Call != nil })
		if i >= 0 {
			p.tool = tools[i]
			calls = append(calls, p)
		}
	}
	return calls
}

// pendingCalls returns the pending calls that the thread holds and nothing answers, each once, whatever the
// agent names as pending. It costs a pass over the messages.
func pendingCalls(th *reducer.Thread) []pendingCall {
	ids := th.PendingToolCallIDs()
	if len(ids) == 0 {
		return nil
	}
	held := make(map[string]pendingCall, len(ids))
	for _, id := range ids {
		held[id] = pendingCall{}
	}
	for _, m := range th.Messages.All() {
		for _, tc := range m.ToolCalls.All() {
			if _, pends := held[tc.ID]; pends {
				held[tc.ID] = pendingCall{call: tc, owner: m.Owner}
			}
		}
	}
	var calls []pendingCall
	for _, id := range ids {
		if p := held[id]; p.call != nil && p.call.Status == messages.ToolCallComplete {
			calls = append(calls, p)
			delete(held, id)
		}
	}
	return calls
}

// maxParallelCalls bounds how many functions of one round run at once.
const maxParallelCalls = 16

// answer runs the functions of pending calls side by side and adds the answers to the thread, in the order of
// the calls. If the context ends first, those that are there are added, the rest still pends, and the error is
// the context's.
func (c *callState) answer(calls []pendingCall) error {
	answers := make([]*messages.Message, len(calls))
	slots := make(chan struct{}, maxParallelCalls)
	var wg sync.WaitGroup
	for i, p := range calls {
		select {
		case slots <- struct{}{}:
		case <-c.ctx.Done():
		}
		if c.ctx.Err() != nil { // also when a slot is free because of that
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if content, err := c.s.invoke(c.ctx, p); err == nil {
				answers[i] = p.answer(content, messages.Opt[string]{})
			} else if c.ctx.Err() == nil {
				answers[i] = p.answer(messages.Text(err.Error()), messages.Some(err.Error()))
			}
		})
	}
	wg.Wait()
	answers = slices.DeleteFunc(answers, func(m *messages.Message) bool { return m == nil })
	answers = c.s.withIDs(answers)
	c.s.mu.Lock()
	if len(answers) > 0 {
		c.s.change(c.s.thread.WithMessages(answers...))
	}
	c.s.mu.Unlock()
	return c.ctx.Err()
}

// answer returns the message that answers the call.
func (p pendingCall) answer(content messages.Content, failure messages.Opt[string]) *messages.Message {
	return &messages.Message{Role: messages.RoleTool, Owner: p.owner, ToolCallID: p.call.ID, Content: content, Error: failure}
}

// invoke asks for consent and calls the function. Whatever goes wrong is an error whose text is for the agent.
func (s *Session) invoke(ctx context.Context, p pendingCall) (messages.Content, error) {
	if s.o.Approve != nil {
		_, err := guard(ctx, "asking for consent", func() (messages.Content, error) {
			return messages.Content{}, s.o.Approve(ctx, p.call)
		})
		if err != nil {
			return messages.Content{}, err
		}
	}
	if p.tool.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.tool.Timeout, fmt.Errorf("%s did not answer within %v", p.tool.Name, p.tool.Timeout))
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

// contentOf makes a function's result the content of an answer.
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
