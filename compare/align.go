package compare

import (
	"slices"

	"github.com/agfold/agfold/state"
)

// Pair is two messages that stand for each other, by their places in the two threads; -1 is none.
type Pair struct{ A, B int }

// maxCells bounds the table that aligns messages. Beyond it they are paired by place.
const maxCells = 4 << 20

// align pairs the messages of two lists, in order: those with the same content, else those of the same kind.
func align(a, b state.Value) []Pair {
	n, m := a.Len(), b.Len()
	similar := make([]string, 0, n+m) // what a message must share with another to be paired
	equal := make([]string, 0, n+m)
	for _, list := range []state.Value{a, b} {
		for _, v := range list.Elements() {
			s := kindOf(v)
			similar = append(similar, s)
			equal = append(equal, s+"\x00"+v.Get("content").String())
		}
	}
	score := func(i, j int) int32 {
		switch {
		case equal[i] == equal[n+j]:
			return 4
		case similar[i] == similar[n+j]:
			return 1
		}
		return 0
	}
	var pairs []Pair
	lo := 0
	for lo < n && lo < m && score(lo, lo) == 4 {
		pairs = append(pairs, Pair{lo, lo})
		lo++
	}
	hiA, hiB := n, m
	for hiA > lo && hiB > lo && score(hiA-1, hiB-1) == 4 {
		hiA--
		hiB--
	}
	pairs = append(pairs, middle(lo, hiA, hiB, score)...)
	for i := range n - hiA {
		pairs = append(pairs, Pair{hiA + i, hiB + i})
	}
	return pairs
}

// middle pairs the messages from lo to hiA and hiB, so that the sum of the scores is the greatest.
func middle(lo, hiA, hiB int, score func(i, j int) int32) []Pair {
	rows, columns := hiA-lo, hiB-lo
	var pairs []Pair
	if rows*columns > maxCells {
		for i := range max(rows, columns) {
			p := Pair{lo + i, lo + i}
			if i >= rows {
				p.A = -1
			}
			if i >= columns {
				p.B = -1
			}
			pairs = append(pairs, p)
		}
		return pairs
	}
	best := make([][]int32, rows+1)
	for i := range best {
		best[i] = make([]int32, columns+1)
	}
	for i := 1; i <= rows; i++ {
		for j := 1; j <= columns; j++ {
			best[i][j] = max(best[i-1][j], best[i][j-1])
			if s := score(lo+i-1, lo+j-1); s > 0 {
				best[i][j] = max(best[i][j], best[i-1][j-1]+s)
			}
		}
	}
	for i, j := rows, columns; i > 0 || j > 0; {
		s := int32(0)
		if i > 0 && j > 0 {
			s = score(lo+i-1, lo+j-1)
		}
		switch {
		case s > 0 && best[i][j] == best[i-1][j-1]+s:
			i--
			j--
			pairs = append(pairs, Pair{lo + i, lo + j})
		case j > 0 && (i == 0 || best[i][j] == best[i][j-1]):
			j--
			pairs = append(pairs, Pair{-1, lo + j})
		default:
			i--
			pairs = append(pairs, Pair{lo + i, -1})
		}
	}
	slices.Reverse(pairs)
	return pairs
}

// kindOf returns what a message is: its role, type and the names of its calls.
func kindOf(m state.Value) string {
	s := m.Get("role").String() + m.Get("activityType").String()
	for _, call := range m.Get("toolCalls").Elements() {
		s += " " + call.Get("function").Get("name").String()
	}
	return s
}
