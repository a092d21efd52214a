package state

import "github.com/agfold/agfold/internal/seq"

// maxEdits is the most elements that may have come and gone for arrays to be aligned.
const maxEdits = 64

func (d *differ) arrays(a, b Value) {
	n, m := a.Len(), b.Len()
	start := min(n, m)
	for i := range diffElements(a, b, d.identical) {
		start = i
		break
	}
	end := min(n, m) - start // common elements at the end
	for i := range seq.DiffRangeBackward(a.n.c.items, b.n.c.items, d.identical) {
		end = min(end, i)
		break
	}
	n, m = n-start-end, m-start-end // between the common start and end
	places := max(n, m)             // elements that an alignment may save
	if n == m {
		places = 0
		for range diffElements(a, b, d.identical) {
			places++
		}
	}
	if places > 2 && min(n, m) > 0 {
		x, y := between(a, start, n), between(b, start, m)
		if hunks, ok := d.align(x, y); ok && (n != m || cost(hunks) < places) {
			d.hunks(x, y, hunks, start)
			return
		}
	}
	if n == m {
		for i := range diffElements(a, b, Same) {
			d.element(i, a.Index(i), b.Index(i))
		}
		return
	}
	for i := start; i < start+min(n, m); i++ {
		d.element(i, a.Index(i), b.Index(i))
	}
	d.tail(start+min(n, m), n-m, b)
}

// tail removes surplus elements at index i, or adds the -surplus elements of b from there on.
func (d *differ) tail(i, surplus int, b Value) {
	for ; surplus > 0; surplus-- {
		d.at(i, OpRemove, Value{})
	}
	for ; surplus < 0; surplus++ {
		d.at(i, OpAdd, b.Index(i))
		i++
	}
}

func (d *differ) element(i int, x, y Value) {
	depth := len(d.path)
	d.path = appendIndex(d.path, i)
	d.values(x, y)
	d.path = d.path[:depth]
}

func (d *differ) at(i int, kind OpKind, v Value) {
	depth := len(d.path)
	d.path = appendIndex(d.path, i)
	d.add(kind, v)
	d.path = d.path[:depth]
}

func between(v Value, start, n int) []Value {
	out := make([]Value, 0, n)
	for _, e := range v.n.c.items.From(start) {
		if len(out) == n {
			break
		}
		out = append(out, e)
	}
	return out
}

// hunk is a difference: x[i:i+gone] became y[j:j+came].
type hunk struct{ i, j, gone, came int }

// cost returns the number of elements that the hunks replace, remove or add.
func cost(hunks []hunk) int {
	n := 0
	for _, h := range hunks {
		n += max(h.gone, h.came)
	}
	return n
}

// hunks adds the operations for the hunks between x and y, which begin at index start of their arrays.
func (d *differ) hunks(x, y []Value, hunks []hunk, start int) {
	for _, h := range hunks {
		at := start + h.j // everything before is already as in y
		both := min(h.gone, h.came)
		for k := range both {
			d.element(at+k, x[h.i+k], y[h.j+k])
		}
		for range h.gone - both {
			d.at(at+both, OpRemove, Value{})
		}
		for k := both; k < h.came; k++ {
			d.at(at+k, OpAdd, y[h.j+k])
		}
	}
}

// align finds the fewest elements to remove from x and to insert to get y, by the greedy algorithm of Myers
// ("An O(ND) Difference Algorithm and Its Variations", 1986). ok is false if that takes more than maxEdits
// elements or more than half of the budget.
func (d *differ) align(x, y []Value) (hunks []hunk, ok bool) {
	kept := d.left / 2
	d.left -= kept
	defer func() { d.left += kept }()
	const width = 2*maxEdits + 3
	const zero = maxEdits + 1
	var reach [width]int // on diagonal k (i-j), the furthest i, at zero+k
	var trace [][width]int
	for edits := 0; edits <= maxEdits && d.left > 0; edits++ {
		trace = append(trace, reach)
		for k := -edits; k <= edits; k += 2 {
			i := furthest(&reach, zero, k, edits)
			j := i - k
			for i < len(x) && j >= 0 && j < len(y) && d.identical(x[i], y[j]) {
				i++
				j++
			}
			reach[zero+k] = i
			if i >= len(x) && j >= len(y) {
				return trackBack(trace, zero, len(x), len(y)), true
			}
		}
	}
	return nil, false
}

// furthest returns where diagonal k begins with one more edit than in reach.
func furthest(reach *[2*maxEdits + 3]int, zero, k, edits int) int {
	switch {
	case edits == 0:
		return 0
	case k == -edits || k != edits && reach[zero+k-1] < reach[zero+k+1]:
		return reach[zero+k+1] // one more of y
	}
	return reach[zero+k-1] + 1 // one less of x
}

// trackBack converts the trace of align to hunks, in ascending order.
func trackBack(trace [][2*maxEdits + 3]int, zero, i, j int) []hunk {
	var hunks []hunk
	for edits := len(trace) - 1; edits > 0; edits-- {
		reach := &trace[edits]
		k := i - j
		var h hunk
		if k == -edits || k != edits && reach[zero+k-1] < reach[zero+k+1] {
			i = reach[zero+k+1]
			j = i - k - 1
			h = hunk{i, j, 0, 1}
		} else {
			i = reach[zero+k-1]
			j = i - k + 1
			h = hunk{i, j, 1, 0}
		}
		if n := len(hunks); n > 0 && h.i+h.gone == hunks[n-1].i && h.j+h.came == hunks[n-1].j {
			last := &hunks[n-1]
			*last = hunk{h.i, h.j, last.gone + h.gone, last.came + h.came}
			continue
		}
		hunks = append(hunks, h)
	}
	for a, b := 0, len(hunks)-1; a < b; a, b = a+1, b-1 {
		hunks[a], hunks[b] = hunks[b], hunks[a]
	}
	return hunks
}
