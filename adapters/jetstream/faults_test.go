package jetstream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/adapters/jetstream/embedded"
	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func TestErrorsOfAccessSayWhatToDo(t *testing.T) {
	s := serverOf(t, &embedded.Options{Configure: func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "x"},
			{Username: "reader", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"$JS.API.STREAM.INFO.>"}}}},
		}
	}})
	host := strings.TrimPrefix(s.URL(), "nats://")
	_, err := Connect(s.URL())
	var access *AccessError
	require.ErrorAs(t, err, &access)
	assert.Contains(t, err.Error(), "credentials")
	_, err = Connect("nats://all:wrong@" + host)
	require.ErrorAs(t, err, &access)

	logOf(t, "nats://all:x@"+host, Options{}) // makes the stream
	nc := dial(t, "nats://reader:x@"+host)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	l, err := New(ctx, nc, &Options{Logger: quiet})
	require.NoError(t, err, "that is only reading")
	_, err = l.Hold(ctx, "t")
	require.ErrorAs(t, err, &access, "%v", err)
	assert.Contains(t, err.Error(), "allow")

	plain := serverOf(t, &embedded.Options{Configure: func(o *server.Options) { o.JetStream = false }})
	_, err = New(t.Context(), dial(t, plain.URL()), &Options{Logger: quiet})
	require.Error(t, err)
}

// certificate makes one for 127.0.0.1 that nobody trusts.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestErrorsOfTLSSayWhatToDo(t *testing.T) {
	s := serverOf(t, &embedded.Options{Configure: func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate(t)}, MinVersion: tls.VersionTLS12}
		o.TLSTimeout = 5
	}})
	var access *AccessError
	_, err := Connect(s.URL())
	require.ErrorAs(t, err, &access, "%v", err)
	assert.Contains(t, err.Error(), "tls://")
	without := serverOf(t, nil)
	_, err = Connect(strings.Replace(without.URL(), "nats://", "tls://", 1))
	require.ErrorAs(t, err, &access, "%v", err)
}

func TestAStreamWithOtherLimitsIsNotTaken(t *testing.T) {
	url := serverOf(t, nil).URL()
	logOf(t, url, Options{})
	for _, tt := range []struct {
		o     Options
		field string
	}{
		{Options{MaxBytes: 1 << 20}, "maximum of bytes"},
		{Options{Memory: true}, "storage"},
		{Options{LeaseTTL: time.Minute}, "time to live"},
	} {
		tt.o.Logger = quiet
		_, err := New(t.Context(), dial(t, url), &tt.o)
		var config *ConfigError
		require.ErrorAs(t, err, &config)
		assert.Equal(t, tt.field, config.Field)
		tt.o.Existing = true
		l, err := New(t.Context(), dial(t, url), &tt.o)
		require.NoError(t, err)
		assert.Equal(t, 15*time.Second, l.o.LeaseTTL, "the bucket decides")
		require.NoError(t, l.Close())
	}
	_, err := New(t.Context(), dial(t, url), &Options{Name: "none", Existing: true})
	assert.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	for _, bad := range []Options{{Name: "a b"}, {Name: "a.b"}, {LeaseTTL: time.Millisecond}} {
		_, err := New(t.Context(), dial(t, url), &bad)
		assert.Error(t, err)
	}
	l := logOf(t, url, Options{})
	_, err = l.Hold(t.Context(), strings.Repeat("x", maxThreadID+1))
	assert.ErrorContains(t, err, "1025 bytes")
}

func TestAFullStreamStopsTheRunUntilThereIsRoom(t *testing.T) {
	url := serverOf(t, nil).URL()
	l := logOf(t, url, Options{MaxBytes: 20_000, CheckpointBytes: -1})
	h, err := l.Hold(t.Context(), "t")
	require.NoError(t, err)
	s := h.Session(forever(), nil)
	f := l.Watch(t.Context(), "t", nil)
	_, err = s.Send(t.Context(), messages.UserText("Hi"))
	var stuck *StuckError
	var full *FullError
	require.ErrorAs(t, err, &stuck)
	require.ErrorAs(t, err, &full)
	assert.Contains(t, err.Error(), "raise the limit")
	_, err = s.Send(t.Context(), messages.UserText("again"))
	require.ErrorAs(t, err, &full, "no other run begins")
	require.ErrorAs(t, h.Flush(t.Context()), &full)
	roomy := l.o.stream()
	roomy.MaxBytes = -1
	_, err = l.js.UpdateStream(t.Context(), roomy)
	require.NoError(t, err)
	eventually(t, func() bool { return h.Flush(t.Context()) == nil }, "there is room")
	same(t, s, f)
	assert.Empty(t, findings(t, l))
}

