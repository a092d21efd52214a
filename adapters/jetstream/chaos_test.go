package jetstream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// chaosLease is the lease of the chaos, in which writers die often.
const chaosLease = 2 * time.Second

// chaos is a cluster, threads, and processes that want to write them.
type chaos struct {
	t       *testing.T
	servers []*embedded.Server
	urls    string
	history history
	watch   *Log
	ids     []string
	stopped atomic.Bool
	done    map[string]*atomic.Int64 // runs that were stored, by thread

	mu     sync.Mutex
	stored map[string][]string // the messages of users that were stored for sure, by thread
	lives  map[string]*life    // who holds a thread
}

// life is a process that holds a thread.
type life struct {
	log *Log
	die chan struct{}
}

func (c *chaos) options() Options {
	return Options{
		Replicas: 3, LeaseTTL: chaosLease, CheckpointBytes: 20_000, KeepLog: true, StuckAfter: 30 * time.Second, Logger: quiet, trace: c.history.add,
	}
}

// log returns a log of a process of its own.
func (c *chaos) log(holder string) (*Log, error) {
	nc, err := Connect(c.urls)
	if err != nil {
		return nil, err
	}
	o := c.options()
	o.Holder = holder
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := New(ctx, nc, &o)
	if err != nil {
		nc.Close()
	}
	return l, err
}

// contend is a process that takes the thread whenever it can, runs a few times and gives it up, until it is killed; then
// another one takes its place.
func (c *chaos) contend(id string, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	for n := 0; !c.stopped.Load(); n++ {
		l, err := c.log(fmt.Sprint(id, "/", seed, "/", n))
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for alive := true; alive && !c.stopped.Load(); {
			h, err := l.Hold(context.Background(), id)
			if err != nil {
				time.Sleep(time.Duration(50+r.IntN(100)) * time.Millisecond)
				continue
			}
			alive = c.live(id, l, h, r)
		}
		l.nc.Close()
	}
}

// live runs the agent on a thread. It returns false if the process was killed.
func (c *chaos) live(id string, l *Log, h *Hold, r *rand.Rand) bool {
	me := &life{l, make(chan struct{})}
	c.mu.Lock()
	c.lives[id] = me
	c.mu.Unlock()
	s := h.Session(says(20, func(ctx context.Context) error {
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		return ctx.Err()
	}), &client.SessionOptions{OnWarning: func(event.Warning) {}})
	defer s.Close()
	for range 2 + r.IntN(6) {
		ended := make(chan struct{})
		name := fmt.Sprintf("u-%s-%d", Token(id), r.Uint64())
		go func() {
			defer close(ended)
			_, _ = s.Send(context.Background(), &messages.Message{ID: name, Role: messages.RoleUser, Content: messages.Text("Hi")})
			if h.Save(context.Background(), s.Thread) == nil {
				c.mu.Lock()
				c.stored[id] = append(c.stored[id], name)
				c.mu.Unlock()
				c.done[id].Add(1)
			}
		}()
		select {
		case <-ended:
		case <-me.die:
			crash(l)
			<-ended
			_ = h.Close()
			return false
		}
		if h.Err() != nil || c.stopped.Load() {
			break
		}
	}
	s.Close()
	_ = h.Close()
	time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond) // for the others
	return true
}

// leader returns the server that leads the stream, or one that does not.
func (c *chaos) leader(is bool) *embedded.Server {
	for _, s := range c.servers {
		if s.NATS().JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, "AGFOLD") == is {
			return s
		}
	}
	return nil
}

// whole waits until all servers have everything.
func (c *chaos) whole() {
	eventually(c.t, func() bool {
		for _, name := range []string{"AGFOLD", "KV_AGFOLD_leases"} {
			ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
			stream, err := c.watch.js.Stream(ctx, name)
			cancel()
			if err != nil || stream.CachedInfo().Cluster == nil || len(stream.CachedInfo().Cluster.Replicas) != 2 {
				return false
			}
			for _, peer := range stream.CachedInfo().Cluster.Replicas {
				if !peer.Current || peer.Offline {
					return false
				}
			}
		}
		return true
	}, "all servers have everything")
}

