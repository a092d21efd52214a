package term

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for _, row := range []struct{ name, in, want, line string }{
		{"plain text stays", "blåbær ☔ 漢字", "blåbær ☔ 漢字", "blåbær ☔ 漢字"},
		{"a line feed stays and a tab becomes spaces", "a\n\tb", "a\n    b", `a\n\tb`},
		{"CR LF becomes LF", "a\r\nb", "a\nb", `a\nb`},
		{"a bare CR, which overwrites the line, is made visible", "good\rbad", `good\x0dbad`, `good\x0dbad`},
		{"ESC", "\x1b[2J\x1b]0;title\x07", `\x1b[2J\x1b]0;title\x07`, `\x1b[2J\x1b]0;title\x07`},
		{"NUL, backspace and DEL", "\x00\b\x7f", `\x00\x08\x7f`, `\x00\x08\x7f`},
		{"C1, the one-character CSI", "\u009b31m", `\x9b31m`, `\x9b31m`},
		{"C1 as a bare byte is not UTF-8", "\x9b31m", "\uFFFD31m", "\uFFFD31m"},
		{"direction marks", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, `a\u202eb\u2066c\u200f`},
		{"line separators", "a\u2028b", `a\u2028b`, `a\u2028b`},
		{"a joiner within an emoji stays", "👩\u200d🚀", "👩\u200d🚀", "👩\u200d🚀"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, Clean(row.in).String())
			assert.Equal(t, row.line, Line(row.in).String())
		})
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	in := "{\"a\u009b\":\"\x7f \u202e ☔ \U0001F680\"}"
	got := JSON([]byte(in)).String()
	assert.Equal(t, `{"a\u009b":"\u007f \u202e ☔ 🚀"}`, got)
	var before, after any
	require.NoError(t, json.Unmarshal([]byte(in), &before))
	require.NoError(t, json.Unmarshal([]byte(got), &after))
	assert.Equal(t, before, after)
}

func TestSprintfCleansItsArguments(t *testing.T) {
	red := Colors(true).Paint(Red, Lit("red"))
	assert.Equal(t, `a\x1bb, c\nd, \x07, "\u202e",    7, 1.5 `+red.String(),
		Sprintf("%s, %v, %s, %q, %4d, %.1f %s", "a\x1bb", errors.New("c\nd"), "\a", "\u202e", 7, 1.5, red).String())
	assert.Equal(t, `[a\x1b b]`, Sprintf("%v", []string{"a\x1b", "b"}).String())
}

func TestNoPasswordIsPrinted(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pass@host/a?b=c@d":        "https://host/a?b=c@d",
		"https://user@host":                     "https://host",
		"https://host/@name":                    "https://host/@name",
		"http://user:p@ss:x@host:bad/":          "http://host:bad/",
		`Post "http://u:p@host/": dial refused`: `Post "http://host/": dial refused`,
		"no URL: a@b":                           "no URL: a@b",
	} {
		assert.Equal(t, want, URL(in).String())
		assert.Equal(t, "x "+want, Sprintf("x %v", errors.New(in)).String())
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "✅": 2, "👨‍👩‍👧": 2, "🇳🇴": 2, "…": 1, "│ ▸": 3, "\u00a0": 1,
	} {
		assert.Equal(t, want, Clean(text).Columns(), text)
		assert.Equal(t, want, Colors(true).Paint(Red, Clean(text)).Columns(), "colors take no column")
	}
}

func wrapped(text string, width int) []string {
	var got []string
	for line := range Clean(text).Wrap(width) {
		got = append(got, line.String())
	}
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
		{"a wider word is broken at the edge", "see https://host/path for", []string{"see", "https://ho", "st/path", "for"}},
		{"a space that does not break is a letter", "........\u00a0fake", []string{"........\u00a0f", "ake"}},
		{"a path or hyphen does not break", "ab cd/ef-gh", []string{"ab", "cd/ef-gh"}},
		{"spaces at a break go", "one two    three", []string{"one two", "three"}},
		{"line feeds are kept, empty lines too", "a\n\nb", []string{"a", "", "b"}},
		{"spaces at an end go", "a  \nb", []string{"a", "b"}},
		{"an indent continues", "  one two three", []string{"  one two", "  three"}},
		{"a wide indent is cut to half of the width", "            one two", []string{"     one", "     two"}},
		{"a list item hangs", "- one two three", []string{"- one two", "  three"}},
		{"wide characters count twice", "漢字 漢字 漢字", []string{"漢字 漢字", "漢字"}},
		{"ideographs break anywhere, but not before a full stop", "漢字漢字漢字。", []string{"漢字漢字漢", "字。"}},
		{"an emoji is one character", "✅✅✅👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", []string{"✅✅✅👨‍👩‍👧👨‍👩‍👧", "👨‍👩‍👧"}},
		{"text without spaces breaks at the edge", "สวัสดีครับสวัสดีครับ", []string{"สวัสดีครับสวัส", "ดีครับ"}},
		{"marks that join a letter do not count", "e\u0301e\u0301e\u0301e\u0301 four five", []string{"e\u0301e\u0301e\u0301e\u0301 four", "five"}},
		{"nothing is one empty line", "", []string{""}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, wrapped(row.in, 10)) })
	}
	assert.Equal(t, []string{"漢", "字"}, wrapped("漢字", 1), "a character wider than the line has its own")
	for range Clean("a\nb\nc").Wrap(10) {
		break // stops
	}
}

