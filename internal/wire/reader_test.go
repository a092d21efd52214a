package wire

import (
	"strings"
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

// leaf is a union that the tests read: {"kind":"a","n"?} or {"kind":"b","inner":leaf}, with an optional
// "note" of a closed set and an optional list of leaves.
type leaf struct {
	kind  string
	n     int64
	note  string
	inner *leaf
	list  []*leaf
	open  state.Value
}

func readLeaf(r *Reader, v state.Value) *leaf {
	l := &leaf{}
	o := r.Object(v)
	kind, ok := o.Tag("kind", "a", "b")
	if !ok {
		return l
	}
	l.kind = kind
	if kind == "b" {
		l.inner = Field(&o, "inner", readLeaf)
	} else {
		l.n, _ = o.OptInteger("n", 0)
	}
	l.note = o.OptEnum("note", "x", "y")
	l.list = OptList(&o, "list", readLeaf)
	maybe, present := OptField(&o, "maybe", readLeaf)
	if present {
		l.list = append(l.list, maybe)
	}
	l.open = o.OptOpen("open")
	o.End()
	return l
}

func TestReaderRemoves(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []Removal
		kept     bool
	}{
		{"nothing to remove", `{"kind":"a","n":1,"note":"x","list":[],"open":{"kind":7}}`, nil, true},
		{"P-ENF-2 unknown members, in their order", `{"kind":"a","z":1,"a":null}`,
			[]Removal{{"P-ENF-2", "/z", "the property is not described"}, {"P-ENF-2", "/a", "the property is not described"}}, true},
		{"P-ENF-2 an empty key is a key", `{"kind":"a","":1}`, []Removal{{"P-ENF-2", "/", "the property is not described"}}, true},
		{"P-ENF-3 a list element", `{"kind":"a","list":[{"kind":"a"},{"kind":"c"}]}`,
			[]Removal{{"P-ENF-3", "/list/1", `/kind is "c", which is not recognised`}}, true},
		{"P-ENF-3 an optional field", `{"kind":"a","maybe":{"kind":"c","n":"wrong"}}`,
			[]Removal{{"P-ENF-3", "/maybe", `/kind is "c", which is not recognised`}}, true},
		{"P-ENF-3 outwards from a required field to a list element", `{"kind":"a","list":[{"kind":"b","inner":{"kind":"b","inner":{"kind":"c"}}}]}`,
			[]Removal{{"P-ENF-3", "/list/0", `/inner/inner/kind is "c", which is not recognised`}}, true},
		{"P-ENF-3 outwards to the document", `{"kind":"b","inner":{"kind":"c"}}`,
			[]Removal{{"P-ENF-3", "", `/inner/kind is "c", which is not recognised`}}, false},
		{"P-ENF-3 what was found inside a removed place is forgotten", `{"kind":"a","list":[{"kind":"b","x":1,"note":"z","n":0,"list":[7],"inner":{"kind":"c"}}]}`,
			[]Removal{{"P-ENF-3", "/list/0", `/inner/kind is "c", which is not recognised`}}, true},
		{"P-ENF-5 an optional member of a closed set", `{"kind":"a","note":"z"}`,
			[]Removal{{"P-ENF-5", "/note", `"z" is not recognised`}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r Reader
			kept := r.Document(func() { readLeaf(&r, parse(t, tc.in)) })
			assert.Nil(t, r.Fault())
			assert.Equal(t, tc.want, r.Removals())
			assert.Equal(t, tc.kept, kept)
		})
	}
}

func TestReaderFaults(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     Fault
	}{
		{"not an object", `[]`, Fault{"", "an object", "array"}},
		{"a missing tag", `{}`, Fault{"/kind", "a string", "nothing"}},
		{"a tag that is no string", `{"kind":null}`, Fault{"/kind", "a string", "null"}},
		{"a wrong number", `{"kind":"a","n":-1}`, Fault{"/n", "a non-negative integer up to 2^53-1 or no such member", "number -1"}},
		{"deep inside, with escapes", `{"kind":"a","list":[{"kind":"a"},{"kind":"a","maybe":{"kind":"b"}}]}`, Fault{"/list/1/maybe/inner", "an object", "nothing"}},
		{"the first of several", `{"kind":"a","n":true,"note":1,"list":{}}`, Fault{"/n", "a non-negative integer up to 2^53-1 or no such member", "boolean"}},
		{"a fault outside a removed place stays", `{"kind":"a","n":0.5,"maybe":{"kind":"c"}}`, Fault{"/n", "a non-negative integer up to 2^53-1 or no such member", "number 0.5"}},
		{"a list that is none", `{"kind":"a","list":null}`, Fault{"/list", "an array", "null"}},
		{"an open object that is none", `{"kind":"a","open":null}`, Fault{"/open", "an object or no such member", "null"}},
	} {
		t.Run("P-ENF-4 "+tc.name, func(t *testing.T) {
			var r Reader
			r.Document(func() { readLeaf(&r, parse(t, tc.in)) })
			require.NotNil(t, r.Fault())
			assert.Equal(t, tc.want, *r.Fault())
		})
	}
}

