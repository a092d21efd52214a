// Package research is an agent with everything that package emit has: it reasons, plans in the shared state, calls tools at
// the same time, asks a subagent, and asks the user before it is done.
package research

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// A Model streams its answer to a prompt to w.
type Model func(ctx context.Context, prompt string, w io.Writer) error

// Agent returns an agent that looks up the cities that the input's state lists.
func Agent(model Model, weather func(ctx context.Context, city string) (int, error)) func(context.Context, *emit.Run) error {
	return func(ctx context.Context, run *emit.Run) error {
		cities := run.State().Value().Get("cities")
		if cities.Len() == 0 {
			return &reducer.AgentError{Message: "which cities?", Code: messages.Some("no_cities")} // the client is told that
		}
		if err := model(ctx, "What is asked?", run.Reasoning(nil)); err != nil {
			return err // the client is told that the agent failed
		}

		step := run.Step("look up")
		var lookups sync.WaitGroup
		for _, city := range cities.Elements() {
			name, _ := city.AsString()
			lookups.Go(func() { // the calls arrive at the same time
				call := step.Call("weather", nil)
				call.Args(map[string]string{"city": name})
				celsius, err := weather(ctx, name)
				if err != nil {
					call.Result(fmt.Sprintf("no weather of %s", name))
					return
				}
				call.Result(map[string]int{"celsius": celsius})
				run.State().Set("/weather/"+name, celsius)
			})
		}
		lookups.Wait()
		step.Close()

		critic := run.Subagent("critic", nil)
		if err := model(ctx, "Is that all?", critic.Text(nil)); err != nil {
			critic.Fail(err)
		}
		critic.Close()

		if err := model(ctx, "Sum it up.", run.Text(nil)); err != nil {
			return errors.Join(errors.New("summing up"), err)
		}
		_, err := run.Interrupt(event.Interrupt{Reason: "confirm", Message: messages.Some("Send the report?")})
		return err
	}
}
