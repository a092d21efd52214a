package subscribe_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/subscribe"
)

// view is a snapshot as the tests use it: never changed once it exists.
type view struct {
	N    int       // how many changes were made
	Made time.Time // when the last of them was
}

// producer counts, one goroutine at a time, and is what a hub's snapshots show.
type producer struct {
	mu    sync.Mutex
	now   view
	taken atomic.Int64 // snapshots taken
	hub   *subscribe.Hub[*view]
}

func newProducer() *producer {
	p := &producer{}
	p.hub = subscribe.NewHub(&p.mu, func() *view {
		p.taken.Add(1)
		v := p.now
		return &v
	})
	return p
}

// change makes one change and hands it over.
func (p *producer) change(ctx context.Context) error {
	p.mu.Lock()
	p.now = view{N: p.now.N + 1, Made: time.Now()}
	p.hub.Changed()
	p.mu.Unlock()
	return p.hub.Flush(ctx)
}

// changes makes n changes.
func (p *producer) changes(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := p.change(context.Background()); err != nil {
			require.NoError(t, err)
		}
	}
}

// rest receives until c is closed and returns the numbers.
func rest(c <-chan *view) []int {
	var got []int
	for v := range c {
		got = append(got, v.N)
	}
	return got
}

// upTo returns from, from+1, …, to.
func upTo(from, to int) []int {
	var all []int
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

func TestChangedWithoutConsumers(t *testing.T) {
	t.Run("takes no snapshot and does not allocate without a subscription", func(t *testing.T) {
		p := newProducer()
		assert.Zero(t, testing.AllocsPerRun(1000, func() { p.changes(t, 1) }))
		assert.Zero(t, p.taken.Load())
	})
	t.Run("does not allocate while the only consumer is away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := newProducer()
			p.hub.Latest(ctx)
			p.changes(t, 1)
			synctest.Wait() // the subscription has seen that its consumer is away
			before := p.taken.Load()
			assert.Zero(t, testing.AllocsPerRun(1000, func() {
				p.mu.Lock()
				p.hub.Changed()
				p.mu.Unlock()
			}))
			assert.LessOrEqual(t, p.taken.Load()-before, int64(1), "no time has passed, so there is no refresh")
		})
	})
}

func TestClose(t *testing.T) {
	t.Run("twice is once", func(t *testing.T) {
		p := newProducer()
		c := p.hub.Latest(t.Context())
		p.hub.Close()
		p.hub.Close()
		assert.Equal(t, []int{0}, rest(c))
	})
	t.Run("makes later changes invisible", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newProducer()
			p.changes(t, 3)
			latest := p.hub.Latest(t.Context())
			every := p.hub.Every(t.Context(), nil)
			p.hub.Close()
			p.changes(t, 3)
			assert.Equal(t, []int{3}, rest(latest))
			assert.Equal(t, []int{3}, rest(every.C))
			assert.Equal(t, []int{3}, rest(p.hub.Latest(t.Context())))
			assert.Equal(t, []int{3}, rest(p.hub.Every(t.Context(), nil).C))
		})
	})
	t.Run("detaches each Every from a context that lives on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx := &hookContext{Context: context.Background(), done: make(chan struct{})}
			p := newProducer()
			every := p.hub.Every(ctx, nil)
			failed := p.hub.Every(ctx, &subscribe.EveryOptions{Buffer: 1, Full: subscribe.Fail})
			assert.EqualValues(t, 2, ctx.hooks.Load())
			p.changes(t, 1)
			synctest.Wait()
			assert.EqualValues(t, 1, ctx.hooks.Load(), "an Every that failed is detached at once")
			p.hub.Close()
			synctest.Wait()
			assert.Zero(t, ctx.hooks.Load())
			assert.Equal(t, []int{0, 1}, rest(every.C))
			assert.Equal(t, []int{0}, rest(failed.C))
		})
	})
	t.Run("the context that ends afterwards drops nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := newProducer()
			latest := p.hub.Latest(ctx)
			every := p.hub.Every(ctx, nil)
			p.changes(t, 1)
			p.hub.Close()
			synctest.Wait()
			cancel()
			synctest.Wait()
			assert.Equal(t, []int{1}, rest(latest))
			assert.Equal(t, []int{0, 1}, rest(every.C))
			assert.NoError(t, every.Err())
		})
	})
}

// hookContext never ends and counts the functions that wait for its end.
type hookContext struct {
	context.Context
	done  chan struct{}
	hooks atomic.Int64
}

func (c *hookContext) Done() <-chan struct{} { return c.done }

func (c *hookContext) AfterFunc(func()) (stop func() bool) {
	c.hooks.Add(1)
	var once atomic.Bool
	return func() bool {
		first := once.CompareAndSwap(false, true)
		if first {
			c.hooks.Add(-1)
		}
		return first
	}
}

func TestEveryKindAtOnceUnderRealScheduling(t *testing.T) {
	const changes, consumers = 20_000, 4
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := newProducer()
	var all sync.WaitGroup
	for range consumers {
		all.Go(func() { // subscribes while the producer is at work
			last := -1
			for v := range p.hub.Latest(ctx) {
				assert.Greater(t, v.N, last, "each is newer than the one before")
				last = v.N
			}
			assert.Equal(t, changes, last, "the final one arrives")
		})
		all.Go(func() {
			got := rest(p.hub.Every(ctx, nil).C)
			if assert.NotEmpty(t, got) {
				assert.Equal(t, upTo(got[0], changes), got, "no gap and no repetition")
			}
		})
		all.Go(func() {
			for range 50 { // comes and goes
				own, leave := context.WithCancel(ctx)
				c := p.hub.Latest(own)
				<-c
				leave()
				rest(c)
			}
		})
		all.Go(func() {
			for _, full := range []subscribe.Policy{subscribe.Block, subscribe.DropOldest, subscribe.Fail} {
				for range 20 {
					own, leave := context.WithCancel(ctx)
					r := p.hub.Every(own, &subscribe.EveryOptions{Buffer: 1, Full: full})
					<-r.C
					leave()
					rest(r.C)
				}
			}
		})
	}
	p.changes(t, changes)
	p.hub.Close()
	all.Wait()
}
