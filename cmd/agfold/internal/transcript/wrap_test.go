package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func wrapped(text string, width int) []string {
	var got []string
	wrap(text, width, func(line string) bool { got = append(got, line); return true })
	return got
}

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		name, in string
		want     []string
	}{
		{"what fits stays", "one two", []string{"one two"}},
		{"it breaks between words", "one two three", []string{"one two", "three"}},
		{"a word that just fits stays", "one two th", []string{"one two th"}},
		{"a longer word stays whole", "see https://host/path for", []string{"see", "https://host/path", "for"}},
		{"spaces at a break go", "one two    three", []string{"one two", "three"}},
		{"line feeds are kept, empty lines too", "a\n\nb", []string{"a", "", "b"}},
		{"spaces at an end go", "a  \nb", []string{"a", "b"}},
		{"an indent goes on", "  one two three", []string{"  one two", "  three"}},
		{"a list item hangs", "- one two three", []string{"- one two", "  three"}},
		{"wide characters count twice", "漢字 漢字 漢字", []string{"漢字 漢字", "漢字"}},
		{"marks that join a letter do not count", "e\u0301e\u0301e\u0301e\u0301 four five", []string{"e\u0301e\u0301e\u0301e\u0301 four", "five"}},
		{"nothing is one empty line", "", []string{""}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, wrapped(row.in, 10)) })
	}
}

func TestWrapStopsWhenTold(t *testing.T) {
	n := 0
	assert.False(t, wrap("a\nb\nc", 10, func(string) bool { n++; return n < 2 }))
	assert.Equal(t, 2, n)
}

func TestBlockSaysHowMuchItLeavesOut(t *testing.T) {
	for _, row := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"all fits", "a\nb", 2, "a\nb\n"},
		{"lines are left out", "a\nb\nc\nd", 2, "a\nb\n… 3 bytes left out\n"},
		{"no limit", "a\nb\nc", -1, "a\nb\nc\n"},
		{"a line feed at the end is nothing", "a\nb\n", 3, "a\nb\n\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := Style{}.page()
			p.block(row.in, row.limit)
			assert.Equal(t, row.want, p.b.String())
		})
	}
	t.Run("one line that is too long", func(t *testing.T) {
		p := Style{}.page()
		p.block(strings.Repeat("☔", 3000), 5)
		first, note, _ := strings.Cut(p.b.String(), "\n")
		assert.LessOrEqual(t, len(first), maxBytes)
		assert.True(t, utf8.ValidString(first), "no character is cut in two")
		assert.Equal(t, "… 4.9 kB left out\n", note)
	})
}

func TestCut(t *testing.T) {
	for _, row := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"just right", 10, "just right"}, {"a bit too long", 10, "a bit too…"},
		{"漢字漢字漢字", 6, "漢字…"}, {"漢字漢", 6, "漢字漢"}, {"", 5, ""},
	} {
		assert.Equal(t, row.want, cut(row.in, row.width), row.in)
		assert.LessOrEqual(t, columns(cut(row.in, row.width)), row.width)
	}
}

func TestSize(t *testing.T) {
	assert.Equal(t, "999 bytes", size(999))
	assert.Equal(t, "1.5 kB", size(1500))
	assert.Equal(t, "2.0 MB", size(2_000_000))
}

func FuzzWrap(f *testing.F) {
	f.Add("one two  three\n- four five", 12)
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = minWidth + width&63
		s = Clean(s)
		lines := wrapped(s, width)
		require.Equal(t, strings.Fields(s), strings.Fields(strings.Join(lines, "\n")), "no word is lost or split")
		for _, line := range lines {
			if columns(line) > width {
				require.LessOrEqual(t, len(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })), 2,
					"only what cannot be broken is too wide: %q", line)
			}
		}
		require.LessOrEqual(t, columns(cut(CleanLine(s), width)), width)
	})
}
