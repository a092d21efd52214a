package codec

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

// leaf is a union that the tests walk: {"kind":"a","n"?} or {"kind":"b","inner":leaf}, with an optional "note" of a
// closed set, optional leaves and an open object.
type leaf struct {
	Kind  string
	N     int64
	HasN  bool
	Note  string
	Inner *leaf
	List  []leaf
	Maybe *leaf
	Open  state.Value
}

func walkLeaf(l *leaf, c *Codec) { Object(c, l, (*leaf).members) }

func walkInner(l **leaf, c *Codec) {
	if c.Decoding() {
		*l = &leaf{}
	}
	if *l == nil {
		c.Fault("an object", "null")
		return
	}
	walkLeaf(*l, c)
}

func (l *leaf) members(c *Codec) {
	if !Tag(c, "kind", &l.Kind, []string{"a", "b"}) {
		return
	}
	if l.Kind == "b" {
		Field(c, "inner", &l.Inner, walkInner)
	} else {
		l.N, l.HasN = c.OptInteger("n", l.N, l.HasN, 0)
	}
	OptEnum(c, "note", &l.Note, []string{"x", "y"})
	OptObjects(c, "list", &l.List, (*leaf).members)
	OptField(c, "maybe", &l.Maybe, l.Maybe != nil, walkInner)
	c.OptOpen("open", &l.Open)
}

func TestDecodingRemoves(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []Removal
		kept     bool
	}{
		{"nothing to remove", `{"kind":"a","n":1,"note":"x","list":[],"open":{"kind":7}}`, nil, true},
		{"P-ENF-2 unknown members, in their order", `{"kind":"a","z":1,"a":null}`,
			[]Removal{{"P-ENF-2", "/z", "the property is not described"}, {"P-ENF-2", "/a", "the property is not described"}}, true},
		{"P-ENF-2 an empty key is a key", `{"kind":"a","":1}`, []Removal{{"P-ENF-2", "/", "the property is not described"}}, true},
		{"P-ENF-2 a member that is nearly a described one", `{"kind":"a","Note":"x"}`,
			[]Removal{{"P-ENF-2", "/Note", `the property is not described; "note" is`}}, true},
		{"P-ENF-3 a list element", `{"kind":"a","list":[{"kind":"a"},{"kind":"c"}]}`,
			[]Removal{{"P-ENF-3", "/list/1", `/kind is "c", which is not recognized`}}, true},
		{"P-ENF-3 an optional field", `{"kind":"a","maybe":{"kind":"c","n":"wrong"}}`,
			[]Removal{{"P-ENF-3", "/maybe", `/kind is "c", which is not recognized`}}, true},
		{"P-ENF-3 outwards from a required field to a list element", `{"kind":"a","list":[{"kind":"b","inner":{"kind":"b","inner":{"kind":"c"}}}]}`,
			[]Removal{{"P-ENF-3", "/list/0", `/inner/inner/kind is "c", which is not recognized`}}, true},
		{"P-ENF-3 outwards to the document", `{"kind":"b","inner":{"kind":"c"}}`,
			[]Removal{{"P-ENF-3", "", `/inner/kind is "c", which is not recognized`}}, false},
		{"P-ENF-3 what was found inside a removed place is forgotten", `{"kind":"a","list":[{"kind":"b","x":1,"note":"z","n":0,"list":[7],"inner":{"kind":"c"}}]}`,
			[]Removal{{"P-ENF-3", "/list/0", `/inner/kind is "c", which is not recognized`}}, true},
		{"P-ENF-5 an optional member of a closed set", `{"kind":"a","note":"z"}`,
			[]Removal{{"P-ENF-5", "/note", `"z" is not recognized`}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var l leaf
			got := Decode(parse(t, tc.in), 100, &l, walkLeaf)
			assert.Nil(t, got.Fault)
			assert.Equal(t, tc.want, got.Removals)
			assert.Equal(t, tc.kept, !got.Dropped)
		})
	}
}