func TestReaderReads(t *testing.T) {
	var r Reader
	got := readLeaf(&r, parse(t, `{"kind":"b","inner":{"kind":"a","n":2e0},"list":[{"kind":"a"},{"kind":"?"}],"maybe":{"kind":"a","note":"y"},"open":{"z":null}}`))
	assert.Nil(t, r.Fault())
	assert.Equal(t, "b", got.kind)
	assert.Equal(t, int64(2), got.inner.n)
	require.Len(t, got.list, 2)
	assert.Equal(t, "y", got.list[1].note)
	assert.Equal(t, `{"z":null}`, got.open.String())

	first := r.Removals()
	r.Reset()
	readLeaf(&r, parse(t, `{"kind":"a","x":1}`))
	assert.Len(t, first, 1)
	assert.Equal(t, "/list/1", first[0].Path, "what was handed out stays")
	assert.Equal(t, "/x", r.Removals()[0].Path)
}

func TestObjectGetters(t *testing.T) {
	v := parse(t, `{"s":"x","b":true,"i":3,"null":null,"f":"fixed","o":{},"u":0}`)
	var r Reader
	o := r.Object(v)
	assert.Equal(t, "x", o.String("s"))
	b, ok := o.OptBool("b")
	assert.True(t, b && ok)
	n, ok := o.OptInteger("i", -MaxInteger)
	assert.True(t, ok && n == 3)
	assert.Equal(t, state.KindNull, o.Any("null").Kind())
	assert.True(t, o.Fixed("f", "fixed", true))
	assert.False(t, o.Fixed("g", "fixed", false))
	assert.Equal(t, "{}", o.Open("o").String())
	_, ok = o.OptString("absent")
	assert.False(t, ok)
	assert.False(t, o.OptAny("absent2").Exists())
	o.Skip("u")
	o.End()
	assert.Nil(t, r.Fault())
	assert.Empty(t, r.Removals())

	for name, read := range map[string]func(o *Object){
		"string":       func(o *Object) { o.String("null") },
		"opt string":   func(o *Object) { o.OptString("null") },
		"opt bool":     func(o *Object) { o.OptBool("null") },
		"opt integer":  func(o *Object) { o.OptInteger("null", 0) },
		"opt any":      func(o *Object) { o.OptAny("null") },
		"open":         func(o *Object) { o.Open("null") },
		"opt open":     func(o *Object) { o.OptOpen("null") },
		"fixed":        func(o *Object) { o.Fixed("null", "x", false) },
		"enum":         func(o *Object) { o.Enum("null", "x") },
		"opt enum":     func(o *Object) { o.OptEnum("null", "x") },
		"list":         func(o *Object) { List(o, "null", String) },
		"list element": func(o *Object) { OptList(o, "list", String) },
	} {
		var r Reader
		o := r.Object(v.With("list", state.Array(state.Null())))
		read(&o)
		require.NotNil(t, r.Fault(), "P-NULL-1 %s", name)
		assert.Equal(t, "null", r.Fault().Found, "P-NULL-1 %s", name)
	}
	var rejected Reader
	o = rejected.Object(v)
	o.Reject("s", "a y", "an x")
	o.Reject("b", "another", "one")
	assert.Equal(t, &Fault{"/s", "a y", "an x"}, rejected.Fault())
	var differs Reader
	o = differs.Object(v)
	assert.True(t, o.Fixed("f", "other", false))
	assert.Equal(t, &Fault{"/f", `"other"`, `"fixed"`}, differs.Fault())
	var missing Reader
	o = missing.Object(v)
	o.Any("absent")
	assert.Equal(t, &Fault{"/absent", "any JSON value", "nothing"}, missing.Fault())
	var nullable Reader
	o = nullable.Object(v)
	assert.False(t, o.OptNullable("null").Exists(), "where null counts as absent")
	assert.Equal(t, `"x"`, o.OptNullable("s").String())
	assert.Nil(t, nullable.Fault())
}

func TestWhatIsShownIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1000)
	assert.Less(t, len(Quote(long)), 100)
	number, err := state.Parse([]byte("1" + strings.Repeat("0", 1000)))
	require.NoError(t, err)
	assert.Less(t, len(describe(number)), 100)
	assert.Equal(t, `"a\n"`, Quote("a\n"))
}
