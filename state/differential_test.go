package state_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// oddIndex finds path tokens that look like a number, but are not an index by RFC 6901;
// json-patch takes them for one.
var oddIndex = regexp.MustCompile(`/([+-][0-9]|0[0-9])`)

// oddNumber finds what may be a number that can be written otherwise, or that a float64 does not hold.
var oddNumber = regexp.MustCompile(`[0-9][.eE]|-0|[0-9]{16}`)

// incomparable says why json-patch's answer says nothing about ours, or nothing if it does. Each
// reason is a place where it leaves the RFC, or where the two are free to differ.
func incomparable(doc state.Value, patch state.Patch) string {
	if k := doc.Kind(); k != state.KindObject && k != state.KindArray {
		return "it refuses a document that is a scalar or null"
	}
	text := doc.String() + patch.Value().String()
	if strings.Contains(text, `\u`) || strings.ContainsRune(text, '\uFFFD') {
		return "it goes through encoding/json, which replaces lone surrogates"
	}
	for _, op := range patch {
		switch {
		case op.Path == "" || op.From == "" && (op.Kind == state.OpMove || op.Kind == state.OpCopy):
			return "it refuses or mistreats operations on the root"
		case oddIndex.MatchString(op.Path) || oddIndex.MatchString(op.From):
			return "it takes negative indices, signs and leading zeros"
		case strings.Contains(op.Path+"/", "//") || strings.Contains(op.From+"/", "//"):
			return "it takes the member with the empty name for the object itself"
		case op.Kind == state.OpMove && strings.HasPrefix(op.Path+"/", op.From+"/"):
			return "it does not see that a value moves into itself or to where it is"
		case op.Kind == state.OpTest && hasNull(op.Value):
			return "it panics on a test of an array that holds null, and finds null where there is nothing"
		case op.Kind == state.OpTest && oddNumber.MatchString(text):
			return "it compares numbers by their digits or as floats, so 1.0 and 1e0 are not always 1"
		case strings.HasSuffix(op.From, "/-") || strings.Contains(op.Path+"/", "/-/") || op.Kind != state.OpAdd && strings.HasSuffix(op.Path, "/-"):
			return "it has its own idea of - where it does not append"
		case op.Extra.Exists():
			return "members that the RFC does not define are not its concern"
		}
	}
	return ""
}

func hasNull(v state.Value) bool {
	if v.Kind() == state.KindNull {
		return true
	}
	for _, e := range v.Elements() {
		if hasNull(e) {
			return true
		}
	}
	for _, m := range v.Members() {
		if hasNull(m) {
			return true
		}
	}
	return false
}

// applyJSONPatch is what json-patch makes of it; a panic is an error like any other.
func applyJSONPatch(doc state.Value, patch state.Patch) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	theirs, err := patch.JSONPatch()
	if err != nil {
		return nil, err
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.EscapeHTML = false
	return theirs.ApplyWithOptions([]byte(doc.String()), options)
}

func agrees(t *testing.T, doc state.Value, patch state.Patch) {
	t.Helper()
	before := doc.String()
	got, err := doc.Apply(patch)
	require.Equal(t, before, doc.String())
	if err != nil {
		require.True(t, state.Same(doc, got), "no partial result")
	}
	if incomparable(doc, patch) != "" {
		return
	}
	want, theirErr := applyJSONPatch(doc, patch)
	if (err == nil) != (theirErr == nil) {
		t.Fatalf("%s with %s: we say %v, json-patch says %v", doc, patch.Value(), err, theirErr)
	}
	if err == nil {
		require.True(t, must(state.Parse(want)).Equal(got), "%s with %s: want %s, got %s", doc, patch.Value(), want, got)
	}
}

func TestRandomPatchesAgreeWithJSONPatch(t *testing.T) {
	compared := 0
	for seed := range uint64(4000) {
		r := seeded(seed)
		doc := state.Object(
			state.Member{Key: "a", Value: randomValue(r, 2)},
			state.Member{Key: "b", Value: state.Array(randomValue(r, 2), randomValue(r, 2), state.Int(3))},
		)
		patch := randomPatch(r, doc)
		if incomparable(doc, patch) == "" {
			compared++
		}
		agrees(t, doc, patch)
	}
	require.Greater(t, compared, 500, "enough of them are on common ground")
}

func FuzzPatchAgainstJSONPatch(f *testing.F) {
	f.Add([]byte(`{"a":[1,2],"b":{"c":"x"}}`), []byte(`[{"op":"add","path":"/a/1","value":{"n":[]}},{"op":"move","from":"/b/c","path":"/a/-"}]`))
	f.Add([]byte(`[[1],[2]]`), []byte(`[{"op":"copy","from":"/0","path":"/1/0"},{"op":"remove","path":"/0/0"}]`))
	f.Add([]byte(`{"x":{"y":1}}`), []byte(`[{"op":"test","path":"/x/y","value":1},{"op":"replace","path":"/x","value":null}]`))
	f.Add([]byte(`{"~":1,"/":2}`), []byte(`[{"op":"remove","path":"/~0"},{"op":"add","path":"/~1","value":3}]`))
	f.Fuzz(func(t *testing.T, doc, patch []byte) {
		v, err := state.Parse(doc)
		if err != nil {
			return
		}
		spelled, err := state.Parse(patch)
		if err != nil {
			return
		}
		p, err := state.ParsePatch(spelled)
		if err != nil {
			return
		}
		require.Equal(t, p.Value().String(), patchOf(p.Value().String()).Value().String(), "encoding is stable")
		if !json.Valid(bytes.TrimSpace(doc)) {
			t.Fatal("encoding/json does not take the document")
		}
		agrees(t, v, p)
	})
}
