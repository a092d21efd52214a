package agenttest

import (
	"context"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
)

// waitTime bounds WaitFor and NoLeaks: what takes longer never happens.
const waitTime = 10 * time.Second

// A Source has snapshots to wait for: a *client.Session, or whatever follows a thread.
type Source interface {
	Subscribe(ctx context.Context) <-chan client.Snapshot
}

// WaitFor waits until a snapshot fulfills a condition and returns it. It sees the current one and then the newest each
// time, but not each, so the condition must not be about something that passes. After 10 seconds, or if the source ends,
// the test ends with the conversation as it is then.
func WaitFor(t require.TestingT, source Source, condition func(client.Snapshot) bool) client.Snapshot {
	tester(t).Helper()
	ctx, cancel := context.WithTimeout(contextOf(t), waitTime)
	defer cancel()
	var last client.Snapshot
	for last = range source.Subscribe(ctx) {
		if condition(last) {
			return last
		}
	}
	var b strings.Builder
	b.WriteString("no snapshot fulfilled the condition")
	switch {
	case last.Thread == nil:
		b.WriteString(": there was none")
	case ctx.Err() == nil:
		b.WriteString(" before the source ended, ")
	default:
		b.WriteString(" in time, ")
	}
	if last.Thread != nil {
		b.WriteString("the last one is " + last.Phase.String() + "\nThe conversation:\n")
		excerpt(&b, last.Thread, -1)
	}
	t.Errorf("%s", b.String())
	t.FailNow()
	return last
}
