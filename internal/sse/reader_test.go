package sse

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
)

// readAll returns the data of every event and the error that ended the stream, nil for io.EOF.
func readAll(r *Reader) (events []string, err error) {
	for {
		data, err := r.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

// reference reads the whole stream in the plainest way that the standard allows.
func reference(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	var data []string
	flush := func() {
		if event := strings.Join(data, "\n"); strings.Trim(event, " \t\r\n") != "" {
			events = append(events, event)
		}
		data = nil
	}
	for line := range strings.SplitSeq(stream, "\n") {
		if line == "" {
			flush()
			continue
		}
		if field, value, _ := strings.Cut(line, ":"); field == "data" {
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	flush()
	return events
}

func TestFraming(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"an empty stream has no events", "", nil},
		{"a blank line ends an event", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"one leading space is removed", "data:a\n\ndata:  b\n\ndata: \tc\n\n", []string{"a", " b", "\tc"}},
		{"data lines are joined by newlines", "data: a\ndata: b\ndata:\ndata: c\n\n", []string{"a\nb\n\nc"}},
		{"a field name alone is an empty value", "data\ndata: a\ndata\n\n", []string{"\na\n"}},
		{"an event whose data is empty or blank is skipped", "data:\n\ndata: \n\ndata\ndata:  \t\n\ndata: a\n\ndata: ", []string{"a"}},
		{"an event without data is passed over", "event: x\nid: 1\n\n\n\n:\n\ndata: a\n\n", []string{"a"}},
		{"other fields and comments are ignored", ": hi\nevent: e\ndata: a\nid: 7\nretry: 1\n: ho\ndata: b\n\n", []string{"a\nb"}},
		{"a field name must match exactly", "database: 1\n data: 2\nData: 3\ndata : 4\ndat: 5\ndata: a\n\n", []string{"a"}},
		{"a colon in the value is the value's", "data: {\"a\":1}\n\n", []string{`{"a":1}`}},
		{"CRLF ends a line", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []string{"a\nb", "c"}},
		{"CR ends a line", "data: a\rdata: b\r\rdata: c\r\r", []string{"a\nb", "c"}},
		{"line ends may be mixed", "data: a\rdata: b\ndata: c\r\n\ndata: d\n\r\ndata: e\r\r\n", []string{"a\nb\nc", "d", "e"}},
		{"CR LF LF is a line end and a blank line", "data: a\r\n\ndata: b\n\n", []string{"a", "b"}},
		{"a byte order mark is skipped once", "\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: c\n\n", []string{"a", "c"}},
		{"a byte order mark may precede a comment", "\uFEFF: hi\n\ndata: a\n\n", []string{"a"}},
		{"half a byte order mark is a line", "\xEF\xBBdata: a\n\ndata: b\n\n", []string{"b"}},
		{"a last event without blank line is accepted", "data: a\n\ndata: b\n", []string{"a", "b"}},
		{"a last line without line end is accepted", "data: a\n\ndata: b\ndata: c", []string{"a", "b\nc"}},
		{"a last field name alone is accepted", "data: a\ndata", []string{"a\n"}},
		{"a cut field name is not data", "data: a\n\ndat", []string{"a"}},
		{"a cut comment is not data", "data: a\n\n: x", []string{"a"}},
		{"data is not decoded", "data: \xff\x00\u2028\n\n", []string{"\xff\x00\u2028"}},
	} {
		t.Run("P-SSE-1 "+tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, reference(tt.stream), "the reference itself")
			for name, src := range map[string]io.Reader{
				"whole":         strings.NewReader(tt.stream),
				"bytes":         iotest.OneByteReader(strings.NewReader(tt.stream)),
				"halves":        iotest.HalfReader(strings.NewReader(tt.stream)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(tt.stream)),
			} {
				got, err := readAll(NewReader(src, 0))
				require.NoError(t, err, name)
				assert.Equal(t, tt.want, got, name)
			}
		})
	}
}

func TestAnEventIsDeliveredBeforeTheNextByte(t *testing.T) {
	for _, event := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r"} {
		pr, pw := io.Pipe()
		go pw.Write([]byte(event))
		data, err := NewReader(pr, 0).Next() // would hang
		require.NoError(t, err)
		assert.Equal(t, "a", string(data))
		pr.Close()
	}
}

