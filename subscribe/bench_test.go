package subscribe_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/agfold/agfold/subscribe"
)

// step is the cheapest change a producer can make: the cost that remains is the hub's.
func (p *producer) step() {
	p.mu.Lock()
	p.now.N++
	p.hub.Changed()
	p.mu.Unlock()
	_ = p.hub.Flush(context.Background())
}

// BenchmarkChanged is one change: lock, count, Changed, unlock, Flush. "floor" is the same
// without a hub. Slow consumers never receive; ready ones always wait. taken/op says how
// many snapshots a change cost, delivered/s what the ready ones received in all.
func BenchmarkChanged(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		var mu sync.Mutex
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			mu.Lock()
			n++
			mu.Unlock()
		}
	})
	for _, n := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("latest slow=%d", n), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			p := newProducer()
			for range n {
				p.hub.Latest(ctx)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.step()
			}
			b.ReportMetric(float64(p.taken.Load())/float64(b.N), "taken/op")
		})
	}
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("latest ready=%d", n), func(b *testing.B) {
			p := newProducer()
			received := receivers(b, p, n, func() <-chan *view { return p.hub.Latest(b.Context()) })
			b.ReportAllocs()
			for b.Loop() {
				p.step()
			}
			elapsed := b.Elapsed()
			b.ReportMetric(float64(p.taken.Load())/float64(b.N), "taken/op")
			b.ReportMetric(float64(received())/elapsed.Seconds(), "delivered/s")
		})
	}
	for _, full := range []subscribe.Policy{subscribe.Block, subscribe.DropOldest} {
		b.Run(fmt.Sprintf("every ready=1 policy=%d", full), func(b *testing.B) {
			p := newProducer()
			received := receivers(b, p, 1, func() <-chan *view {
				return p.hub.Every(b.Context(), &subscribe.EveryOptions{Buffer: 256, Full: full}).C
			})
			b.ReportAllocs()
			for b.Loop() {
				p.step()
			}
			elapsed := b.Elapsed()
			b.ReportMetric(float64(received())/elapsed.Seconds(), "delivered/s")
		})
	}
}

// receivers starts n consumers; the result closes the hub and returns what they received.
func receivers(b *testing.B, p *producer, n int, open func() <-chan *view) (received func() int) {
	b.Helper()
	counts := make(chan int, n)
	for range n {
		c := open()
		go func() {
			got := 0
			for range c {
				got++
			}
			counts <- got
		}()
	}
	return func() int {
		p.hub.Close()
		all := 0
		for range n {
			all += <-counts
		}
		return all
	}
}

// BenchmarkDelivery is one change and its arrival at a consumer that waits for it.
func BenchmarkDelivery(b *testing.B) {
	b.Run("latest", func(b *testing.B) {
		p := newProducer()
		c := p.hub.Latest(b.Context())
		<-c
		b.ReportAllocs()
		for b.Loop() {
			p.step()
			<-c
		}
	})
	b.Run("every", func(b *testing.B) {
		p := newProducer()
		r := p.hub.Every(b.Context(), nil)
		<-r.C
		b.ReportAllocs()
		for b.Loop() {
			p.step()
			<-r.C
		}
	})
}

// BenchmarkIdle is ten thousand hubs with one Latest each whose first snapshot was received
// and which then do nothing. B/session counts hub and subscription, and with "own context"
// a cancellable context for each; neither the producer nor a goroutine of the consumer's.
func BenchmarkIdle(b *testing.B) {
	b.Run("own context", func(b *testing.B) {
		benchmarkIdle(b, func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) })
	})
	b.Run("one context", func(b *testing.B) {
		ctx, cancel := context.WithCancel(context.Background())
		benchmarkIdle(b, func() (context.Context, context.CancelFunc) { return ctx, cancel })
	})
}

func benchmarkIdle(b *testing.B, open func() (context.Context, context.CancelFunc)) {
	const sessions = 10_000
	b.Helper()
	for range b.N {
		producers := make([]producer, sessions)
		hubs := make([]*subscribe.Hub[*view], sessions)
		channels := make([]<-chan *view, sessions)
		shared := new(view)
		bytes, goroutines := usage()
		for i := range sessions {
			hubs[i] = subscribe.NewHub(&producers[i].mu, func() *view { return shared })
			ctx, _ := open()
			channels[i] = hubs[i].Latest(ctx)
			<-channels[i]
		}
		moreBytes, moreGoroutines := usage()
		b.ReportMetric(float64(moreBytes-bytes)/sessions, "B/session")
		b.ReportMetric(float64(moreGoroutines-goroutines)/sessions, "goroutines/session")
		for i, h := range hubs {
			h.Close()
			for range channels[i] {
			}
		}
	}
}

// usage returns the bytes of live heap and stacks, and the goroutines.
func usage() (bytes int64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}