func TestDecodingFaults(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     Fault
	}{
		{"not an object", `[]`, Fault{Want: "an object", Found: "array"}},
		{"a missing tag", `{}`, Fault{Path: "/kind", Want: "a string", Found: "nothing"}},
		{"a tag that is not a string", `{"kind":null}`, Fault{Path: "/kind", Want: "a string", Found: "null"}},
		{"a wrong number", `{"kind":"a","n":-1}`, Fault{Path: "/n", Want: "a non-negative integer up to 2^53-1 or no such member", Found: "number -1"}},
		{"deep inside, with escapes", `{"kind":"a","list":[{"kind":"a"},{"kind":"a","maybe":{"kind":"b"}}]}`,
			Fault{Path: "/list/1/maybe/inner", Want: "an object", Found: "nothing"}},
		{"the first of several", `{"kind":"a","n":true,"note":1,"list":{}}`,
			Fault{Path: "/n", Want: "a non-negative integer up to 2^53-1 or no such member", Found: "boolean"}},
		{"a fault outside a removed place stays", `{"kind":"a","n":0.5,"maybe":{"kind":"c"}}`,
			Fault{Path: "/n", Want: "a non-negative integer up to 2^53-1 or no such member", Found: "number 0.5"}},
		{"a list that is not one", `{"kind":"a","list":null}`, Fault{Path: "/list", Want: "an array", Found: "null"}},
		{"an open object that is not one", `{"kind":"a","open":null}`, Fault{Path: "/open", Want: "an object or no such member", Found: "null"}},
		{"a missing member, and one with nearly its name", `{"kind":"b","INNER":{"kind":"a"}}`,
			Fault{Path: "/inner", Want: "an object", Found: `nothing, but there is "INNER"`}},
	} {
		t.Run("P-ENF-4 "+tc.name, func(t *testing.T) {
			var l leaf
			got := Decode(parse(t, tc.in), 100, &l, walkLeaf)
			require.NotNil(t, got.Fault)
			assert.Equal(t, tc.want, *got.Fault)
		})
	}
}

func TestWalksAgree(t *testing.T) {
	const text = `{"kind":"b","inner":{"kind":"a","n":2},"note":"y","list":[{"kind":"a"},{"kind":"a","list":[]}],"maybe":{"kind":"a"},"open":{"z":null}}`
	var l leaf
	assert.Equal(t, Verdict{}, Decode(parse(t, text), 100, &l, walkLeaf))
	assert.Equal(t, text, string(Append(nil, &l, walkLeaf)))
	assert.Equal(t, Verdict{Weight: 3*membersOfObject + 6}, Check(&l, walkLeaf), "an object, two elements, and 11 bytes of a value")

	l.List[1].Kind = "c"
	assert.Equal(t, []Removal{{"P-ENF-3", "/list/1", `/kind is "c", which is not recognized`}}, Check(&l, walkLeaf).Removals)
	l.Inner = nil
	assert.Equal(t, &Fault{Path: "/inner", Want: "an object", Found: "null"}, Check(&l, walkLeaf).Fault)
	assert.Equal(t, Verdict{Weight: membersOfObject}, Check(&leaf{Kind: "a"}, walkLeaf), "a verdict leaves nothing in the pool")
}

func TestRemovalsAreBounded(t *testing.T) {
	var l leaf
	got := Decode(parse(t, `{"kind":"a","u":1,"v":2,"list":[{"kind":"c"}],"w":3}`), 2, &l, walkLeaf)
	assert.Len(t, got.Removals, 2)
	assert.Equal(t, 2, got.More)
	got = Decode(parse(t, `{"kind":"a","list":[{"kind":"b","u":1,"v":2,"w":3,"inner":{"kind":"c"}}]}`), 1, &l, walkLeaf)
	assert.Equal(t, 0, got.More, "what was found inside a removed place is not counted")
}

func TestSimilar(t *testing.T) {
	known := []string{"messageId", "parentMessageId", "role", "delta"}
	for name, want := range map[string]string{
		"message_id": "messageId", "MESSAGE-ID": "messageId", "mesageId": "messageId", "parent_message_id": "parentMessageId",
		"roles": "role", "detla": "", "deltas": "delta", "id": "", "": "", "x": "", "content": "", strings.Repeat("x", 100): "",
	} {
		assert.Equal(t, want, Similar(name, known), name)
	}
}

func TestWhatIsShownIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1000)
	assert.Less(t, len(Quote(long)), 100)
	assert.Less(t, len(describe(parse(t, "1"+strings.Repeat("0", 1000)))), 100)
	assert.Equal(t, `"a\n"`, Quote("a\n"))
}
