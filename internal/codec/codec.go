package codec

import (
	"slices"
	"sync"

	"github.com/agfold/agfold/state"
)

// Codec is one walk over a document. It must be used by one goroutine at a time.
type Codec struct {
	mode mode
	out  []byte // what was encoded so far

	value   state.Value // the value that is decoded
	object  object      // the object whose members are decoded
	asked   []string    // the members asked for, of the object and of those around it
	path    []step      // where the walk is, unless it encodes
	fault   *Fault
	missing string // the member that the fault misses in the object where it was found
	gone    *unrecognized

	weight      int // while checking, no less than the JSON values that were walked
	removals    []Removal
	around      int // the removals noted before the removable place that the walk is in
	more        int // removals beyond the limit
	maxRemovals int

	omitsNulls bool     // while decoding: an optional member that is null is taken for an absent one
	nulls      []string // the paths of those
}

type mode uint8

const (
	encoding mode = iota
	decoding
	checking
)

// object is an object that is being decoded.
type object struct {
	value state.Value
	first int // the index of its first member in Codec.asked
	found int // how many of the members asked for are present
}

// Decoding reports whether the walk fills Go values in. In the other modes they must not be changed.
func (c *Codec) Decoding() bool { return c.mode == decoding }

// Encoding reports whether the walk writes Go values.
func (c *Codec) Encoding() bool { return c.mode == encoding }

var pool = sync.Pool{New: func() any { return new(Codec) }}

// membersOfObject is no less than the members that an object may have.
const membersOfObject = 20

// minText is the least capacity of the buffer for a document, in bytes.
const minText = 64

// Append appends the JSON text of p to dst.
func Append[T any](dst []byte, p T, walk func(T, *Codec)) []byte {
	c := pool.Get().(*Codec)
	c.mode, c.out = encoding, slices.Grow(dst, minText)
	walk(p, c)
	dst, c.out = c.out, nil
	pool.Put(c)
	return dst
}

// Verdict is what a walk found.
type Verdict struct {
	Fault    *Fault    // what is malformed, or nil
	Removals []Removal // what was or would be left out, in document order
	More     int       // how many removals there are beyond the limit
	Dropped  bool      // nothing is left of the document
	Weight   int       // of a check without a fault: the document holds no more JSON values
}

// Check judges p in place. Its removals are what decoding would leave out.
func Check[T any](p T, walk func(T, *Codec)) Verdict {
	c := pool.Get().(*Codec)
	c.mode, c.maxRemovals, c.weight = checking, 1, membersOfObject
	walk(p, c)
	if c.fault == nil && c.gone == nil && c.removals == nil {
		weight := c.weight
		pool.Put(c)
		return Verdict{Weight: weight}
	}
	return c.finish()
}

// Decode reads v into p. It keeps at most maxRemovals removals and counts the rest.
func Decode[T any](v state.Value, maxRemovals int, p T, walk func(T, *Codec)) Verdict {
	c := pool.Get().(*Codec)
	c.mode, c.maxRemovals, c.value = decoding, maxRemovals, v
	walk(p, c)
	return c.finish()
}

// Nulls returns the paths, as JSON pointers in v, of the optional members that are null, where null is malformed (P-NULL-1).
// It reads v into p like Decode.
func Nulls[T any](v state.Value, p T, walk func(T, *Codec)) []string {
	c := pool.Get().(*Codec)
	c.mode, c.value, c.omitsNulls = decoding, v, true
	walk(p, c)
	nulls := c.nulls
	c.omitsNulls, c.nulls = false, nil
	c.finish()
	return nulls
}

// finish returns the verdict, with the document as the outermost place that may be removed, and the codec to the pool.
func (c *Codec) finish() Verdict {
	kept := c.gone == nil || c.settle(mark{})
	verdict := Verdict{c.fault, c.removals, c.more, !kept, c.weight}
	c.value, c.object = state.Value{}, object{}
	c.fault, c.missing, c.gone, c.removals, c.around, c.more, c.weight = nil, "", nil, nil, 0, 0, 0
	pool.Put(c)
	return verdict
}

// Object walks the value at the current place as an object with the members of p.
func Object[T any](c *Codec, p T, members func(T, *Codec)) {
	switch c.mode {
	case encoding:
		c.out = append(c.out, '{')
		members(p, c)
		c.out = append(c.out, '}')
	case checking:
		members(p, c)
	default:
		outer, v := c.object, c.value
		if v.Kind() != state.KindObject {
			c.Malformed("an object")
			v = state.Value{}
		}
		c.object = object{value: v, first: len(c.asked)}
		members(p, c)
		c.endObject()
		c.asked = c.asked[:c.object.first]
		c.object, c.value = outer, v
	}
}

// endObject removes the members that were not asked for (P-ENF-2), unless the object goes anyway.
func (c *Codec) endObject() {
	missing := c.missing
	c.missing = ""
	if c.object.found == c.object.value.Len() || c.gone != nil {
		return
	}
	if missing != "" {
		c.suggest(missing)
	}
	asked := c.asked[c.object.first:]
	for key := range c.object.value.Members() {
		if slices.Contains(asked, key) {
			continue
		}
		if len(c.removals) >= c.maxRemovals {
			c.more++
			continue
		}
		text := "the property is not described"
		if like := similar(key, asked); like != "" {
			text += "; " + Quote(like) + " is"
		}
		c.push(key)
		c.remove("P-ENF-2", text)
		c.path[len(c.path)-1].key = "" // which would keep the document in memory
		c.pop()
	}
}

