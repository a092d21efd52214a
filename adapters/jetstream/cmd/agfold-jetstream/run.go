package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// runCmd runs an agent on a thread.
type runCmd struct {
	access
	Publish string        `help:"NATS servers to publish to." default:"nats://127.0.0.1:4222" placeholder:"URL"`
	URL     string        `help:"The agent's URL; without it an agent repeats what you say." placeholder:"URL"`
	Thread  string        `help:"The thread's id." required:""`
	Message []string      `help:"What the user says; several are sent one after the other." required:"" sep:"none"`
	Pause   time.Duration `help:"How long the agent without a URL waits before each word." default:"100ms"`
	GoOn    bool          `help:"If nothing can be published, go on and say so, instead of stopping the run."`
	JSON    bool          `help:"Print the thread as JSON at the end, and nothing else." name:"json"`
}

// Run takes the thread, sends the messages, and waits until everything is stored.
func (c *runCmd) Run(ctx context.Context, t terminal) error {
	o := jetstream.Options{}
	if c.GoOn {
		o.WhenStuck = jetstream.GoOn
	}
	l, _, closed, err := c.open(ctx, c.Publish, o)
	if err != nil {
		return err
	}
	defer closed()
	h, err := l.Hold(ctx, c.Thread)
	if held, ok := errors.AsType[*serve.HeldError](err); ok {
		return fmt.Errorf("%w: follow the thread, or stop its run there", held)
	}
	if err != nil {
		return err
	}
	s := h.Session(agentOf(c.URL, c.Pause), nil)
	before, shown := s.Thread(), make(chan struct{})
	go func() {
		defer close(shown)
		if !c.JSON {
			show(t.out, before, s.SubscribeThrottled(context.Background(), 30*time.Millisecond), nil)
		}
	}()
	for _, text := range c.Message {
		if _, err = s.Send(ctx, messages.UserText(text)); err != nil {
			break
		}
	}
	th := s.Thread()
	s.Close()
	<-shown
	if c.JSON {
		if _, failed := fmt.Fprintf(t.out, "%s\n", th.AppendJSON(nil)); err == nil {
			err = failed
		}
	}
	if errors.Is(err, client.ErrStopped) {
		err = fmt.Errorf("%w from elsewhere", reducer.ErrStopped)
	}
	if failed := h.Close(); err == nil {
		err = failed
	}
	return err
}