// TestNoCharacterIsWiderThanTwoColumns: Unicode joins any number of these into one character.
func TestNoCharacterIsWiderThanTwoColumns(t *testing.T) {
	for _, r := range []rune{0x903, 0x600, 0x110bd, 0xe33, 0x1100, 0x1161, 0x11a8, 0xa960, 0x2e3b, 0x1f3fd} {
		text := Line(strings.Repeat(string(r), 100))
		assert.Greater(t, text.Columns(), 0, "%U", r)
		n := 0
		for row := range text.Wrap(10) {
			assert.LessOrEqual(t, row.Columns(), 10, "%U", r)
			n += utf8.RuneCountInString(row.s)
			assert.LessOrEqual(t, utf8.RuneCountInString(row.s), 10*maxRunes, "%U", r)
		}
		assert.Equal(t, 100, n, "%U", r)
		for _, limit := range []int{2, 5} {
			assert.LessOrEqual(t, text.Clip(limit).Columns(), limit, "%U", r)
		}
	}
	assert.Equal(t, 200, Line(strings.Repeat("\u1100", 100)).Columns(), "each consonant takes two columns")
	assert.Equal(t, 2, Line("\u1112\u1161\u11ab").Columns(), "but not the rest of its syllable")
	assert.Equal(t, 2, Line("👩🏽‍❤️‍💋‍👨🏽").Columns(), "the longest emoji")
	family := Line("👩" + strings.Repeat("\u200d👩", 99))
	assert.Equal(t, 40, family.Columns(), "one emoji for each ten runes")
	long := Line("a" + strings.Repeat("\u0301", 1<<18))
	assert.Greater(t, long.Columns(), 0, "not in quadratic time")
}

func TestFoldIndentsWhatContinuesALine(t *testing.T) {
	fake := strings.Repeat(".", 10) + "\u00a0agfold: fake"
	assert.Equal(t, "a line\n........\n  ..\u00a0agfol\n  d: fake\n", Clean("a line\n"+fake+"\n").Fold(10).String())
	assert.Equal(t, "a question\n  of words: ", Clean("a question of words: ").Fold(12).String(), "a prompt keeps its space")
	assert.Equal(t, fake, Clean(fake).Fold(0).String())
}

func TestClip(t *testing.T) {
	for _, row := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"just right", 10, "just right"}, {"a bit too long", 10, "a bit too…"},
		{"漢字漢字漢字", 6, "漢字…"}, {"漢字漢", 6, "漢字漢"}, {"", 5, ""}, {"✅✅✅", 4, "✅…"},
	} {
		got := Clean(row.in).Clip(row.width)
		assert.Equal(t, row.want, got.String(), row.in)
		assert.LessOrEqual(t, got.Columns(), row.width)
	}
	painted := Colors(true).Paint(Red, Lit("a bit too long")).Plus(Lit(" and plain")).Clip(10)
	assert.Equal(t, "\x1b[31ma bit too…\x1b[0m", painted.String(), "colors end")
}

func TestJoin(t *testing.T) {
	assert.Equal(t, "a · b", Join(Lit(" · "), Lit("a"), Text{}, Lit("b")).String())
	assert.Equal(t, []Text{Lit("a"), Lit(""), Lit("b")}, Clean("a\n\nb\n").Lines())
}

var color = regexp.MustCompile("\x1b\\[[0-9]+m")

func FuzzText(f *testing.F) {
	f.Add("a\x1b[2J\r\n\u009b\xff", 12)
	f.Add("one two  three\n- four five\tsix", 7)
	f.Add("漢字👨‍👩‍👧e\u0301\u00a0.....................", 3)
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = 2 + width&63
		for _, text := range []string{Clean(s).s, Line(s).s, Sprintf("%s", s).s, JSON([]byte(s)).s, Sprintf("%q", s).s} {
			for _, r := range text {
				require.False(t, isControl(r) && r != '\n', "%q in %q", r, text)
			}
		}
		require.True(t, utf8.ValidString(Clean(s).s))
		require.Equal(t, Clean(s), Clean(Clean(s).s))
		require.NotContains(t, Line(s).s, "\n")
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		text := Colors(true).Paint(Red, Clean(s))
		lines := slices.Collect(text.Wrap(width))
		var all Builder
		for _, line := range lines {
			all.Add(line)
			require.LessOrEqual(t, line.Columns(), width, "%q", line.s)
		}
		require.Equal(t, letters(Clean(s).s), letters(color.ReplaceAllString(all.Text().s, "")), "nothing is lost")
		for line := range strings.SplitSeq(strings.TrimRight(text.Fold(width+2).s, " "), "\n") {
			require.LessOrEqual(t, Text{line}.Columns(), width+2+len(line)-len(strings.TrimRight(line, " ")))
		}
		clipped := Colors(true).Paint(Red, Line(s)).Clip(width)
		require.LessOrEqual(t, clipped.Columns(), width)
	})
}