// round lets something die, and waits until every thread goes on all the same.
func (c *chaos) round(r *rand.Rand) string {
	before := map[string]int64{}
	for _, id := range c.ids {
		before[id] = c.done[id].Load()
	}
	kind := []string{"leader", "follower", "writer"}[r.IntN(3)]
	switch kind {
	case "writer":
		c.mu.Lock()
		id := c.ids[r.IntN(len(c.ids))]
		if l := c.lives[id]; l != nil {
			close(l.die)
			delete(c.lives, id)
		}
		c.mu.Unlock()
	default:
		var victim *embedded.Server
		eventually(c.t, func() bool { victim = c.leader(kind == "leader"); return victim != nil }, "there is a %s", kind)
		victim.Kill()
		time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		require.NoError(c.t, victim.Restart())
		c.whole()
	}
	for _, id := range c.ids {
		for until := time.Now().Add(2 * time.Minute); c.done[id].Load() <= before[id]; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(until) {
				holder, err := c.watch.Holder(c.t.Context(), id)
				text := make([]byte, 1<<20)
				require.Failf(c.t, "a thread does not go on", "%s, after the %s has died; it is held by %q (%v); %s", id, kind, holder, err, text[:runtime.Stack(text, true)])
			}
		}
	}
	return kind
}

// Whatever dies while runs go on, no entry is lost or doubled, every follower has the same thread, and never two hold a lease.
// AGFOLD_JETSTREAM_ROUNDS and AGFOLD_JETSTREAM_SEED make it longer and another one.
func TestWhateverDies(t *testing.T) {
	rounds, seed := 3, uint64(1)
	if testing.Short() {
		rounds = 1
	}
	if n, err := strconv.Atoi(os.Getenv("AGFOLD_JETSTREAM_ROUNDS")); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("AGFOLD_JETSTREAM_SEED"), 10, 64); err == nil {
		seed = n
	}
	servers, err := embedded.Cluster(3, nil)
	require.NoError(t, err)
	c := &chaos{t: t, servers: servers, ids: []string{"one", "two"}, stored: map[string][]string{}, lives: map[string]*life{}, done: map[string]*atomic.Int64{}}
	t.Cleanup(func() {
		for _, s := range servers {
			s.Stop()
		}
	})
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	c.urls = strings.Join(urls, ",")
	eventually(t, func() bool { c.watch, err = c.log("watch"); return err == nil }, "the stream is made")
	t.Cleanup(c.watch.nc.Close)
	var followers []*Follower
	for _, id := range c.ids {
		c.done[id] = new(atomic.Int64)
		for range 2 {
			followers = append(followers, c.watch.Watch(t.Context(), id, nil))
		}
	}
	var all sync.WaitGroup
	for i, id := range c.ids {
		for j := range 2 {
			all.Go(func() { c.contend(id, seed*100+uint64(10*i+j)) })
		}
	}
	kinds := map[string]int{}
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range rounds {
		began := time.Now()
		kind := c.round(r)
		kinds[kind]++
		t.Logf("round %d: a %s died, %v", n, kind, time.Since(began).Round(time.Millisecond))
		if n%20 == 19 {
			t.Logf("%d rounds: %v", n+1, kinds)
		}
	}
	c.stopped.Store(true)
	all.Wait()
	t.Log("all writers have ended")
	c.whole()
	c.judge(followers)
	t.Logf("%d rounds: %v; %d and %d runs were stored", rounds, kinds, c.done["one"].Load(), c.done["two"].Load())
}

// judge looks at what is there in the end.
func (c *chaos) judge(followers []*Follower) {
	t := c.t
	assert.Empty(t, findings(t, c.watch))
	c.history.linearizable(t, chaosLease)
	for i, id := range c.ids {
		read, err := c.watch.load(t.Context(), id)
		require.NoError(t, err)
		th := read.replica.Snapshot().Thread
		want := string(th.AppendJSON(nil))
		for _, f := range followers[2*i : 2*i+2] {
			eventually(t, func() bool { return string(f.Snapshot().AppendJSON(nil)) == want }, "every follower of %s has the thread", id)
			assert.Empty(t, f.Gap())
		}
		held := map[string]bool{}
		for _, m := range th.Messages.All() {
			held[m.ID] = true
		}
		for _, name := range c.stored[id] {
			assert.True(t, held[name], "%s was stored, and is not in the thread", name)
		}
	}
}
