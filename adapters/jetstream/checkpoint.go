package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
)

// mark is where a checkpoint is in the stream.
type mark struct {
	Sequence uint64 // of the last entry in it; 0 without a checkpoint
	Start    uint64 // of its first part
	End      uint64 // of its last part
	last     uint64 // of the last message of the checkpoints' subject, which may belong to one that was not completed
	size     int    // bytes
}

// restore reads the newest complete checkpoint of a thread. One that cannot be read counts as none.
func (l *Log) restore(ctx context.Context, token string) (*entry.Replica, mark, error) {
	var m mark
	last, err := l.lastMessage(ctx, l.o.checkpoints(token))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return new(entry.Replica), m, nil
	}
	if err != nil {
		return nil, m, err
	}
	m.last = last.Sequence
	replica, err := l.restoreFrom(ctx, last, &m)
	if err != nil && ctx.Err() == nil {
		l.o.log().Warn("a checkpoint cannot be read", "thread", token, "sequence", last.Sequence, "reason", err.Error())
		return new(entry.Replica), mark{last: last.Sequence}, nil
	}
	return replica, m, err
}

// restoreFrom reads the checkpoint whose last part is given, or the one before if that is not complete.
func (l *Log) restoreFrom(ctx context.Context, last *jetstream.RawStreamMsg, m *mark) (*entry.Replica, error) {
	h, rest, err := entry.ParseHeader(last.Data)
	if err != nil {
		return nil, err
	}
	if !h.Last() {
		if h.Previous == 0 {
			return new(entry.Replica), nil
		}
		if last, err = l.stream.GetMsg(ctx, h.Previous); err != nil {
			return nil, err
		}
		if h, rest, err = entry.ParseHeader(last.Data); err != nil {
			return nil, err
		}
	}
	if h.Parts > 1 {
		if rest, err = l.parts(ctx, last.Subject, h, last.Sequence); err != nil {
			return nil, err
		}
	}
	replica, err := entry.Restore(h, rest)
	if err != nil {
		return nil, err
	}
	m.Sequence, m.Start, m.End, m.size = h.Sequence, max(h.Start, 1), last.Sequence, len(rest)
	if h.Parts == 1 {
		m.Start = last.Sequence
	}
	return replica, nil
}

// parts puts the parts of a checkpoint together, of which the header of the last one is given.
func (l *Log) parts(ctx context.Context, subject string, last entry.Header, end uint64) ([]byte, error) {
	messages, err := l.messages(ctx, subject, last.Start)
	if err != nil {
		return nil, err
	}
	defer messages.Stop()
	var all []byte
	for next := 0; ; {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return nil, err
		}
		meta, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		h, rest, err := entry.ParseHeader(m.Data())
		switch {
		case err != nil:
			return nil, err
		case meta.Sequence.Stream > end || h.Part != next || h.Token != last.Token || h.Sequence != last.Sequence:
			return nil, fmt.Errorf("its part %d of %d is missing", next+1, last.Parts)
		case len(all)+len(rest) > l.o.MaxEntryBytes:
			return nil, fmt.Errorf("it has more than %d bytes", l.o.MaxEntryBytes)
		}
		all = append(all, rest...)
		if next++; next == last.Parts {
			return all, nil
		}
	}
}

// checkpoint stores a checkpoint, and purges what nobody needs after that.
func (h *Hold) checkpoint(ctx context.Context, c *entry.Checkpoint, sequence uint64) error {
	l, before := h.log, h.mark
	head := c.Header
	head.Sequence, head.Previous, head.At = sequence, before.End, l.o.now()
	head.Count = 1
	text := c.Append(nil)
	now := mark{Sequence: sequence, last: before.last, size: len(text)}
	for _, part := range entry.Split(head, text, l.most) {
		part.Header.Start = now.Start
		ack, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: l.o.checkpoints(h.token), Data: part.Encode()},
			jetstream.WithExpectLastSequencePerSubject(now.last), jetstream.WithRetryAttempts(0))
		if err != nil {
			h.mark.last = l.lastOf(ctx, l.o.checkpoints(h.token), now.last)
			return err
		}
		if now.last, now.End = ack.Sequence, ack.Sequence; now.Start == 0 {
			now.Start = ack.Sequence
		}
	}
	h.mark = now
	if l.o.KeepLog || before.Sequence == 0 {
		return nil
	}
	err := l.stream.Purge(ctx, jetstream.WithPurgeSubject(l.o.entries(h.token)), jetstream.WithPurgeSequence(before.Sequence))
	if err == nil {
		err = l.stream.Purge(ctx, jetstream.WithPurgeSubject(l.o.checkpoints(h.token)), jetstream.WithPurgeSequence(before.Start))
	}
	return err
}

// lastOf returns the sequence of the last message of a subject, or what is known of it.
func (l *Log) lastOf(ctx context.Context, subject string, known uint64) uint64 {
	last, err := l.lastMessage(ctx, subject)
	if err != nil {
		return known
	}
	return last.Sequence
}
