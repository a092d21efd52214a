package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/serve"
)

// history records what happens with leases.
type history struct {
	mu  sync.Mutex
	ops []leaseOp
}

func (h *history) add(op leaseOp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// leaseState is what a lease may be: whose, the greatest token so far, and until when it cannot have expired.
type leaseState struct {
	nonce string
	token uint64
	until time.Time
}

// leaseModel is a lock that may expire a time after it was last renewed, with tokens that grow. What is not sure may have
// happened or not.
func leaseModel(ttl time.Duration) porcupine.Model {
	step := func(s leaseState, op leaseOp) (next []any) {
		free := s.nonce == "" || !op.ended.Before(s.until)
		mine := s.nonce == op.nonce
		held := leaseState{op.nonce, max(s.token, op.token), op.started.Add(ttl)}
		released := leaseState{token: s.token}
		add := func(ok bool, s leaseState) {
			if ok {
				next = append(next, s)
			}
		}
		switch op.kind {
		case "acquire":
			add(op.ok && free && op.token > s.token, held)
			add(!op.ok && (!op.sure || s.nonce != ""), s)
			add(!op.ok && !op.sure && free, held)
		case "renew":
			add(op.ok && mine || !op.ok && !op.sure && mine, held)
			add(!op.ok && (!op.sure || !mine || free), s)
		case "release":
			add(mine && (op.ok || !op.sure), released)
			add(!op.ok, s)
		}
		return next
	}
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byKey := map[string][]porcupine.Operation{}
			for _, op := range history {
				key := op.Input.(leaseOp).key
				byKey[key] = append(byKey[key], op)
			}
			var all [][]porcupine.Operation
			for _, ops := range byKey {
				all = append(all, ops)
			}
			return all
		},
		Init: func() []any { return []any{leaseState{}} },
		Step: func(s, op, _ any) []any { return step(s.(leaseState), op.(leaseOp)) },
	}
	return model.ToModel()
}

// linearizable checks a history.
func (h *history) linearizable(t testing.TB, ttl time.Duration) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var ops []porcupine.Operation
	for _, op := range h.ops {
		o := porcupine.Operation{Input: op, Call: op.started.UnixNano(), Return: op.ended.UnixNano()}
		if !op.sure {
			o.Return = math.MaxInt64 // it may still happen
		}
		ops = append(ops, o)
	}
	require.NotEmpty(t, ops)
	assert.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(leaseModel(ttl), ops, time.Minute), "%d operations", len(ops))
}

// Whatever its holders do, a lease is one lock: never two have it, and its tokens grow.
func TestALeaseIsLinearizable(t *testing.T) {
	url := serverOf(t, nil).URL()
	var h history
	var all sync.WaitGroup
	rounds := 12
	if testing.Short() {
		rounds = 5
	}
	taken := make(chan string, 1000)
	for i := range 4 {
		l := logOf(t, url, Options{LeaseTTL: short, Holder: fmt.Sprint(i), trace: h.add})
		r := rand.New(rand.NewPCG(uint64(i), 7))
		all.Go(func() {
			for range rounds {
				key := []string{"a", "b"}[r.IntN(2)]
				s, err := l.acquire(t.Context(), key)
				if _, busy := errors.AsType[*serve.HeldError](err); busy {
					time.Sleep(time.Duration(20+r.IntN(150)) * time.Millisecond)
					continue
				}
				if !assert.NoError(t, err) {
					return
				}
				taken <- key
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
				switch r.IntN(3) {
				case 0: // it dies
					s.end()
				case 1: // it is paused, and wakes up later than its lease
					s.end()
					<-s.ended
					time.Sleep(short + 300*time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					s.renew(ctx)
					cancel()
					assert.False(t, s.valid())
				default:
					assert.NoError(t, s.release(t.Context()))
				}
			}
		})
	}
	all.Wait()
	require.Greater(t, len(taken), 4, "it was taken again and again")
	h.linearizable(t, short)
}

// A lease that stays although nobody renews it, because the server's clock was set back, is taken all the same.
func TestALeaseThatDoesNotExpireIsTaken(t *testing.T) {
	url := serverOf(t, nil).URL()
	a, b := logOf(t, url, Options{LeaseTTL: short}), logOf(t, url, Options{LeaseTTL: short})
	for _, l := range []*Log{a, b} { // a bucket in which nothing expires
		l.leases, _ = a.js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "forever"})
	}
	s, err := a.acquire(t.Context(), "k")
	require.NoError(t, err)
	time.Sleep(2 * short)
	_, err = b.acquire(t.Context(), "k")
	var busy *serve.HeldError
	require.ErrorAs(t, err, &busy, "it is renewed")
	s.end()
	var next *lease
	eventually(t, func() bool { next, err = b.acquire(t.Context(), "k"); return err == nil }, "it is taken")
	assert.False(t, s.valid())
	assert.Greater(t, next.token, s.token)
	require.NoError(t, next.release(t.Context()))
}

// The model finds what is wrong.
func TestTheModelOfLeases(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	op := func(kind, nonce string, token uint64, from, to int) leaseOp {
		return leaseOp{key: "k", kind: kind, nonce: nonce, token: token, started: at(from), ended: at(to), ok: true, sure: true}
	}
	for _, tt := range []struct {
		name string
		ops  []leaseOp
		want porcupine.CheckResult
	}{
		{"one after the other", []leaseOp{op("acquire", "a", 1, 0, 1), op("release", "a", 1, 2, 3), op("acquire", "b", 2, 4, 5)}, porcupine.Ok},
		{"after it has expired", []leaseOp{op("acquire", "a", 1, 0, 1), op("acquire", "b", 2, 101, 102)}, porcupine.Ok},
		{"two at once", []leaseOp{op("acquire", "a", 1, 0, 1), op("acquire", "b", 2, 50, 60)}, porcupine.Illegal},
		{"a renewal that counts", []leaseOp{op("acquire", "a", 1, 0, 1), op("renew", "a", 1, 60, 61), op("acquire", "b", 2, 110, 120)}, porcupine.Illegal},
		{"a token that does not grow", []leaseOp{op("acquire", "a", 2, 0, 1), op("release", "a", 2, 2, 3), op("acquire", "b", 2, 4, 5)}, porcupine.Illegal},
		{"a renewal after another one has it", []leaseOp{op("acquire", "a", 1, 0, 1), op("acquire", "b", 2, 101, 102), op("renew", "a", 1, 103, 104)}, porcupine.Illegal},
	} {
		var ops []porcupine.Operation
		for _, o := range tt.ops {
			ops = append(ops, porcupine.Operation{Input: o, Call: o.started.UnixNano(), Return: o.ended.UnixNano()})
		}
		assert.Equal(t, tt.want, porcupine.CheckOperationsTimeout(leaseModel(100*time.Millisecond), ops, time.Minute), tt.name)
	}
}