// get returns the member key of the object that is decoded.
func (c *Codec) get(key string) state.Value {
	v := c.object.value.Get(key)
	c.asked = append(c.asked, key)
	if v.Exists() {
		c.object.found++
	}
	return v
}

// optional returns the optional member key of the object that is decoded.
func (c *Codec) optional(key string) state.Value {
	v := c.get(key)
	if c.omitsNulls && v.Kind() == state.KindNull {
		c.push(key)
		c.nulls = append(c.nulls, pointer(c.path))
		c.pop()
		return state.Value{}
	}
	return v
}

// Field walks the required member key, whose value walk reads, writes or checks. If it is unrecognized, so is the
// object.
func Field[T any](c *Codec, key string, p *T, walk func(*T, *Codec)) {
	switch c.mode {
	case encoding:
		c.out = AppendKey(c.out, key)
		walk(p, c)
	case checking:
		c.push(key)
		walk(p, c)
		c.pop()
	default:
		missing := c.required(key)
		walk(p, c)
		c.pop()
		c.missing = missing
	}
}

// required goes to the member key, which must be present, and returns the key that the first fault, if there will be
// one now, misses.
func (c *Codec) required(key string) (missing string) {
	c.value = c.get(key)
	if missing = c.missing; c.fault == nil && !c.value.Exists() {
		missing = key
	}
	c.push(key)
	return missing
}

// OptField walks the optional member key, which is present, unless the walk decodes, if present is set. If it is
// unrecognized, it is removed. The result says whether it is present.
func OptField[T any](c *Codec, key string, p *T, present bool, walk func(*T, *Codec)) bool {
	if c.mode == decoding {
		c.value = c.optional(key)
		present = c.value.Exists()
	}
	switch {
	case !present:
		return false
	case c.mode == encoding:
		c.out = AppendKey(c.out, key)
		walk(p, c)
		return true
	}
	c.push(key)
	m := c.mark()
	walk(p, c)
	kept := c.settle(m)
	c.pop()
	if !kept && c.mode == decoding {
		var zero T
		*p = zero
	}
	return kept
}

// List walks the required member key, a list, each element with walk.
func List[T any](c *Codec, key string, list *[]T, walk func(*T, *Codec)) {
	switch c.mode {
	case encoding:
		c.out = AppendKey(c.out, key)
		Elements(c, list, walk)
	case checking:
		if len(*list) > 0 {
			c.push(key)
			Elements(c, list, walk)
			c.pop()
		}
	default:
		missing := c.required(key)
		Elements(c, list, walk)
		c.pop()
		c.missing = missing
	}
}

// OptList walks the optional member key, a list that is nil if it is absent, each element with walk.
func OptList[T any](c *Codec, key string, list *[]T, walk func(*T, *Codec)) {
	if c.mode == decoding {
		c.value = c.optional(key)
		if !c.value.Exists() {
			return
		}
		c.push(key)
		Elements(c, list, walk)
		c.pop()
	} else if *list != nil {
		List(c, key, list, walk)
	}
}

// Objects is [List] of objects.
func Objects[T any](c *Codec, key string, list *[]T, members func(*T, *Codec)) {
	List(c, key, list, func(p *T, c *Codec) { Object(c, p, members) })
}

// OptObjects is [OptList] of objects.
func OptObjects[T any](c *Codec, key string, list *[]T, members func(*T, *Codec)) {
	OptList(c, key, list, func(p *T, c *Codec) { Object(c, p, members) })
}

// OptStrings walks the optional member key, a list of strings that is nil if it is absent.
func OptStrings(c *Codec, key string, list *[]string) { OptList(c, key, list, text) }

func text(s *string, c *Codec) {
	switch c.mode {
	case encoding:
		c.AppendText(*s)
	case decoding:
		var ok bool
		if *s, ok = c.value.AsString(); !ok {
			c.Malformed("a string")
		}
	}
}

// maxAhead is how many elements a list may be given room for before any is known to be sound.
const maxAhead = 1024

// Elements walks the value at the current place, a list. Unrecognized elements are removed. A list that was decoded
// is not nil.
func Elements[T any](c *Codec, list *[]T, walk func(*T, *Codec)) {
	switch c.mode {
	case encoding:
		c.out = append(c.out, '[')
		for i := range *list {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			walk(&(*list)[i], c)
		}
		c.out = append(c.out, ']')
	case checking:
		c.weight += len(*list) * membersOfObject
		for i := range *list {
			c.pushIndex(i)
			m := c.mark()
			walk(&(*list)[i], c)
			c.settle(m)
			c.pop()
			if c.fault != nil {
				break
			}
		}
	default:
		v := c.value
		if v.Kind() != state.KindArray {
			c.Malformed("an array")
			*list = []T{}
			return
		}
		items := make([]T, 0, min(v.Len(), maxAhead))
		for i, element := range v.Elements() {
			var zero T
			items = append(items, zero)
			c.value = element
			c.pushIndex(i)
			m := c.mark()
			walk(&items[len(items)-1], c)
			if !c.settle(m) {
				items = items[:len(items)-1]
			}
			c.pop()
			if c.fault != nil { // nothing is of use any more
				break
			}
		}
		*list = items
	}
}
