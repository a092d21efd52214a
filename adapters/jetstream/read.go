package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
)

// errMissing is returned for a message before which entries are missing.
var errMissing = errors.New("entries before it are missing")

// reader reads the messages of one log into a replica.
type reader struct {
	replica *entry.Replica
	most    int                             // bytes of the entries of one message
	skipped func(seq uint64, reason string) // is told of what is not read
	each    func(do func())                 // is called with each entry, to apply it; nil applies it
	damage  func(seq uint64, reason string) // is told that the thread was cut
	parts   []byte                          // of a message that is not complete
	head    entry.Header                    // of its first part
}

// message reads a message. It returns errMissing, and has read nothing, if entries before it are missing.
func (r *reader) message(seq uint64, data []byte) error {
	h, rest, err := entry.ParseHeader(data)
	if err == nil && h.Checkpoint() {
		err = errors.New("it is a checkpoint")
	}
	if err != nil {
		r.skipped(seq, err.Error())
		return nil
	}
	p := r.replica
	switch {
	case h.Token < p.Token:
		r.skipped(seq, fmt.Sprintf("its writer, %d, has a successor, %d", h.Token, p.Token))
		return nil
	case h.Token > p.Token && h.First != 0, h.Token == p.Token && h.First > p.Next:
		return errMissing
	case h.Token == p.Token && h.First < p.Next:
		r.skipped(seq, fmt.Sprintf("its entries, from %d, were read before", h.First))
		return nil
	}
	if h.Parts > 1 {
		if rest = r.part(seq, h, rest); rest == nil {
			return nil
		}
	}
	r.parts, r.head = nil, entry.Header{}
	if opens := bytes.HasPrefix(rest, []byte(`{"open":`)); h.Token > p.Token && !opens {
		r.skipped(seq, "its writer does not say who it is")
		return nil
	}
	r.entries(seq, h, rest)
	p.Token, p.Next = h.Token, h.First+uint64(h.Count)
	return nil
}

// part puts the parts of a message together, and returns all once the last one has come.
func (r *reader) part(seq uint64, h entry.Header, rest []byte) []byte {
	same := r.head.Token == h.Token && r.head.First == h.First && r.head.Parts == h.Parts
	switch {
	case h.Part == 0:
		r.head, r.parts = h, nil
	case !same || r.head.Part+1 != h.Part:
		r.skipped(seq, fmt.Sprintf("it is part %d of %d, and the one before did not come", h.Part+1, h.Parts))
		return nil
	}
	if len(r.parts)+len(rest) > r.most {
		r.head = entry.Header{}
		r.cut(seq, fmt.Sprintf("its entries have more than %d bytes", r.most))
		return nil
	}
	r.head.Part, r.parts = h.Part, append(r.parts, rest...)
	if !h.Last() {
		return nil
	}
	return r.parts
}

// entries applies the entries of a message.
func (r *reader) entries(seq uint64, h entry.Header, lines []byte) {
	count := 0
	for line := range bytes.Lines(lines) {
		count++
		var err error
		apply := func() { err = r.replica.Apply(bytes.TrimSuffix(line, []byte{'\n'})) }
		if r.each == nil {
			apply()
		} else {
			r.each(apply)
		}
		if err != nil {
			r.cut(seq, err.Error())
			return
		}
	}
	if count != h.Count {
		r.cut(seq, fmt.Sprintf("it has %d entries, not %d", count, h.Count))
	}
}

// cut breaks the thread off.
func (r *reader) cut(seq uint64, reason string) {
	damage := func() { r.replica.Damage(&DamageError{seq, reason}) }
	if r.each == nil {
		damage()
	} else {
		r.each(damage)
	}
	r.damage(seq, reason)
}

// missing goes on with a message before which entries are missing.
func (r *reader) missing(seq uint64, data []byte) {
	h, _, _ := entry.ParseHeader(data)
	r.cut(seq, errMissing.Error())
	r.replica.Token, r.replica.Next, r.parts = h.Token, h.First, nil
	if h.Part == 0 {
		_ = r.message(seq, data)
	} else {
		r.replica.Next += uint64(h.Count)
	}
}

