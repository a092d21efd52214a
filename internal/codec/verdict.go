package codec

import (
	"slices"
	"strconv"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// Fault says what is malformed (P-ENF-4).
type Fault struct {
	Path    string // a JSON pointer in the document
	Want    string // what belongs there, such as "a string"
	Found   string // what is there, such as "null" or "nothing"
	TooDeep bool   // the document nests too deeply; want and found are empty
}

// Removal says what unrecognized material was left out.
type Removal struct {
	Rule string // P-ENF-2, P-ENF-3 or P-ENF-5
	Path string // a JSON pointer in the document: the place that was removed
	Text string // a sentence for people
}

// step is one token of a path: a member's key, or an element's index if it is not negative.
type step struct {
	key   string
	index int
}

// unrecognized is a value on its way outwards to a place that may be removed.
type unrecognized struct {
	rule  string
	depth int    // the length of the path of the value that was not recognized
	path  []step // that path
	value string
}

// Malformed notes that the value at the current place, which is decoded, is not what is wanted.
func (c *Codec) Malformed(want string) { c.Fault(want, describe(c.value)) }

// Reject notes that the member key, which was walked, is malformed in a way that its kind does not show.
func (c *Codec) Reject(key, want, found string) {
	if c.fault != nil {
		return
	}
	c.push(key)
	c.Fault(want, found)
	c.pop()
}

// RejectInside notes what is malformed at the place with this path from the current one.
func (c *Codec) RejectInside(path, want, found string) {
	if c.fault == nil {
		c.fault = &Fault{Path: pointer(c.path) + path, Want: want, Found: found}
	}
}

// Fault notes what is malformed at the current place. The first note counts.
func (c *Codec) Fault(want, found string) {
	if c.fault == nil {
		c.fault = &Fault{Path: pointer(c.path), Want: want, Found: found}
	}
}

func (c *Codec) faultAt(key, want string, v state.Value) {
	if c.fault != nil {
		return
	}
	c.Reject(key, want, describe(v))
	if !v.Exists() && c.mode == decoding {
		c.missing = key
	}
}

// suggest adds to a fault about a missing member what is there instead.
func (c *Codec) suggest(missing string) {
	asked := c.asked[c.object.first:]
	for key := range c.object.value.Members() {
		if similar(key, []string{missing}) != "" && !slices.Contains(asked, key) {
			c.fault.Found = "nothing, but there is " + Quote(key)
			break
		}
	}
}

// unknown notes that the value of the member key of the current place is not in its closed set.
func (c *Codec) unknown(rule, key, value string) {
	if c.gone != nil {
		return
	}
	if c.full() {
		c.gone = &unlisted
		return
	}
	path := append(append([]step(nil), c.path...), step{key: key, index: -1})
	c.gone = &unrecognized{rule: rule, depth: len(path), path: path, value: value}
}

// unlisted is a value whose removal is counted, but not listed.
var unlisted unrecognized

// full reports whether the removable place that the walk is in can only be counted, even after what was noted inside it is
// forgotten.
func (c *Codec) full() bool { return c.around >= c.maxRemovals }

// remove notes that the current place is removed.
func (c *Codec) remove(rule, text string) {
	if len(c.removals) >= c.maxRemovals {
		c.more++
		return
	}
	c.removals = append(c.removals, Removal{rule, pointer(c.path), text})
}

// mark is what was noted before a removable place is walked.
type mark struct {
	fault          *Fault
	removals, more int
	around         int
	gone           *unrecognized
}

func (c *Codec) mark() mark {
	m := mark{c.fault, len(c.removals), c.more, c.around, c.gone}
	c.around, c.gone = len(c.removals), nil
	return m
}

// settle is called at a removable place after what it holds was walked. If that is unrecognized, the place takes it
// along: what was noted inside since m is forgotten, and the place is noted as removed.
func (c *Codec) settle(m mark) (kept bool) {
	g := c.gone
	c.around, c.gone = m.around, m.gone
	if g == nil {
		return true
	}
	c.fault, c.removals, c.more = m.fault, c.removals[:m.removals], m.more
	if g == &unlisted {
		c.more++
		return false
	}
	text := Quote(g.value) + " is not recognized"
	if inner := g.path[min(len(c.path), g.depth):]; len(inner) > 0 {
		text = pointer(inner) + " is " + Quote(g.value) + ", which is not recognized"
	}
	c.remove(g.rule, text)
	return false
}

func (c *Codec) push(key string)     { c.path = append(c.path, step{key, -1}) }
func (c *Codec) pushIndex(index int) { c.path = append(c.path, step{"", index}) }
func (c *Codec) pop()                { c.path = c.path[:len(c.path)-1] }

func pointer(path []step) string {
	var b []byte
	for _, s := range path {
		if s.index >= 0 {
			b = strconv.AppendInt(append(b, '/'), int64(s.index), 10)
		} else {
			b = jsontext.AppendToken(b, s.key)
		}
	}
	return string(b)
}