func TestPartialAndLine(t *testing.T) {
	r := NewReader(strings.NewReader("\n: x\ndata: a\ndata: b\r\n\r\nid: 1\ndata: c\n\ndata: d"), 0)
	for _, want := range []struct {
		data    string
		line    int
		partial bool
	}{{"a\nb", 3, false}, {"c", 7, false}, {"d", 9, true}} {
		data, err := r.Next()
		require.NoError(t, err)
		assert.Equal(t, want.data, string(data))
		assert.Equal(t, want.line, r.Line())
		assert.Equal(t, want.partial, r.Partial())
	}
	for range 2 {
		_, err := r.Next()
		assert.Equal(t, io.EOF, err)
	}
}

func TestAnErrorOfTheSourceComesAfterWholeEvents(t *testing.T) {
	boom := errors.New("boom")
	r := NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: cut off\n"), iotest.ErrReader(boom)), 0)
	events, err := readAll(r)
	assert.Equal(t, []string{"a"}, events)
	assert.Equal(t, boom, err)
	_, err = r.Next()
	assert.Equal(t, boom, err, "the error is returned again")

	r = NewReader(iotest.DataErrReader(strings.NewReader("data: a\n\ndata: b\n\n")), 0)
	events, err = readAll(r)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, events)
}

type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }

func TestASourceWithoutProgressIsAnError(t *testing.T) {
	_, err := NewReader(idleReader{}, 0).Next()
	assert.Equal(t, io.ErrNoProgress, err)
}

func TestBound(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		fits         bool
	}{
		{"data of the bound fits", "data: 12345678\n\n", true},
		{"data without a space counts the same", "data:12345678\n\n", true},
		{"one byte more does not", "data: 123456789\n\n", false},
		{"a cut line counts", "data: 123456789", false},
		{"joining newlines count", "data: 123\ndata: 4567\n\n", true},
		{"joined data past the bound does not fit", "data: 123\ndata: 45678\n\n", false},
		{"empty lines count", "data: x\n" + strings.Repeat("data\n", 7) + "\n", true},
		{"too many empty lines do not fit", "data: x\n" + strings.Repeat("data\n", 8) + "\n", false},
		{"other lines do not count", ": " + strings.Repeat("x", 50) + "\nevent: 123456789\ndata: 1\n\n", true},
	} {
		t.Run("P-SSE-2 "+tt.name, func(t *testing.T) {
			for _, src := range []io.Reader{
				strings.NewReader("data: ok\n\n" + tt.stream + "data: x\n\n"),
				iotest.OneByteReader(strings.NewReader("data: ok\n\n" + tt.stream)),
			} {
				r := NewReader(src, 8)
				events, err := readAll(r)
				require.NotEmpty(t, events)
				assert.Equal(t, "ok", events[0])
				if tt.fits {
					require.NoError(t, err)
					assert.Greater(t, len(events), 1)
					continue
				}
				assert.Equal(t, []string{"ok"}, events)
				var large *event.TooLargeError
				require.ErrorAs(t, err, &large)
				assert.Equal(t, event.TooLargeError{Limit: 8, Line: 3}, *large)
				assert.Equal(t, "the event at line 3 holds more than 8 bytes of data", err.Error())
				_, again := r.Next()
				assert.Equal(t, err, again)
			}
		})
	}
}

// endless repeats a line for as long as n lasts.
type endless struct {
	head, unit string
	n          int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.head != "" {
		n := copy(p, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.unit) <= min(len(p), 4096) {
		n += copy(p[n:], e.unit)
	}
	e.n -= n
	return n, nil
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 64 << 10
	for _, tt := range []struct {
		name       string
		head, unit string
		tooLarge   bool
	}{
		{"an endless data line", "data: ", "x", true},
		{"endless empty data lines", "", "data\n", true},
		{"an endless comment", ": ", "x", false},
		{"an endless field name", "", "x", false},
		{"endless blank lines", "", "\n", false},
		{"endless CR", "", "\r", false},
		{"endless comments", "", ":\r\n", false},
		{"endless small events", "", "data: 1\n\n", false},
	} {
		t.Run("P-SSE-2 "+tt.name, func(t *testing.T) {
			r := NewReader(&endless{tt.head, tt.unit, 4 << 20}, limit)
			var err error
			for err == nil {
				_, err = r.Next()
			}
			if tt.tooLarge {
				require.ErrorAs(t, err, new(*event.TooLargeError))
			} else {
				require.Equal(t, io.EOF, err)
			}
			assert.LessOrEqual(t, len(r.buf), 4*limit+firstBuffer)
		})
	}
}

func TestALargeBufferIsGivenUp(t *testing.T) {
	large := "data: " + strings.Repeat("x", 5<<20) + "\n\n"
	r := NewReader(io.MultiReader(strings.NewReader(large), &endless{"", "data: 1\n\n", 1 << 20}), 0)
	data, err := r.Next()
	require.NoError(t, err)
	assert.Len(t, data, 5<<20)
	_, err = readAll(r)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(r.buf), keptBuffer)
}

