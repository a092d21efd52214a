package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
)

// m is a message with entries.
func m(token, first uint64, lines ...string) []byte {
	h := entry.Header{Token: token, First: first, Count: len(lines), At: time.Unix(0, 0)}
	p := entry.Part{Header: h, Entries: []byte(strings.Join(lines, "\n") + "\n")}
	return p.Encode()
}

func TestWhatIsWrongWithALogIsFound(t *testing.T) {
	const opens, stops, closes = `{"open":{"name":"a"}}`, `{"stop":{"name":"b"}}`, `{"close":true}`
	for _, tt := range []struct {
		name string
		log  [][]byte
		want string // "" if nothing is
	}{
		{"a log in order", [][]byte{m(1, 0, opens, stops), m(1, 2, stops), m(1, 3, closes), m(5, 0, opens)}, ""},
		{"a takeover", [][]byte{m(1, 0, opens, stops), m(5, 0, opens), m(5, 1, stops)}, ""},
		{"an entry is lost", [][]byte{m(1, 0, opens), m(1, 2, stops)}, "the entries from 1 to 1 are lost"},
		{"an entry is doubled", [][]byte{m(1, 0, opens), m(1, 1, stops), m(1, 1, stops)}, "the entries from 1 came before"},
		{"a writer writes after its successor", [][]byte{m(1, 0, opens), m(5, 0, opens), m(1, 1, stops)}, "writer 1 writes after writer 5: two hold the thread"},
		{"a writer writes after it has closed", [][]byte{m(1, 0, opens, closes), m(1, 2, stops)}, "writer 1 writes after it has closed the log"},
		{"a message that is none", [][]byte{[]byte("hello")}, "it is no message of a log"},
		{"an entry that is none", [][]byte{m(1, 0, opens, `{"x":1}`)}, "entry 1 cannot be read"},
		{"a count that is wrong", [][]byte{m(1, 0, opens+"\n"+stops)}, "it has 2 entries and says 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l Log
			for i, data := range tt.log {
				l.Add(Message{"s", uint64(i + 1), data})
			}
			if tt.want == "" {
				assert.Empty(t, l.Findings())
				return
			}
			assert.Contains(t, strings.Join(l.Findings(), "\n"), tt.want)
		})
	}
}