// loaded is a log as it was read.
type loaded struct {
	reader
	last  uint64 // the sequence of its last message, 0 without one
	since int    // bytes since the checkpoint
	mark  mark
}

// load reads a thread's log, from the newest checkpoint on.
func (l *Log) load(ctx context.Context, threadID string) (*loaded, error) {
	token := Token(threadID)
	replica, m, err := l.restore(ctx, token)
	if err != nil {
		return nil, err
	}
	log := l.o.log().With("thread", threadID)
	r := &loaded{mark: m, reader: reader{
		replica: replica, most: l.o.MaxEntryBytes,
		skipped: func(seq uint64, reason string) {
			log.Warn("an entry of a thread is skipped", "sequence", seq, "reason", reason)
		},
		damage: func(seq uint64, reason string) { log.Warn("a thread was cut", "sequence", seq, "reason", reason) },
	}}
	last, err := l.lastMessage(ctx, l.o.entries(token))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.last = last.Sequence
	if err := l.readAfter(ctx, r, m.Sequence, last); err != nil {
		return nil, err
	}
	return r, nil
}

// readAfter reads the messages after a sequence up to the last one.
func (l *Log) readAfter(ctx context.Context, r *loaded, after uint64, last *jetstream.RawStreamMsg) error {
	take := func(seq uint64, data []byte) {
		r.since += len(data)
		if r.message(seq, data) != nil {
			r.missing(seq, data)
		}
	}
	if last.Sequence <= after {
		return nil
	}
	first, err := ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.stream.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(last.Subject))
	})
	if err == nil && first.Sequence == last.Sequence {
		take(last.Sequence, last.Data)
		return nil
	}
	return l.between(ctx, last.Subject, after+1, last.Sequence, func(m Message) bool {
		take(m.Sequence, m.Data)
		return true
	})
}

// between calls do with the messages of a subject whose sequences are from first to last, in order, until do returns false.
func (l *Log) between(ctx context.Context, subject string, first, last uint64, do func(Message) bool) error {
	messages, err := l.messages(ctx, subject, first)
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		seq := meta.Sequence.Stream
		if seq > last || !do(Message{m.Subject(), seq, m.Data()}) || seq == last {
			return nil
		}
	}
}

// tail is messages as they come, in order.
type tail struct {
	jetstream.MessagesContext
	stop func()
}

// Stop ends the messages, and what the server has for them.
func (t *tail) Stop() {
	t.MessagesContext.Stop()
	t.stop()
}

// unread is how long the server keeps what it has for a reader that is gone.
const unread = 30 * time.Second

// heartbeat is how often a server breaks its silence. After twice that a reader counts it as lost, and begins anew where it was,
// at another one.
const heartbeat = 2 * time.Second

// messages returns the messages of a subject from a sequence on, in order, as they come.
func (l *Log) messages(ctx context.Context, subject string, from uint64) (*tail, error) {
	c, err := ask(ctx, func(ctx context.Context) (jetstream.Consumer, error) {
		return l.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
			FilterSubjects: []string{subject}, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, InactiveThreshold: unread,
		})
	})
	if err != nil {
		return nil, err
	}
	messages, err := c.Messages(jetstream.PullExpiry(30*time.Second), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return nil, err
	}
	return &tail{messages, func() {
		if info := c.CachedInfo(); info != nil { // nobody waits for the answer: it would end by itself too
			_ = l.nc.Publish("$JS.API.CONSUMER.DELETE."+l.o.Name+"."+info.Name, nil)
		}
	}}, nil
}

// answer is how long a request waits before it is sent again: the server that was to answer it may be gone.
const answer = 3 * time.Second

// ask asks again for what has no effect, until there is an answer or ctx ends.
func ask[T any](ctx context.Context, do func(ctx context.Context) (T, error)) (T, error) {
	for {
		within, cancel := context.WithTimeout(ctx, answer)
		v, err := do(within)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) {
			return v, err
		}
	}
}

// lastMessage returns the last message of a subject.
func (l *Log) lastMessage(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	return ask(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.stream.GetLastMsgForSubject(ctx, subject)
	})
}
