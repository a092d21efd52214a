package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// command is what another process asks for.
type command struct {
	Stop *string `json:"stop"` // the id of a thread
	By   string  `json:"by"`
}

// Stop has the process that holds the thread stop its run, and returns once that has been told. If nobody holds the thread, there
// is nothing to stop. That somebody has asked is an entry of the log.
func (l *Log) Stop(ctx context.Context, threadID string) error {
	who, err := l.tenant(ctx, threadID)
	if err != nil || who.Process == "" {
		return err
	}
	text, err := json.Marshal(command{Stop: &threadID, By: l.o.Holder})
	if err != nil {
		return err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	_, err = l.nc.RequestWithContext(ctx, l.o.control(who.Process), text)
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%q, which holds the thread, is gone; its lease expires within %v", who.Holder, l.o.LeaseTTL)
	}
	return l.explained(err)
}

// command carries out what another process asks for.
func (l *Log) command(m *nats.Msg) {
	var c command
	if json.Unmarshal(m.Data, &c) == nil && c.Stop != nil {
		l.mu.Lock()
		h := l.holds[*c.Stop]
		l.mu.Unlock()
		if h != nil {
			h.stop(c.By)
		}
	}
	_ = m.Respond(nil)
}
