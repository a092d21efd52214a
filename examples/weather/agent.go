// Package weather shows how to write an agent in Go, and how to test it and a program that talks to one.
package weather

import (
	"context"
	"fmt"

	"github.com/agfold/agfold/emit"
)

// Weather is the agent under test: it looks the weather up and says what it found.
func Weather(_ context.Context, run *emit.Run) error {
	call := run.Call("weather", nil)
	call.Args(map[string]string{"city": "Oslo"})
	call.Result(`{"celsius":4}`)
	answer := run.Text(nil)
	for _, word := range []string{"It is ", "4 °C ", "in Oslo."} {
		fmt.Fprint(answer, word)
	}
	return nil
}
