package sse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"one line", `{"a":1}`, "data: {\"a\":1}\n\n"},
		{"a data line for each line", "a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n"},
		{"empty data", "", "data: \n\n"},
		{"a trailing line end is a line", "a\n", "data: a\ndata: \n\n"},
		{"a leading space survives", " a", "data:  a\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, "x"+tt.want, string(Append([]byte("x"), []byte(tt.data))))
		})
	}
}

// FuzzAppend holds that what is written is read back, with line ends as LF.
func FuzzAppend(f *testing.F) {
	f.Add("a\nb", "c\r\n")
	f.Add("", "data: x")
	f.Fuzz(func(t *testing.T, a, b string) {
		stream := Append(Append(nil, []byte(a)), []byte(b))
		events, err := readAll(NewReader(strings.NewReader(string(stream)), 0))
		require.NoError(t, err)
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		var want []string
		for _, data := range []string{lines.Replace(a), lines.Replace(b)} {
			if strings.Trim(data, " \t\n") != "" {
				want = append(want, data)
			}
		}
		require.Equal(t, want, events)
	})
}
