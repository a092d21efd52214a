package recording

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	custom   = `{"type":"CUSTOM","name":"n","value":["]","}",{"\"":"\\"}]}`
	unknown  = `{"type":"SOMETHING_NEW","n":1.50}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
)

// texts opens a recording and returns its form, its events' texts and the error it ends with.
func texts(t *testing.T, r io.Reader, o *Options) (Form, []string, error) {
	t.Helper()
	rec, err := Open(r, o)
	if err != nil {
		return "", nil, err
	}
	var got []string
	for e, err := range rec.Entries() {
		if err != nil {
			return rec.Form(), got, err
		}
		require.Positive(t, e.Line)
		if e.Head == nil {
			got = append(got, string(e.Event.Data()))
		}
	}
	return rec.Form(), got, nil
}

// is reports whether err has an error of type E in it.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// matching reports of an error whether it matches target.
func matching(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// splits returns readers that give out text in different pieces.
func splits(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":         strings.NewReader(text),
		"bytes":         iotest.OneByteReader(strings.NewReader(text)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text)),
	}
}
