package seq

import (
	"fmt"
	"testing"
)

func BenchmarkChange(b *testing.B) {
	for _, n := range []int{20, 20_000, 1_000_000} {
		s := Of(numbers(n))
		b.Run(fmt.Sprintf("set/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Set(n/2, 1)
			}
		})
		b.Run(fmt.Sprintf("insert/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Insert(n/2, 1)
			}
		})
		b.Run(fmt.Sprintf("remove/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Remove(n / 2)
			}
		})
		b.Run(fmt.Sprintf("append/n=%d", n), func(b *testing.B) {
			t := s
			for b.Loop() {
				t = t.Append(1)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	s := Of(numbers(100_000))
	b.Run("at", func(b *testing.B) {
		i := 0
		for b.Loop() {
			s.At(i)
			i = (i + 7919) % 100_000
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for range s.All() {
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/element")
	})
}
