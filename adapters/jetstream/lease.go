package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/serve"
)

// lease is a thread's entry in the bucket of leases, which this process has made and renews. It expires at the server once
// it is not renewed for the bucket's time to live; this process counts that time from before it asked, by a clock that is
// never set, so it gives the lease up before the server does. A server whose clock was set back keeps it for longer; others
// then take it once they have seen it unchanged for one and a half times that.
type lease struct {
	log    *Log
	key    string
	text   []byte
	token  uint64 // the revision that made it: the next lease of the thread has a greater one
	lost   chan struct{}
	end    context.CancelFunc
	ended  chan struct{}
	losing sync.Once

	mu       sync.Mutex
	revision uint64
	until    time.Time
	then     func() // called once it is lost
}

// tenant is what a lease says.
type tenant struct {
	Holder  string `json:"holder"`
	Process string `json:"process"` // where it listens
	Nonce   string `json:"nonce"`   // of this lease alone
}

// leaseOp is what happened with a lease, for tests.
type leaseOp struct {
	key, kind       string // "acquire", "renew", "release"
	nonce           string
	token           uint64
	started, ended  time.Time
	ok, sure, taken bool // sure: whether ok is known; taken: somebody else has it
}

// acquire takes the lease of a thread. If another process has it, the error is a *serve.HeldError.
func (l *Log) acquire(ctx context.Context, key string) (*lease, error) {
	var nonce [9]byte
	rand.Read(nonce[:]) // never fails
	who := tenant{l.o.Holder, l.process, fmt.Sprintf("%x", nonce)}
	text, err := json.Marshal(who)
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		op := leaseOp{key: key, kind: "acquire", nonce: who.Nonce, started: time.Now()}
		within, cancel := context.WithTimeout(ctx, answer)
		revision, err := l.leases.Create(within, key, text)
		cancel()
		op.taken = errors.Is(err, jetstream.ErrKeyExists) || isConflict(err)
		op.ended, op.token, op.ok, op.sure = time.Now(), revision, err == nil, err == nil || op.taken
		if err != nil { // the answer may be about an earlier attempt of ours, or lost
			entry, failed := ask(ctx, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return l.leases.Get(ctx, key) })
			switch has, ok := tenantOf(entry, failed); {
			case ok && has.Nonce == who.Nonce:
				revision, err = entry.Revision(), nil
				op.token, op.ok, op.sure, op.taken = revision, true, true, false
			case op.taken && ok:
				l.traced(op)
				if !l.dead(key, entry.Revision()) {
					return nil, &serve.HeldError{Holder: has.Holder}
				}
				return l.inherit(ctx, key, text, entry.Revision())
			}
		}
		l.traced(op)
		if err == nil {
			return l.leased(key, text, revision, op.started), nil
		}
		if !op.taken || attempt == 3 { // taken, and then expired: once more
			return nil, err
		}
	}
}

// seen is a lease of another process.
type seen struct {
	revision uint64
	since    time.Time
}

// maxSeen bounds the leases of others that are remembered.
const maxSeen = 1000

// dead reports whether a lease has had one revision for so long, by the clock of this process, that its holder has given it up,
// even if it has not expired at the server: its clock may have been set back.
func (l *Log) dead(key string, revision uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	patience := l.o.LeaseTTL * 3 / 2
	was, known := l.others[key]
	if known && was.revision == revision {
		return time.Since(was.since) > patience
	}
	if len(l.others) >= maxSeen {
		clear(l.others) // who asks again waits a little longer
	}
	l.others[key] = seen{revision, time.Now()}
	return false
}

// inherit takes a lease whose holder is dead.
func (l *Log) inherit(ctx context.Context, key string, text []byte, dead uint64) (*lease, error) {
	op := leaseOp{key: key, kind: "acquire", nonce: nonceOf(text), started: time.Now()}
	revision, err := l.leases.Update(ctx, key, text, dead)
	op.taken = errors.Is(err, jetstream.ErrKeyRevisionMismatch)
	op.ended, op.token, op.ok, op.sure = time.Now(), revision, err == nil, err == nil
	l.traced(op)
	if op.taken {
		return nil, &serve.HeldError{}
	}
	if err != nil {
		return nil, err
	}
	return l.leased(key, text, revision, op.started), nil
}

// tenantOf reads a lease.
func tenantOf(entry jetstream.KeyValueEntry, err error) (who tenant, ok bool) {
	if err != nil {
		return who, false
	}
	return who, json.Unmarshal(entry.Value(), &who) == nil
}

