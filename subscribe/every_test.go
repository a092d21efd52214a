package subscribe_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/subscribe"
)

func TestEvery(t *testing.T) {
	type options = subscribe.EveryOptions
	cases := []struct {
		name string
		run  func(t *testing.T, p *producer, ctx context.Context, cancel func())
	}{
		{"the current snapshot is there at once, then each revision in order", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			p.changes(t, 2)
			r := p.hub.Every(ctx, nil)
			require.Len(t, r.C, 1)
			p.changes(t, 10)
			p.hub.Close()
			assert.Equal(t, upTo(2, 12), rest(r.C))
			assert.NoError(t, r.Err())
		}},
		{"nil options mean Block and 16 revisions", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, nil)
			assert.Equal(t, 16, cap(r.C))
			p.changes(t, 15)
			full, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			assert.ErrorIs(t, p.change(full), context.DeadlineExceeded)
			cancel()
		}},
		{"Block: the producer waits for room and nothing is lost", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 2})
			go func() {
				p.changes(t, 10)
				p.hub.Close()
			}()
			var got []int
			for v := range r.C {
				got = append(got, v.N)
				synctest.Wait()
				p.mu.Lock()
				assert.LessOrEqual(t, p.now.N-v.N, 3, "two in the buffer and one being sent")
				p.mu.Unlock()
			}
			assert.Equal(t, upTo(0, 10), got)
		}},
		{"Block: the end of the producer's context loses nothing", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			ended, stop := context.WithCancel(ctx)
			stop()
			for range 3 {
				assert.ErrorIs(t, p.change(ended), context.Canceled)
			}
			assert.False(t, p.hub.TryFlush())
			go func() { assert.NoError(t, p.hub.Flush(ctx)) }()
			for n := range 4 {
				assert.Equal(t, n, (<-r.C).N)
			}
			cancel()
		}},
		{"Block: TryFlush sends what there is room for", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 2})
			p.mu.Lock()
			for range 2 {
				p.now.N++
				p.hub.Changed()
			}
			p.mu.Unlock()
			assert.False(t, p.hub.TryFlush())
			for n := range 2 {
				assert.Equal(t, n, (<-r.C).N)
			}
			assert.True(t, p.hub.TryFlush())
			assert.Equal(t, 2, (<-r.C).N)
			assert.True(t, p.hub.TryFlush(), "nothing is left")
			cancel()
		}},
		{"Block: the end of the consumer's context frees the producer", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			p.changes(t, 100)
			assert.Equal(t, time.Second, time.Since(start))
			synctest.Wait()
			assert.Empty(t, rest(r.C))
			assert.ErrorIs(t, r.Err(), context.Canceled)
		}},
		{"Block: Close while the producer waits gives the rest", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			go p.changes(t, 1)
			synctest.Wait()
			p.hub.Close()
			synctest.Wait()
			assert.Equal(t, []int{0, 1}, rest(r.C))
			assert.NoError(t, r.Err())
		}},
		{"Close with a backlog: cancel releases the goroutine", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			ended, stop := context.WithCancel(ctx)
			stop()
			assert.Error(t, p.change(ended))
			p.hub.Close()
			synctest.Wait()
			cancel()
			synctest.Wait()
			assert.Empty(t, rest(r.C))
			assert.ErrorIs(t, r.Err(), context.Canceled)
		}},
		{"DropOldest: the newest stay, in order, and the rest are counted", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 3, Full: subscribe.DropOldest})
			p.changes(t, 10)
			p.hub.Close()
			assert.Equal(t, []int{8, 9, 10}, rest(r.C))
			assert.EqualValues(t, 8, r.Dropped())
			assert.NoError(t, r.Err())
		}},
		{"Fail: what was in the buffer, then ErrOverflow", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 3, Full: subscribe.Fail})
			assert.NoError(t, r.Err())
			p.changes(t, 10)
			assert.Equal(t, []int{0, 1, 2}, rest(r.C))
			assert.ErrorIs(t, r.Err(), subscribe.ErrOverflow)
			before := p.taken.Load()
			p.changes(t, 10)
			assert.Equal(t, before, p.taken.Load(), "the producer takes no more snapshots for it")
		}},
		{"Fail: an overflow at Close", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1, Full: subscribe.Fail})
			p.mu.Lock()
			p.hub.Changed() // and no Flush
			p.mu.Unlock()
			p.hub.Close()
			synctest.Wait()
			assert.Equal(t, []int{0}, rest(r.C))
			assert.ErrorIs(t, r.Err(), subscribe.ErrOverflow)
		}},
		{"several changes under one lock are several revisions", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, nil)
			p.mu.Lock()
			for range 3 {
				p.now.N++
				p.hub.Changed()
			}
			p.mu.Unlock()
			require.NoError(t, p.hub.Flush(ctx))
			p.hub.Close()
			assert.Equal(t, upTo(0, 3), rest(r.C))
		}},
		{"Block: a second Flush waits its turn and obeys its own context", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			go p.changes(t, 1)
			synctest.Wait() // waits for room
			ended, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			start := time.Now()
			assert.ErrorIs(t, p.change(ended), context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start))
			p.hub.Close()
			assert.Equal(t, upTo(0, 2), rest(r.C))
			assert.NoError(t, r.Err())
		}},
		{"one slow subscription keeps no revision from another", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			slow := p.hub.Every(ctx, &options{Buffer: 1})
			ready := p.hub.Every(ctx, nil)
			ended, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			assert.ErrorIs(t, p.change(ended), context.DeadlineExceeded)
			assert.Equal(t, 0, (<-ready.C).N)
			assert.Equal(t, 1, (<-ready.C).N)
			assert.Equal(t, 0, (<-slow.C).N)
			cancel()
		}},
		{"a consumer unsubscribes inside its loop", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			r := p.hub.Every(ctx, &options{Buffer: 1})
			go p.changes(t, 20)
			for v := range r.C {
				if v.N == 5 {
					cancel()
					synctest.Wait()
				}
				assert.LessOrEqual(t, v.N, 5)
			}
		}},
		{"an ended context gives a closed channel", func(t *testing.T, p *producer, ctx context.Context, cancel func()) {
			cancel()
			r := p.hub.Every(ctx, nil)
			assert.Empty(t, rest(r.C))
			assert.ErrorIs(t, r.Err(), context.Canceled)
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
