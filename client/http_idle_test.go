package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// slowBody takes its time for each read.
type slowBody struct{ takes []time.Duration }

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.takes[0])
	b.takes = b.takes[1:]
	return 1, nil
}

func TestIdleReader(t *testing.T) {
	const bound = time.Minute
	for _, tt := range []struct {
		name    string
		before  []time.Duration // the reads, and the time between them
		last    time.Duration
		expires bool
	}{
		{"a read within the bound", nil, bound - 1, false},
		{"a read that takes a little longer", nil, bound + 1, true},
		{"many reads that take longer than the bound together", []time.Duration{50 * time.Second, 50 * time.Second, 1}, 59 * time.Second, false},
		{"a read that takes too long after some that did not", []time.Duration{59 * time.Second, 1, 31 * time.Second}, time.Hour, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var expired time.Time
				r := newIdleReader(&slowBody{append(tt.before, tt.last)}, bound, func() { expired = time.Now() })
				for range tt.before {
					_, _ = r.Read(nil)
					time.Sleep(10 * bound) // what the reader's own work takes does not count
				}
				start := time.Now()
				_, _ = r.Read(nil)
				synctest.Wait()
				r.Stop()
				if tt.expires {
					assert.Equal(t, bound, expired.Sub(start))
				} else {
					assert.Zero(t, expired)
				}
				time.Sleep(10 * bound)
				assert.Equal(t, tt.expires, !expired.IsZero(), "nothing happens after Stop")
			})
		})
	}
	t.Run("no bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newIdleReader(&slowBody{[]time.Duration{24 * time.Hour}}, -1, func() { t.Error("expired") })
			_, _ = r.Read(nil)
			r.Stop()
		})
	})
}
