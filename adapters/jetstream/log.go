package jetstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/serve"
)

// Log is the threads of a stream. It is a [serve.Store], a [serve.Follower] and a [serve.Stopper]. All methods may be called
// concurrently. A thread that nobody here holds or watches costs nothing.
type Log struct {
	o       Options
	nc      *nats.Conn
	js      jetstream.JetStream
	stream  jetstream.Stream
	leases  jetstream.KeyValue
	process string // names this Log among all
	control *nats.Subscription
	most    int // bytes of entries in one message

	mu     sync.Mutex
	holds  map[string]*Hold
	others map[string]seen // leases of other processes, by key
	closed bool
}

var (
	_ serve.Follower = (*Log)(nil)
	_ serve.Stopper  = (*Log)(nil)
)

// Connect connects to servers, as nats.Connect does, with a name, and tries again for ever once it was connected. Errors say
// what to do: see [*AccessError]. The caller closes the connection.
func Connect(url string, o ...nats.Option) (*nats.Conn, error) {
	o = append([]nats.Option{nats.Name("agfold"), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(5 * time.Second)}, o...)
	nc, err := nats.Connect(url, o...)
	if err != nil {
		return nil, advised(err)
	}
	return nc, nil
}

// New returns the log over a connection, which stays the caller's. It makes the stream and the bucket of leases unless they
// exist. Errors are a [*ConfigError], an [*AccessError], a [*FullError], or those of the connection.
func New(ctx context.Context, nc *nats.Conn, o *Options) (*Log, error) {
	filled, err := o.filled()
	if err != nil {
		return nil, err
	}
	l := &Log{o: filled, nc: nc, holds: make(map[string]*Hold), others: make(map[string]seen)}
	var name [9]byte
	rand.Read(name[:]) // never fails
	l.process = hex.EncodeToString(name[:])
	l.most = int(min(max(nc.MaxPayload(), 1<<14)-1<<13, 512<<10))
	if l.js, err = jetstream.New(nc); err != nil {
		return nil, err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
	}
	if err := l.open(ctx); err != nil {
		return nil, l.explained(err)
	}
	l.control, err = nc.Subscribe(l.o.control(l.process), l.command)
	return l, err
}

// open finds or makes the stream and the bucket.
func (l *Log) open(ctx context.Context) (err error) {
	want := l.o.stream()
	l.stream, err = l.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) && !l.o.Existing {
		l.stream, err = l.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
			l.stream, err = l.js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("the stream %s: %w", want.Name, err)
	}
	if !l.o.Existing {
		if err := differs(want, l.stream.CachedInfo().Config); err != nil {
			return err
		}
	}
	bucket := l.o.bucket()
	l.leases, err = l.js.KeyValue(ctx, bucket.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) && !l.o.Existing {
		l.leases, err = l.js.CreateKeyValue(ctx, bucket)
		if errors.Is(err, jetstream.ErrBucketExists) {
			l.leases, err = l.js.KeyValue(ctx, bucket.Bucket)
		}
	}
	if err != nil {
		return fmt.Errorf("the bucket %s: %w", bucket.Bucket, err)
	}
	status, err := l.leases.Status(ctx)
	if err != nil {
		return fmt.Errorf("the bucket %s: %w", bucket.Bucket, err)
	}
	switch ttl := status.TTL(); {
	case l.o.Existing && ttl > 0:
		l.o.LeaseTTL = ttl
	case ttl != l.o.LeaseTTL:
		return &ConfigError{bucket.Bucket, "time to live", ttl.String(), l.o.LeaseTTL.String()}
	}
	return nil
}

// differs says how a stream is not what is wanted, as far as it matters.
func differs(want, have jetstream.StreamConfig) error {
	for _, c := range []struct{ field, have, want string }{
		{"subjects", strings.Join(have.Subjects, " "), strings.Join(want.Subjects, " ")},
		{"retention", have.Retention.String(), want.Retention.String()},
		{"discard policy", have.Discard.String(), want.Discard.String()},
		{"storage", have.Storage.String(), want.Storage.String()},
		{"number of replicas", fmt.Sprint(have.Replicas), fmt.Sprint(want.Replicas)},
		{"maximum of bytes", fmt.Sprint(have.MaxBytes), fmt.Sprint(want.MaxBytes)},
		{"maximum of messages", fmt.Sprint(have.MaxMsgs), fmt.Sprint(want.MaxMsgs)},
		{"maximum of messages per subject", fmt.Sprint(have.MaxMsgsPerSubject), fmt.Sprint(want.MaxMsgsPerSubject)},
		{"maximum of age", have.MaxAge.String(), want.MaxAge.String()},
	} {
		if c.have != c.want {
			return &ConfigError{want.Name, c.field, c.have, c.want}
		}
	}
	return nil
}

// explained returns the error with what the connection says was refused, if it was: a request without permission gets no
// answer.
func (l *Log) explained(err error) error {
	if err == nil {
		return nil
	}
	if last := l.nc.LastError(); last != nil && errors.Is(last, nats.ErrPermissionViolation) &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders)) {
		return advised(last)
	}
	return advised(err)
}

// check returns an error if the Log is closed or the id cannot be one.
func (l *Log) check(threadID string) error {
	if len(threadID) > maxThreadID {
		return fmt.Errorf("the id of the thread has %d bytes; the limit is %d", len(threadID), maxThreadID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	return nil
}

// Open takes the thread for this process; it is [Log.Hold] for a [serve.Threads].
func (l *Log) Open(ctx context.Context, threadID string) (serve.Stored, error) {
	h, err := l.Hold(ctx, threadID)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Close gives up all threads of this process and stops listening. The connection stays open. It returns the first error.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	var holds []*Hold
	for _, h := range l.holds {
		holds = append(holds, h)
	}
	l.mu.Unlock()
	var err error
	for _, h := range holds {
		err = cmp.Or(h.Close(), err)
	}
	return cmp.Or(err, l.control.Unsubscribe())
}