func (l *Log) leased(key string, text []byte, revision uint64, since time.Time) *lease {
	l.mu.Lock()
	delete(l.others, key)
	l.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	s := &lease{
		log: l, key: key, text: text, token: revision, lost: make(chan struct{}), end: cancel, ended: make(chan struct{}),
		revision: revision, until: since.Add(l.o.LeaseTTL),
	}
	go s.keep(ctx)
	return s
}

// valid reports whether the lease is still this process's, as far as it knows.
func (s *lease) valid() bool {
	select {
	case <-s.lost:
		return false
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until.Add(-s.margin()))
}

// margin is how long before its end a lease counts as over.
func (s *lease) margin() time.Duration { return s.log.o.LeaseTTL / 8 }

// keep renews the lease until it is lost or given up.
func (s *lease) keep(ctx context.Context) {
	defer close(s.ended)
	ttl := s.log.o.LeaseTTL
	wait := ttl / 3
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !s.valid() { // the process was paused
			s.lose()
			return
		}
		within, cancel := context.WithTimeout(ctx, ttl/3)
		gone := s.renew(within)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if gone || !s.valid() {
			s.lose()
			return
		}
		s.mu.Lock()
		fresh := time.Until(s.until) > ttl-wait
		s.mu.Unlock()
		timer.Reset(map[bool]time.Duration{true: wait, false: ttl / 20}[fresh])
	}
}

// renew renews the lease, and reports whether it is somebody else's or has expired.
func (s *lease) renew(ctx context.Context) (gone bool) {
	s.mu.Lock()
	revision := s.revision
	s.mu.Unlock()
	started := time.Now()
	op := leaseOp{key: s.key, kind: "renew", nonce: nonceOf(s.text), token: s.token, started: started}
	now, err := s.log.leases.Update(ctx, s.key, s.text, revision)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		entry, failed := s.log.leases.Get(ctx, s.key)
		has, ok := tenantOf(entry, failed)
		switch {
		case ok && has.Nonce == op.nonce && entry.Revision() > revision: // an answer was lost, and its renewal counts from then
			s.mu.Lock()
			s.revision = entry.Revision()
			s.mu.Unlock()
		case ok && has.Nonce != op.nonce, errors.Is(failed, jetstream.ErrKeyNotFound):
			gone = true
		}
	}
	op.ended, op.ok, op.sure = time.Now(), err == nil, err == nil || gone
	s.log.traced(op)
	if err == nil {
		s.mu.Lock()
		s.revision, s.until = now, started.Add(s.log.o.LeaseTTL)
		s.mu.Unlock()
	}
	return gone
}

func nonceOf(text []byte) string {
	var who tenant
	_ = json.Unmarshal(text, &who)
	return who.Nonce
}

func (s *lease) lose() {
	s.losing.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.lost)
		if s.then != nil {
			go s.then()
		}
	})
}

// onLost has f called, once, when the lease is lost, or now if it is already.
func (s *lease) onLost(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.then = f
	select {
	case <-s.lost:
		go f()
	default:
	}
}

// release gives the lease up.
func (s *lease) release(ctx context.Context) error {
	s.end()
	<-s.ended
	select {
	case <-s.lost:
		return nil
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	op := leaseOp{key: s.key, kind: "release", nonce: nonceOf(s.text), token: s.token, started: time.Now()}
	err := s.log.leases.Delete(ctx, s.key, jetstream.LastRevision(s.revision))
	op.ended, op.ok, op.sure = time.Now(), err == nil, err == nil || isConflict(err)
	s.log.traced(op)
	if isConflict(err) { // it has expired, or an answer to a renewal was lost: then it expires
		return nil
	}
	return err
}

func (l *Log) traced(op leaseOp) {
	if l.o.trace != nil {
		l.o.trace(op)
	}
}

// Holder returns who holds the thread, "" if nobody does.
func (l *Log) Holder(ctx context.Context, threadID string) (string, error) {
	who, err := l.tenant(ctx, threadID)
	return who.Holder, err
}

// tenant returns who holds the thread; without a process nobody does.
func (l *Log) tenant(ctx context.Context, threadID string) (tenant, error) {
	if err := l.check(threadID); err != nil {
		return tenant{}, err
	}
	entry, err := ask(ctx, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return l.leases.Get(ctx, Token(threadID)) })
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return tenant{}, nil
	}
	if err != nil {
		return tenant{}, l.explained(err)
	}
	var who tenant
	if err := json.Unmarshal(entry.Value(), &who); err != nil {
		return tenant{}, fmt.Errorf("the lease of the thread %q cannot be read: %w", threadID, err)
	}
	return who, nil
}
