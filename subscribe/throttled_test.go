package subscribe_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestThrottled(t *testing.T) {
	const interval = 100 * time.Millisecond
	bubble := func(name string, run func(t *testing.T, p *producer, ctx context.Context, cancel func())) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				run(t, newProducer(), ctx, cancel)
			})
		})
	}
	bubble("the first at once, then one per interval, the final one too", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		go func() {
			for range 1050 { // one each millisecond
				time.Sleep(time.Millisecond)
				p.changes(t, 1)
			}
			p.hub.Close()
		}()
		start := time.Now()
		var got []int
		var at []time.Duration
		for v := range p.hub.Throttled(ctx, interval) {
			got = append(got, v.N)
			at = append(at, time.Since(start))
		}
		assert.Zero(t, at[0])
		assert.Len(t, got, 12, "0, then ten, then the final one")
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], interval)
			assert.InDelta(t, min(at[i].Milliseconds(), 1050), got[i], 1, "what arrives is new")
		}
		assert.Equal(t, 1050, got[len(got)-1])
	})
	bubble("a single change inside the interval arrives at its end", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		start := time.Now()
		assert.Equal(t, 0, (<-c).N)
		p.changes(t, 1)
		assert.Equal(t, 1, (<-c).N)
		assert.Equal(t, interval, time.Since(start))
	})
	bubble("a change after a quiet time arrives at once", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		<-c
		time.Sleep(time.Minute)
		start := time.Now()
		p.changes(t, 1)
		assert.Equal(t, 1, (<-c).N)
		assert.Zero(t, time.Since(start))
	})
	bubble("a slow consumer gets what was there an interval ago or less", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		for range 3 {
			for range 1050 {
				time.Sleep(time.Millisecond)
				p.changes(t, 1)
			}
			assert.LessOrEqual(t, time.Since((<-c).Made), interval+interval/8)
		}
	})
	bubble("it takes one snapshot for each that it delivers", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		received := int64(0)
		go func() {
			for range c {
				received++
			}
		}()
		for range 100_000 { // 10 s, 100 intervals
			time.Sleep(100 * time.Microsecond)
			p.changes(t, 1)
		}
		synctest.Wait()
		assert.InDelta(t, 101, received, 1)
		assert.Equal(t, received, p.taken.Load())
	})
	bubble("a consumer that is away costs fewer and fewer snapshots", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
		c := p.hub.Throttled(ctx, time.Millisecond)
		for range 3600 {
			time.Sleep(time.Second)
			p.changes(t, 1)
		}
		assert.Less(t, p.taken.Load(), int64(250))
		cancel()
		synctest.Wait()
		assert.Empty(t, rest(c))
	})
	bubble("no interval sets no limit", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		start := time.Now()
		c := p.hub.Throttled(ctx, 0)
		for n := range 5 {
			assert.Equal(t, n, (<-c).N)
			p.changes(t, 1)
		}
		assert.Zero(t, time.Since(start))
	})
	bubble("a hub that closes while the consumer is away loses nothing", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		p.changes(t, 5)
		p.hub.Close()
		time.Sleep(time.Minute)
		assert.Equal(t, []int{5}, rest(c))
	})
	bubble("a hub that is closed already gives the final snapshot", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		p.changes(t, 5)
		p.hub.Close()
		assert.Equal(t, []int{5}, rest(p.hub.Throttled(ctx, interval)))
	})
	bubble("a hub that closes without a change repeats nothing", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := p.hub.Throttled(ctx, interval)
		<-c
		p.hub.Close()
		assert.Empty(t, rest(c))
	})
	bubble("a context that has ended gives nothing", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
		cancel()
		assert.Empty(t, rest(p.hub.Throttled(ctx, interval)))
	})
	ends := []struct {
		name string
		wait time.Duration
		read int
	}{
		{"the context ends it when the consumer walked away", 0, 0},
		{"the context ends it when the consumer was away for long", time.Minute, 0},
		{"the context ends it inside an interval", interval / 2, 1},
		{"the context ends it while it waits for a change", time.Minute, 1},
	}
	for _, e := range ends {
		bubble(e.name, func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Throttled(ctx, interval)
			for range e.read {
				<-c
			}
			time.Sleep(e.wait)
			synctest.Wait()
			cancel()
			synctest.Wait()
			assert.Empty(t, rest(c))
		})
	}
}
