package client

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reads counts the reads of a reader.
type reads struct {
	io.Reader
	n int
}

func (r *reads) Read(p []byte) (int, error) {
	r.n++
	return r.Reader.Read(p)
}

func TestEventReader(t *testing.T) {
	feed := "id: 1\ndata: a\n\n: ping\r\n\r\ndata: b\r\rdata: c\n\r\ndata: d\r\n\ndata: cut"
	for name, src := range map[string]io.Reader{"at once": strings.NewReader(feed), "byte by byte": iotest.OneByteReader(strings.NewReader(feed))} {
		t.Run("what comes "+name+" comes out", func(t *testing.T) {
			got, err := io.ReadAll(&eventReader{src: src, limit: 100})
			require.NoError(t, err)
			assert.Equal(t, feed, string(got))
		})
	}
	t.Run("an event is given once it is whole", func(t *testing.T) {
		out, in := io.Pipe()
		r := &eventReader{src: out, limit: 100}
		go func() {
			in.Write([]byte("data: a\n"))
			in.Write([]byte("\ndata: b"))
			in.Write([]byte("\n\n"))
			in.Close()
		}()
		p := make([]byte, 100)
		n, err := r.Read(p)
		require.NoError(t, err)
		assert.Equal(t, "data: a\n\n", string(p[:n]))
		n, err = r.Read(p)
		require.NoError(t, err)
		assert.Equal(t, "data: b\n\n", string(p[:n]))
		_, err = r.Read(p)
		assert.ErrorIs(t, err, io.EOF)
	})
	t.Run("an event that does not end is bounded", func(t *testing.T) {
		r := &eventReader{src: iotest.OneByteReader(strings.NewReader("data: a\n\n" + strings.Repeat("x", 1<<20))), limit: 1000}
		got, err := io.ReadAll(r)
		require.ErrorIs(t, err, bufio.ErrTooLong)
		assert.Equal(t, "data: a\n\n", string(got))
		assert.Nil(t, r.buf, "it is not kept")
	})
	t.Run("an event that comes byte by byte is scanned a few times", func(t *testing.T) {
		text := append(bytes.Repeat([]byte("x"), 1<<20), "\n\n"...)
		counted := &reads{Reader: &eventReader{src: iotest.OneByteReader(bytes.NewReader(text)), limit: 2 << 20}}
		scanner := bufio.NewScanner(counted)
		scanner.Buffer(make([]byte, 4096), 2<<20)
		scanned := 0
		scanner.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			scanned += len(data)
			if i := bytes.Index(data, []byte("\n\n")); i >= 0 {
				return i + 2, data[:i], nil
			}
			return 0, nil, nil
		})
		require.True(t, scanner.Scan())
		assert.Len(t, scanner.Bytes(), 1<<20)
		assert.Less(t, counted.n, 20)
		assert.Less(t, scanned, 4*len(text))
	})
}
