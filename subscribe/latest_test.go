package subscribe_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A synctest bubble fails when a goroutine is left in it, so every case here is also a
// leak test: most end by Close or cancel alone, whether anybody receives or not.

func TestLatest(t *testing.T) {
	cases := []struct {
		name string
		run  func(t *testing.T, p *producer, ctx context.Context, cancel func())
	}{
		{"the current snapshot is there at once", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			p.changes(t, 2)
			c := p.hub.Latest(ctx)
			require.Len(t, c, 1)
			assert.Equal(t, 2, (<-c).N)
			cancel()
		}},
		{"a waiting consumer gets each change", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			for n := range 100 {
				assert.Equal(t, n, (<-c).N)
				p.changes(t, 1)
			}
			cancel()
		}},
		{"nothing is delivered without a change", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			<-c
			p.changes(t, 1)
			<-c
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Empty(t, c)
			cancel()
		}},
		{"the newest is at most two behind one that waited", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 1000)
			synctest.Wait()
			got := []int{(<-c).N}
			assert.Equal(t, []int{0}, got, "no time has passed: the first was not replaced")
			p.changes(t, 1000)
			for got[len(got)-1] < 2000 {
				got = append(got, (<-c).N)
			}
			assert.LessOrEqual(t, len(got), 1+2+1, "the one that waited, two, and the newest: %v", got)
			assert.IsIncreasing(t, got)
			cancel()
		}},
		{"one that waits for 2 ms is replaced by the newest", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 1000)
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
			assert.Equal(t, 1000, (<-c).N)
			assert.Empty(t, c, "nothing is newer")
			cancel()
		}},
		{"what a slow consumer receives is at most an eighth of its delay old", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			<-c
			for range 5 {
				for range 1000 {
					time.Sleep(100 * time.Microsecond)
					p.changes(t, 1)
				}
				age := time.Since((<-c).Made)
				assert.LessOrEqual(t, age, 100*time.Millisecond/8)
			}
			cancel()
		}},
		{"a consumer that never receives costs a few snapshots", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			p.hub.Latest(ctx)
			for range 100_000 { // a change each millisecond for 100 s
				time.Sleep(time.Millisecond)
				p.changes(t, 1)
			}
			assert.Less(t, p.taken.Load(), int64(200))
			cancel()
		}},
		{"a million changes for a consumer that is away keep at most three snapshots", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 1_000_000)
			synctest.Wait()
			assert.LessOrEqual(t, p.taken.Load(), int64(3), "first, the pump's and the chaser's")
			assert.Equal(t, 1, cap(c))
			cancel()
		}},
		{"the final one comes before the channel closes", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			<-c
			p.changes(t, 10)
			p.hub.Close()
			got := rest(c)
			assert.Equal(t, 10, got[len(got)-1])
		}},
		{"the final one replaces what waits, and needs no goroutine", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 10)
			synctest.Wait() // the consumer is known to be away
			p.hub.Close()
			synctest.Wait()
			assert.Equal(t, []int{10}, rest(c))
		}},
		{"Close ends it even if its consumer does not receive", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			p.hub.Latest(ctx)
			p.changes(t, 10)
			p.hub.Close()
		}},
		{"Close does not repeat a snapshot that was received", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			<-c
			p.hub.Close()
			assert.Empty(t, rest(c))
		}},
		{"after Close the final one alone", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			p.changes(t, 3)
			p.hub.Close()
			assert.Equal(t, []int{3}, rest(p.hub.Latest(ctx)))
		}},
		{"the context ends it at once, what waits is dropped", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 3)
			cancel()
			synctest.Wait()
			assert.Empty(t, rest(c))
		}},
		{"the context ends it while its consumer is slow", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			c := p.hub.Latest(ctx)
			p.changes(t, 3)
			synctest.Wait()
			cancel()
			synctest.Wait()
			assert.Empty(t, rest(c))
			p.changes(t, 3)
			p.hub.Close()
		}},
		{"an ended context gives a closed channel", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			cancel()
			assert.Empty(t, rest(p.hub.Latest(ctx)))
		}},
		{"a consumer unsubscribes inside its loop", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			other := p.hub.Latest(t.Context())
			go func() {
				for range 100 {
					time.Sleep(time.Millisecond)
					p.changes(t, 1)
				}
				p.hub.Close()
			}()
			for v := range p.hub.Latest(ctx) {
				if v.N == 50 {
					cancel()
					synctest.Wait()
				}
				assert.LessOrEqual(t, v.N, 50)
			}
			got := rest(other)
			assert.Equal(t, 100, got[len(got)-1], "the others continue")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				c.run(t, newProducer(), ctx, cancel)
			})
		})
	}
}

func TestLatestThousandSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const subscribers, changes = 1000, 200
		p := newProducer()
		final := make(chan int, subscribers)
		for i := range subscribers {
			c := p.hub.Latest(t.Context())
			go func() {
				last := -1
				for v := range c {
					assert.Greater(t, v.N, last)
					last = v.N
					time.Sleep(time.Duration(i%20) * time.Millisecond) // from ready to slow
				}
				final <- last
			}()
		}
		for range changes {
			time.Sleep(time.Millisecond)
			p.changes(t, 1)
		}
		assert.LessOrEqual(t, p.taken.Load(), int64(changes+1), "all share the snapshot of one revision")
		p.hub.Close()
		for range subscribers {
			assert.Equal(t, changes, <-final)
		}
	})
}