func TestCostPerByteDoesNotGrowWithEvents(t *testing.T) {
	if testing.Short() {
		t.Skip("compares times")
	}
	const size = 10 << 20
	once := func(stream []byte) time.Duration {
		start := time.Now()
		_, err := readDiscard(NewReader(limitReads{bytes.NewReader(stream)}, 0))
		require.NoError(t, err)
		return time.Since(start)
	}
	small := bytes.Repeat([]byte("data: "+strings.Repeat("x", 72)+"\n\n"), size/80)
	for name, stream := range map[string][]byte{
		"one line":       []byte("data: " + strings.Repeat("x", size) + "\n\n"),
		"lines of 80":    append(bytes.Repeat([]byte("data: "+strings.Repeat("x", 73)+"\n"), size/80), '\n'),
		"CR lines of 80": append(bytes.Repeat([]byte("data: "+strings.Repeat("x", 73)+"\r"), size/80), '\r'),
	} {
		// The goal is 2; 10 leaves room for a busy machine, and is far below a quadratic cost. The two are measured next to
		// each other, and a busy moment is forgiven: one of 20 pairs is enough.
		linear := false
		for range 20 {
			if linear = once(stream) < 10*once(small); linear {
				break
			}
		}
		assert.True(t, linear, name)
	}
}

func readDiscard(r *Reader) (n int, err error) {
	for ; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// limitReads gives out at most 4 KB a read.
type limitReads struct{ r io.Reader }

func (l limitReads) Read(p []byte) (int, error) { return l.r.Read(p[:min(len(p), 4096)]) }

// randomReads gives out pieces of random size.
type randomReads struct {
	r   io.Reader
	rng *rand.Rand
}

func (s randomReads) Read(p []byte) (int, error) {
	return s.r.Read(p[:min(len(p), 1+s.rng.IntN(12))])
}

// FuzzReader holds the Reader equal to the reference however the bytes are split.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"", "data: a\n\n", "\uFEFFdata: a\r\n\r\ndata:b\rdata\r\r: x\n\ndata: c", "event: x\ndata: a\ndata: b\n\n\n",
		"data\r\n\ndata:\n\r\n\r", "\xEF\xBB", "datadata: x\ndata: \n\n",
	} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream string, seed uint64) {
		want := reference(stream)
		for _, src := range []io.Reader{
			strings.NewReader(stream),
			iotest.OneByteReader(strings.NewReader(stream)),
			randomReads{strings.NewReader(stream), rand.New(rand.NewPCG(seed, 0))},
		} {
			got, err := readAll(NewReader(src, 0))
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		// A bound cuts at the same event for every split.
		var kept [2][]string
		for i, src := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
			kept[i], _ = readAll(NewReader(src, 5))
		}
		require.Equal(t, kept[0], kept[1])
	})
}

// oneEach gives out one event a read.
type oneEach struct{ left []string }

func (o *oneEach) Read(p []byte) (int, error) {
	if len(o.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, o.left[0])
	if o.left[0] = o.left[0][n:]; o.left[0] == "" {
		o.left = o.left[1:]
	}
	return n, nil
}

func TestBufferIsOfTheSizeThatTheSourceNeeds(t *testing.T) {
	const small = "data: 1\n\n"
	src := &oneEach{[]string{small}}
	r := NewReader(src, 0)
	next := func() {
		t.Helper()
		_, err := r.Next()
		require.NoError(t, err)
	}
	next()
	assert.Len(t, r.buf, firstBuffer, "events that come one at a time")
	src.left = []string{strings.Repeat(small, 2*firstBuffer/len(small))}
	for range 2 * firstBuffer / len(small) {
		next()
	}
	assert.Len(t, r.buf, fullBuffer, "a read that filled the buffer")
	for range calmReads + 2 {
		src.left = append(src.left, small)
		next()
	}
	assert.Len(t, r.buf, firstBuffer, "one at a time again")
}
