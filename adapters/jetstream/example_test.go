package jetstream_test

import (
	"context"
	"fmt"
	"log"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// One process runs the agent of a thread, another one watches it.
func Example() {
	ctx := context.Background()
	server, err := embedded.Start(nil) // or a cluster elsewhere
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	open := func() *jetstream.Log {
		nc, err := jetstream.Connect(server.URL())
		if err != nil {
			log.Fatal(err)
		}
		l, err := jetstream.New(ctx, nc, nil)
		if err != nil {
			log.Fatal(err)
		}
		return l
	}
	here, there := open(), open()

	hold, err := here.Hold(ctx, "lisbon") // a *serve.HeldError names another holder
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Close()
	agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
			&event.TextMessageStart{MessageID: "m", Role: messages.RoleAssistant}, &event.TextMessageContent{MessageID: "m", Delta: "Here it is."},
			&event.TextMessageEnd{MessageID: "m"}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	session := hold.Session(agent, nil)
	defer session.Close()
	if _, err := session.Send(ctx, messages.UserText("Plan a weekend in Lisbon.")); err != nil {
		log.Fatal(err)
	}
	if err := hold.Flush(ctx); err != nil {
		log.Fatal(err)
	}

	follower := there.Watch(ctx, "lisbon", nil)
	for snapshot := range follower.Subscribe(ctx) {
		if snapshot.Revision < session.Thread().Revision {
			continue
		}
		for _, m := range snapshot.Messages.All() {
			fmt.Println(m.Role, m.Text())
		}
		break
	}
	// Output:
	// user Plan a weekend in Lisbon.
	// assistant Here it is.
}
