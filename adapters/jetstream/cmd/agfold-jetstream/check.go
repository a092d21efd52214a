package main

import (
	"context"
	"fmt"

	"github.com/agfold/agfold/adapters/jetstream"
	"github.com/agfold/agfold/adapters/jetstream/internal/audit"
)

// checkCmd checks the logs.
type checkCmd struct {
	access
	From string `help:"NATS servers." default:"nats://127.0.0.1:4222" placeholder:"URL"`
	JSON bool   `help:"Print one JSON object." name:"json"`
}

// Run checks everything that is stored, and fails if something is wrong.
func (c *checkCmd) Run(ctx context.Context, t terminal) error {
	l, _, closed, err := c.open(ctx, c.From, jetstream.Options{})
	if err != nil {
		return err
	}
	defer closed()
	log := audit.Log{Purged: true}
	threads := map[string]bool{}
	for m, err := range l.Messages(ctx) {
		if err != nil {
			return err
		}
		threads[m.Subject] = true
		log.Add(audit.Message{Subject: m.Subject, Sequence: m.Sequence, Data: m.Data})
	}
	if c.JSON {
		fmt.Fprintf(t.out, `{"threads":%d,"entries":%d,"findings":%d}`+"\n", len(threads), log.Entries(), len(log.Findings()))
	} else {
		fmt.Fprintf(t.out, "%d threads, %d entries\n", len(threads), log.Entries())
	}
	for _, finding := range log.Findings() {
		fmt.Fprintln(t.err, clean(finding))
	}
	if n := len(log.Findings()); n > 0 {
		return fmt.Errorf("%d findings", n)
	}
	return nil
}
