package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Tool is a tool that the session offers to the agent. [NewTool] makes one from a Go function; a literal may
// carry a schema written by hand and a function of the raw arguments, or no function at all.
type Tool struct {
	event.Tool
	// Call runs the tool. Its result becomes the content of the answer: a string, a messages.Content or
	// []messages.Part as it is, anything else as JSON. An error, a panic, or a result that cannot be
	// sent is an answer too: its text is the answer's content and Error. The context ends with the run. Call
	// may be called from several goroutines at once, at most 16 in one run. If Call is nil, the calls of the tool stay
	// pending for the caller of the session to answer.
	Call func(ctx context.Context, call *messages.ToolCall) (any, error)
	// Timeout bounds a call of Call; a time-out is an answer. 0 means that only the run's context
	// bounds it. A function that ignores its context keeps its goroutine until it returns; its result is not used.
	Timeout time.Duration

	err error // of NewTool
}

var errNoToolName = errors.New("a tool has no name")

// NewTool makes a tool from a function of a struct. The schema of the parameters is inferred from Args: the
// json tags name the members, those without omitempty are required, jsonschema tags describe them. Arguments
// that do not fit the schema never reach the function; the agent gets an answer that says what is wrong.
//
// Args must be a struct or a map, without channels, functions and recursive types in it, and name must not be empty;
// otherwise every run that offers the tool returns an error.
func NewTool[Args any](name, description string, fn func(ctx context.Context, args Args) (any, error)) Tool {
	parameters, resolved, err := schemaOf[Args]()
	if err != nil {
		return Tool{Tool: event.Tool{Name: name, Description: description}, err: fmt.Errorf("tool %q: %w", name, err)}
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

// schemaOf infers the schema of Args, in the form to send and in the form to validate with.
func schemaOf[Args any]() (state.Value, *jsonschema.Resolved, error) {
	schema, err := jsonschema.For[Args](nil)
	if err != nil {
		return state.Value{}, nil, err
	}
	if schema.Type != "object" {
		return state.Value{}, nil, fmt.Errorf("the arguments are a %v, want a struct or map", reflect.TypeFor[Args]())
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return state.Value{}, nil, err
	}
	parameters, err := state.Of(schema)
	return parameters, resolved, err
}

// ArgumentsError is the answer to a call whose arguments do not fit the tool's schema.
type ArgumentsError struct {
	Tool string
	Err  error
}

// Error names the tool and what is wrong, in at most 1 KiB: what is wrong may quote all of the arguments.
func (e *ArgumentsError) Error() string {
	return shorten("invalid arguments for "+e.Tool+": "+e.Err.Error(), 1<<10)
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