// publish puts something onto the subject of a thread that this package has not written.
func publish(t testing.TB, l *Log, id string, data []byte) uint64 {
	t.Helper()
	ack, err := l.js.Publish(t.Context(), l.o.entries(Token(id)), data)
	require.NoError(t, err)
	return ack.Sequence
}

// warned collects warnings.
type warned struct {
	mu   sync.Mutex
	text []string
}

func (w *warned) add(one event.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, one.Text)
}

func (w *warned) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.text, "\n")
}

func TestWhatIsNoEntryIsSkipped(t *testing.T) {
	url := serverOf(t, nil).URL()
	l := logOf(t, url, Options{})
	h, err := l.Hold(t.Context(), "t")
	require.NoError(t, err)
	s := h.Session(says(3, nil), nil)
	var w warned
	f := l.Watch(t.Context(), "t", &WatchOptions{OnWarning: w.add})
	<-f.Ready()
	_, err = s.Send(t.Context(), messages.UserText("Hi"))
	require.NoError(t, err)
	require.NoError(t, h.Flush(t.Context()))
	old := entry.Part{Header: entry.Header{Token: 0, First: 0, Count: 1}, Entries: []byte("{\"close\":true}\n")}
	seq := publish(t, l, "t", []byte("hello"))
	publish(t, l, "t", nil)
	_, err = s.Send(t.Context(), messages.UserText("more"))
	require.NoError(t, err)
	require.NoError(t, h.Flush(t.Context()))
	same(t, s, f)
	assert.Contains(t, w.all(), "sequence "+itoa(seq))
	assert.Contains(t, w.all(), "not a message of a log")
	last := string(s.Thread().AppendJSON(nil))
	s.Close()
	require.NoError(t, h.Close())
	publish(t, l, "t", old.Encode())
	h2, err := l.Hold(t.Context(), "t")
	require.NoError(t, err)
	assert.Equal(t, last, string(h2.Thread().AppendJSON(nil)), "the next one reads past them")
}

func itoa(n uint64) string { return new(big.Int).SetUint64(n).String() }

