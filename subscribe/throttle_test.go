package subscribe_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/subscribe"
)

func TestThrottle(t *testing.T) {
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
		for v := range subscribe.Throttle(ctx, p.hub.Latest(ctx), interval) {
			got = append(got, v.N)
			at = append(at, time.Since(start))
		}
		assert.Zero(t, at[0])
		assert.Len(t, got, 12, "0, then ten, then the final one")
		for i := 1; i < len(at); i++ {
			assert.GreaterOrEqual(t, at[i]-at[i-1], interval)
			assert.InDelta(t, at[i].Milliseconds(), got[i], 50, "what arrives is recent")
		}
		assert.Equal(t, 1050, got[len(got)-1])
	})
	bubble("a single change inside the interval arrives at its end", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
		start := time.Now()
		assert.Equal(t, 0, (<-c).N)
		p.changes(t, 1)
		assert.Equal(t, 1, (<-c).N)
		assert.Equal(t, interval, time.Since(start))
	})
	bubble("a change after a quiet time arrives at once", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
		<-c
		time.Sleep(time.Minute)
		start := time.Now()
		p.changes(t, 1)
		assert.Equal(t, 1, (<-c).N)
		assert.Zero(t, time.Since(start))
	})
	bubble("the last that a buffered source has wins", func(t *testing.T, _ *producer, ctx context.Context, _ func()) {
		var got []int
		for n := range subscribe.Throttle(ctx, filled(upTo(1, 50)...), interval) {
			got = append(got, n)
		}
		assert.Equal(t, []int{50}, got)
	})
	bubble("a slow consumer gets what the source had an interval ago or less", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
		for range 3 {
			for range 1050 {
				time.Sleep(time.Millisecond)
				p.changes(t, 1)
			}
			assert.LessOrEqual(t, time.Since((<-c).Made), interval+interval/8, "an eighth is Latest's share")
		}
	})
	bubble("it takes few snapshots from Latest", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
		go func() {
			for range c {
			}
		}()
		for range 100_000 { // 10 s, 100 intervals
			time.Sleep(100 * time.Microsecond)
			p.changes(t, 1)
		}
		assert.Less(t, p.taken.Load(), int64(6000))
	})
	bubble("no interval sets no limit", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		start := time.Now()
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), 0)
		for n := range 5 {
			assert.Equal(t, n, (<-c).N)
			p.changes(t, 1)
		}
		assert.Zero(t, time.Since(start))
	})
	bubble("a source that closes while the consumer is away loses nothing", func(t *testing.T, p *producer, ctx context.Context, _ func()) {
		c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
		p.changes(t, 5)
		p.hub.Close()
		time.Sleep(time.Minute)
		got := rest(c)
		assert.Equal(t, 5, got[len(got)-1])
	})
	ends := []struct {
		name string
		wait time.Duration
		read int
	}{
		{"the context ends it when the consumer walked away", 0, 0},
		{"the context ends it when the consumer was away for long", time.Minute, 0},
		{"the context ends it inside an interval", interval / 2, 1},
		{"the context ends it while it waits for the source", time.Minute, 1},
	}
	for _, e := range ends {
		bubble(e.name, func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := subscribe.Throttle(ctx, p.hub.Latest(ctx), interval)
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
