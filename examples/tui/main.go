// Command tui is a small chat in the terminal: it draws the conversation anew with every snapshot.
//
//	go run ./examples/tui [URL]
//
// Without a URL it talks to an agent in its own process.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

func main() {
	var agent client.Agent = emit.Agent(echo, nil)
	if len(os.Args) > 1 {
		agent = client.NewHTTP(os.Args[1], nil)
	}
	if err := chat(context.Background(), agent, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// chat sends each line of in and redraws out until in ends.
func chat(ctx context.Context, agent client.Agent, in io.Reader, out io.Writer) error {
	weather := client.NewTool("weather", "The weather in a city", func(_ context.Context, args struct {
		City string `json:"city" jsonschema:"the city's name"`
	}) (any, error) {
		return map[string]any{"city": args.City, "celsius": 12}, nil
	})
	s := client.NewSession(agent, &client.SessionOptions{Tools: []client.Tool{weather}})

	drawn := make(chan struct{})
	go func() { // one goroutine draws while the run continues
		defer close(drawn)
		for now := range s.SubscribeThrottled(ctx, 30*time.Millisecond) {
			draw(out, now)
		}
	}()
	defer func() { s.Close(); <-drawn }()

	lines := bufio.NewScanner(in)
	for lines.Scan() {
		res, err := s.Send(ctx, messages.UserText(lines.Text()))
		for more := true; err == nil && more && len(res.Interrupts) > 0; { // the next run must answer every question
			res, err = s.Resume(ctx, client.AnswerAll(res.Interrupts, func(in event.Interrupt) client.Answer {
				if more = lines.Scan(); more && lines.Text() == "y" {
					return client.Resolve(in.ID, map[string]bool{"approved": true}) // in.ResponseSchema says what fits
				}
				return client.Decline(in.ID)
			})...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func draw(out io.Writer, now client.Snapshot) {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J") // home, clear
	for _, m := range now.Messages.All() {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text())
		for _, call := range m.ToolCalls.All() {
			fmt.Fprintf(&b, "  %s %v (%s)\n", call.Name, call.PartialArgs(), call.Status)
		}
	}
	for _, in := range now.Interrupts {
		fmt.Fprintf(&b, "%s (y/n)\n", in.Message.Or(in.Reason))
	}
	fmt.Fprintf(&b, "[%s] ", now.Phase) // idle: the user may type; sending, streaming, calling tools: wait
	io.WriteString(out, b.String())
}

// echo is an agent that repeats the user's message, a word at a time.
func echo(_ context.Context, run *emit.Run) error {
	asked := run.Input().Messages
	answer := run.Text(nil)
	for word := range strings.FieldsSeq("You said: " + asked[len(asked)-1].Text()) {
		time.Sleep(20 * time.Millisecond)
		if _, err := fmt.Fprint(answer, word, " "); err != nil {
			return err
		}
	}
	return nil
}
