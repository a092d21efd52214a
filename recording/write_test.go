package recording

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteKeepsTheFold(t *testing.T) {
	files, err := filepath.Glob("../testdata/*")
	require.NoError(t, err)
	for _, file := range files {
		if strings.Contains(file, ".golden.") || strings.Contains(file, "cut-off") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, _ := Fold(bytes.NewReader(text), nil)
		for _, form := range []Form{FormSSE, FormLines, FormArray, FormObject, FormAgfold} {
			t.Run(filepath.Base(file)+" as "+string(form), func(t *testing.T) {
				rec, err := Open(bytes.NewReader(text), nil)
				require.NoError(t, err)
				var out bytes.Buffer
				require.NoError(t, Write(&out, form, rec.Input(), rec.Entries()))
				back, err := Open(bytes.NewReader(out.Bytes()), nil)
				require.NoError(t, err)
				assert.Equal(t, form, back.Form())
				th, _ := Fold(&out, nil)
				assert.Equal(t, string(want.AppendJSON(nil)), string(th.AppendJSON(nil)))
			})
		}
	}
}

func TestWriteAsksForAForm(t *testing.T) {
	rec, err := Open(strings.NewReader(started), nil)
	require.NoError(t, err)
	assert.ErrorContains(t, Write(&bytes.Buffer{}, FormValues, nil, rec.Entries()), `"values" cannot be written`)
}

func TestWriteCompletesWhatBreaksOff(t *testing.T) {
	rec, err := Open(strings.NewReader(started+"\n{\"ty"), nil)
	require.NoError(t, err)
	var out bytes.Buffer
	assert.True(t, is[*CutError](Write(&out, FormArray, nil, rec.Entries())))
	assert.Equal(t, "[\n"+started+"\n]\n", out.String())
}

func TestWriteOfAFailingWriter(t *testing.T) {
	rec, err := Open(strings.NewReader(run(custom)), nil)
	require.NoError(t, err)
	full := errors.New("full")
	assert.ErrorIs(t, Write(failing{full}, FormLines, nil, rec.Entries()), full)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
