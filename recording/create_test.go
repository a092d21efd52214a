package recording

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const old = bareHead + `{"at":0,"event":` + started + "}\n" + `{"at":0,"event":` + finished + "}\n"

// recorded writes text to a new file and returns its name.
func recorded(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func contents(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// writeRun records a run of one event.
func writeRun(t *testing.T, w *Writer) {
	t.Helper()
	require.NoError(t, w.Head(nil, noon))
	require.NoError(t, w.Event(frame(t, started), 0))
}

const oneRun = `{"agfold":"recording/1","start":"2026-03-01T12:00:00.5Z"}` + "\n" + `{"at":0,"event":` + started + "}\n"

func TestCreateReplacesWithTheFirstEvent(t *testing.T) {
	name := recorded(t, old)
	w, err := Create(name, nil)
	require.NoError(t, err)
	require.NoError(t, w.Head(nil, noon))
	assert.Equal(t, old, contents(t, name), "nothing was received")
	require.NoError(t, w.Error(errors.New("no route"), 0))
	assert.Equal(t, old, contents(t, name), "an error was not received either")
	writeRun(t, w)
	require.NoError(t, w.Error(errors.New("lost"), 0))
	require.NoError(t, w.Close())
	assert.Equal(t, oneRun+`{"at":0,"error":"lost"}`+"\n", contents(t, name))
}

func TestCreateOfANewFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := Create(name, nil)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = os.Stat(name)
	require.ErrorIs(t, err, fs.ErrNotExist, "a file in which nothing was recorded is removed")

	w, err = Create(name, &CreateOptions{Append: true})
	require.NoError(t, err)
	require.NoError(t, w.Head(nil, noon))
	require.NoError(t, w.Error(errors.New("no route"), 0))
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	assert.Equal(t, 2, strings.Count(contents(t, name), "\n"), "an error is recorded where it replaces nothing")

	_, err = Create(filepath.Join(t.TempDir(), "none", "run.jsonl"), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Create(t.TempDir(), nil)
	require.Error(t, err)
}

func TestCreateToAppend(t *testing.T) {
	for _, row := range []struct{ name, before, want string }{
		{"a recording", old, old + oneRun},
		{"an empty file", "", oneRun},
		{"a recording that ends in the middle of a line", old + `{"at":1,"ev`, old + `{"at":1,"ev` + "\n" + oneRun},
		{"a head that is cut off", `{"agfold":"recor`, `{"agfold":"recor` + "\n" + oneRun},
		{"a recording that is damaged", old + "???\n" + old, old + "???\n" + old + oneRun},
	} {
		t.Run(row.name, func(t *testing.T) {
			name := recorded(t, row.before)
			w, err := Create(name, &CreateOptions{Append: true})
			require.NoError(t, err)
			writeRun(t, w)
			require.NoError(t, w.Close())
			assert.Equal(t, row.want, contents(t, name))
		})
	}
	for _, text := range []string{"data: " + started + "\n\n", started + "\n", "[]", "dear diary"} {
		name := recorded(t, text)
		_, err := Create(name, &CreateOptions{Append: true})
		require.Error(t, err, "no run is lost in what is not a recording")
		assert.Equal(t, text, contents(t, name))
	}
}

func TestTwoWritersOfOneFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	for _, o := range []*CreateOptions{nil, {Append: true}} {
		w, err := Create(name, o)
		require.NoError(t, err)
		_, err = Create(name, nil)
		require.ErrorIs(t, err, ErrLocked)
		_, err = Create(name, &CreateOptions{Append: true})
		require.ErrorIs(t, err, ErrLocked)
		writeRun(t, w)
		require.NoError(t, w.Close())
		assert.Equal(t, oneRun, contents(t, name), "the one that was refused changes nothing")
		require.NoError(t, os.Remove(name))
	}
}

// The steps of Create may come between those of another Writer of the same new file.
func TestARaceForANewFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.jsonl")
	late, err := openWriter(name)
	require.NoError(t, err)
	w, err := Create(name, nil)
	require.NoError(t, err)
	writeRun(t, w)
	require.NoError(t, w.Close())
	require.NoError(t, late.take(true))
	require.NoError(t, late.Close())
	assert.Equal(t, oneRun, contents(t, name), "a Writer that records nothing removes nothing that another one recorded")
	require.NoError(t, os.Remove(name))

	w, err = Create(name, nil)
	require.NoError(t, err)
	late, err = openWriter(name)
	require.NoError(t, err)
	defer late.file.Close()
	require.NoError(t, w.Close())
	if _, err := os.Stat(name); err == nil {
		t.Skip("the system does not remove an open file")
	}
	require.ErrorIs(t, late.take(false), errReplaced, "the file that it has opened is removed")

	w, err = Create(name, nil)
	require.NoError(t, err)
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.WriteFile(name, []byte(old), 0o600))
	require.NoError(t, w.Close())
	assert.Equal(t, old, contents(t, name), "another file has the name by now")
}

// halfWriter writes half of what it gets while the disk is full.
type halfWriter struct {
	strings.Builder
	full bool
}

func (w *halfWriter) Write(p []byte) (int, error) {
	if w.full {
		n, _ := w.Builder.Write(p[:len(p)/2])
		return n, io.ErrShortWrite
	}
	return w.Builder.Write(p)
}

func TestAHeadBeginsALineAfterAWriteThatFailed(t *testing.T) {
	var file halfWriter
	w := NewWriter(&file)
	writeRun(t, w)
	file.full = true
	require.ErrorIs(t, w.Event(frame(t, custom), 0), io.ErrShortWrite)
	file.full = false
	writeRun(t, w)
	file.full = true
	require.Error(t, w.Head(nil, noon))
	file.full = false
	writeRun(t, w)
	require.ErrorIs(t, w.Close(), io.ErrShortWrite, "the first error is kept")
	assert.Equal(t, 3, strings.Count(file.String(), "\n"+oneRun[:30])+strings.Count(file.String()[:30], oneRun[:30]))
	_, th, err := whole(t, file.String())
	require.NoError(t, err)
	assert.Equal(t, "r truncated, r truncated, r truncated, {}", told(th))
}
