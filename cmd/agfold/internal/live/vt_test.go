package live

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// vt is a terminal that knows what Screen says and fails the test on anything else.
type vt struct {
	t             *testing.T
	width, height int
	rows          [][]rune
	x, y          int
	hidden        bool
	noWrap        bool
	writes        int
	err           error
}

func newVT(t *testing.T, width, height int) *vt {
	v := &vt{t: t, width: width, height: height}
	for range height {
		v.rows = append(v.rows, v.blank())
	}
	return v
}

func (v *vt) blank() []rune { return []rune(strings.Repeat(" ", v.width)) }

func (v *vt) Write(b []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	v.writes++
	for s := string(b); s != ""; {
		if s[0] == 0x1b {
			s = v.escape(s)
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case r == '\r':
			v.x = 0
		case r == '\n':
			v.down()
		case r < 0x20 || r == 0x7f:
			require.Fail(v.t, "a control character", "%q", r)
		default:
			if v.x == v.width {
				if v.noWrap {
					v.x--
				} else {
					v.x = 0
					v.down()
				}
			}
			v.rows[v.y][v.x] = r
			v.x++
		}
	}
	return len(b), nil
}

func (v *vt) down() {
	if v.y++; v.y == v.height {
		v.rows = append(v.rows[1:], v.blank())
		v.y--
	}
}

func (v *vt) escape(s string) string {
	n := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' }) + 3
	seq, rest := s[:n], s[n:]
	switch {
	case seq == "\x1b[?25l":
		v.hidden = true
	case seq == "\x1b[?25h":
		v.hidden = false
	case seq == "\x1b[?7l":
		v.noWrap = true
	case seq == "\x1b[?7h":
		v.noWrap = false
	case seq == begin.String(), seq == end.String(), strings.HasSuffix(seq, "m"):
	case seq == "\x1b[K":
		copy(v.rows[v.y][min(v.x, v.width-1):], v.blank())
	case seq == "\x1b[J":
		copy(v.rows[v.y][min(v.x, v.width-1):], v.blank())
		for y := v.y + 1; y < v.height; y++ {
			v.rows[y] = v.blank()
		}
	case strings.HasSuffix(seq, "A"):
		_, err := fmt.Sscanf(seq, "\x1b[%dA", &n)
		require.NoError(v.t, err)
		v.y = max(0, v.y-n)
	default:
		require.Fail(v.t, "an unknown sequence", "%q", seq)
	}
	return rest
}

// text returns what is on the terminal, without blank space at the end of lines and of all.
func (v *vt) text() string {
	var b strings.Builder
	for _, row := range v.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestScreen(t *testing.T) {
	full := strings.Repeat("x", 20)
	t.Run("a picture takes the place of the one before, below what was there", func(t *testing.T) {
		v := newVT(t, 20, 6)
		fmt.Fprint(v, "$ run\r\n")
		s := NewScreen(term.NewWriter(v))
		require.NoError(t, s.Draw(picture("one", "two", "three"), 20))
		assert.Equal(t, "$ run\none\ntwo\nthree", v.text())
		assert.True(t, v.hidden)
		require.NoError(t, s.Draw(picture("1"), 20))
		assert.Equal(t, "$ run\n1", v.text())
		require.NoError(t, s.Draw(picture("1", "2"), 20))
		assert.Equal(t, "$ run\n1\n2", v.text())
		require.NoError(t, s.Clear(20))
		assert.Equal(t, "$ run", v.text())
		assert.False(t, v.hidden)
		assert.False(t, v.noWrap)
		assert.Equal(t, [2]int{0, 1}, [2]int{v.x, v.y})
	})
	t.Run("at the bottom it scrolls once", func(t *testing.T) {
		v := newVT(t, 20, 4)
		fmt.Fprint(v, "a\r\nb\r\nc\r\n")
		s := NewScreen(term.NewWriter(v))
		for range 3 {
			require.NoError(t, s.Draw(picture("1", "2", "3"), 20))
			require.NoError(t, s.Draw(picture("4", "5", "6"), 20))
		}
		assert.Equal(t, "c\n4\n5\n6", v.text())
	})
	t.Run("a line as wide as the terminal keeps its last column, a wider one is cut", func(t *testing.T) {
		v := newVT(t, 20, 4)
		s := NewScreen(term.NewWriter(v))
		require.NoError(t, s.Draw(picture(full, full+"yz", "end"), 20))
		assert.Equal(t, full+"\n"+full[:19]+"z\nend", v.text())
	})
	t.Run("the same picture is not written again", func(t *testing.T) {
		v := newVT(t, 20, 4)
		s := NewScreen(term.NewWriter(v))
		require.NoError(t, s.Draw(picture("a"), 20))
		require.NoError(t, s.Draw(picture("a"), 20))
		assert.Equal(t, 1, v.writes)
	})
	t.Run("clearing nothing writes nothing", func(t *testing.T) {
		v := newVT(t, 20, 4)
		require.NoError(t, NewScreen(term.NewWriter(v)).Clear(20))
		assert.Zero(t, v.writes)
	})
	t.Run("a terminal that became narrower has broken the lines", func(t *testing.T) {
		v := newVT(t, 10, 8)
		fmt.Fprint(v, "$ run\r\n"+full[:10]+full[10:]+"\r\nshort") // as the terminal shows the picture now
		s := NewScreen(term.NewWriter(v))
		s.lines, s.drawn = picture(full, "short"), true
		require.NoError(t, s.Draw(picture("new"), 10))
		assert.Equal(t, "$ run\nnew", v.text())
	})
}

// picture returns clean lines.
func picture(lines ...string) []term.Text {
	var texts []term.Text
	for _, line := range lines {
		texts = append(texts, term.Line(line))
	}
	return texts
}
