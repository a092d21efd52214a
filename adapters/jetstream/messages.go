package jetstream

import (
	"context"
	"errors"
	"iter"

	"github.com/nats-io/nats.go/jetstream"
)

// Message is one message of the log of a thread, as it is stored.
type Message struct {
	Subject  string
	Sequence uint64
	Data     []byte
}

// Messages returns all messages of the logs of all threads that are stored now, in the order of the stream, without
// checkpoints; for a program that checks or copies the log. An error comes alone and last.
func (l *Log) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if err := l.eachMessage(ctx, func(m Message) bool { return yield(m, nil) }); err != nil {
			yield(Message{}, l.explained(err))
		}
	}
}

func (l *Log) eachMessage(ctx context.Context, do func(Message) bool) error {
	subject := l.o.entries(">")
	last, err := l.lastMessage(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.between(ctx, subject, 1, last.Sequence, do)
}