func TestAnEntryThatCannotBeReadCutsTheThreadUntilItIsStatedAnew(t *testing.T) {
	url := serverOf(t, nil).URL()
	l := logOf(t, url, Options{LeaseTTL: short, CheckpointBytes: -1})
	h, err := l.Hold(t.Context(), "t")
	require.NoError(t, err)
	var w warned
	f := l.Watch(t.Context(), "t", &WatchOptions{OnWarning: w.add})
	<-f.Ready()
	s := h.Session(forever(), nil)
	_, err = s.Start(context.Background(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
	require.NoError(t, err)
	eventually(t, func() bool { return f.Snapshot().Messages.Len() == 2 }, "it runs")
	crash(l)
	eventually(t, func() bool { return h.Err() != nil }, "the writer is gone")

	l2 := logOf(t, url, Options{LeaseTTL: short})
	f = l2.Watch(t.Context(), "t", &WatchOptions{OnWarning: w.add})
	<-f.Ready()
	read, err := l2.load(t.Context(), "t")
	require.NoError(t, err)
	broken := entry.Part{Header: entry.Header{Token: read.replica.Token, First: read.replica.Next, Count: 1}, Entries: []byte("{\"event\":nonsense}\n")}
	seq := publish(t, l2, "t", broken.Encode())
	eventually(t, func() bool { return f.Gap() != "" }, "it is noticed")
	var damage *DamageError
	require.ErrorAs(t, f.Snapshot().Err(), &damage)
	assert.Equal(t, seq, damage.Sequence)
	assert.Equal(t, reducer.Truncated, f.Snapshot().Status(), "the thread says so")
	assert.Contains(t, w.all(), "sequence "+itoa(seq))

	h2 := held(t, l2, "t")
	s2 := h2.Session(says(1, nil), nil)
	require.NoError(t, h2.Flush(t.Context()))
	same(t, s2, f)
	eventually(t, func() bool { return f.Gap() == "" }, "it is whole again")
	_, err = s2.Send(t.Context(), messages.UserText("Go on"))
	require.NoError(t, err)
	same(t, s2, f)
	s.Close()
}

func TestWhileTheBrokerIsGone(t *testing.T) {
	for _, when := range []Stuck{StopRun, GoOn} {
		server := serverOf(t, nil)
		var logged warned
		l := logOf(t, server.URL(), Options{StuckAfter: 700 * time.Millisecond, WhenStuck: when, Window: 2000, LeaseTTL: time.Minute})
		h, err := l.Hold(t.Context(), "t")
		require.NoError(t, err)
		f := l.Watch(t.Context(), "t", nil)
		more := make(chan struct{})
		s := h.Session(says(4000, func(ctx context.Context) error {
			select {
			case <-more:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
				return nil
			}
		}), &client.SessionOptions{OnWarning: logged.add})
		turn, err := s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
		require.NoError(t, err)
		eventually(t, func() bool { return f.Snapshot().Messages.Len() == 2 }, "it runs")
		server.Kill()
		if when == StopRun {
			_, err = turn.Wait(t.Context())
			var stuck *StuckError
			require.ErrorAs(t, err, &stuck)
		} else {
			eventually(t, func() bool { return strings.Contains(logged.all(), "the run is not stored") }, "the run says so")
			close(more)
		}
		require.NoError(t, server.Restart())
		if when == GoOn {
			eventually(t, func() bool { return f.Gap() != "" || f.Snapshot().Status() == reducer.Succeeded }, "the log says so")
			_, err = turn.Wait(t.Context())
			require.NoError(t, err, "the run has not noticed")
			assert.Equal(t, 1, strings.Count(logged.all(), "the run is not stored"), "it is said once")
		}
		same(t, s, f)
		eventually(t, func() bool { return f.Gap() == "" }, "nothing is missing any more")
		_, err = s.Send(t.Context(), messages.UserText("more"))
		require.NoError(t, err)
		same(t, s, f)
		s.Close()
		require.NoError(t, h.Close())
		assert.Empty(t, findings(t, l))
	}
}

// Nothing depends on what the wall clocks of the processes say.
func TestClocksThatAreWrong(t *testing.T) {
	url := serverOf(t, nil).URL()
	clock := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	backwards := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(-time.Hour)
		return clock
	}
	a := logOf(t, url, Options{now: backwards, CheckpointBytes: 500})
	b := logOf(t, url, Options{now: func() time.Time { return time.Now().Add(1000 * time.Hour) }})
	f := b.Watch(t.Context(), "t", nil)
	for _, l := range []*Log{a, b, a} {
		h, err := l.Hold(t.Context(), "t")
		require.NoError(t, err)
		s := h.Session(says(20, nil), nil)
		_, err = s.Send(t.Context(), messages.UserText("Hi"))
		require.NoError(t, err)
		require.NoError(t, h.Flush(t.Context()))
		same(t, s, f)
		s.Close()
		require.NoError(t, h.Close())
	}
	assert.Equal(t, 3, f.Snapshot().Runs.Len())
}

// Whoever has held or followed a thread leaves nothing behind.
func TestGoroutinesEnd(t *testing.T) {
	url := serverOf(t, nil).URL()
	l := logOf(t, url, Options{})
	use := func(id string) {
		h, err := l.Hold(t.Context(), id)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		f := l.Watch(ctx, id, nil)
		s := h.Session(says(3, nil), nil)
		_, err = s.Send(t.Context(), messages.UserText("Hi"))
		require.NoError(t, err)
		same(t, s, f)
		cancel()
		<-f.Done()
		assert.ErrorIs(t, f.Err(), context.Canceled)
		s.Close()
		require.NoError(t, h.Close())
	}
	for i := range 5 {
		use(itoa(uint64(i)))
	}
	var left string
	eventually(t, func() bool {
		text := make([]byte, 4<<20)
		left = ""
		for _, one := range strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n") {
			if strings.Contains(one, "/adapters/jetstream.(*") || strings.Contains(one, "nats%2ego/jetstream") || strings.Contains(one, "agfold/client.") {
				left += one
			}
		}
		return left == ""
	}, "goroutines end")
	assert.Empty(t, l.holds)
}
