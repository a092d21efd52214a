package state_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// disabledConforming names the cases that json-patch-tests has disabled but that pass here. The other disabled cases
// depend on two members with the same name in one operation; a state.Value keeps one of them, so they cannot
// fail.
var disabledConforming = map[string]bool{
	"Toplevel scalar values OK?": true,
	"Whole document":             true,
}

// TestConformanceJSONPatch runs the official cases of json-patch-tests: an expected document must
// come out, a case with an error must fail and leave the document alone.
func TestConformanceJSONPatch(t *testing.T) {
	root := os.Getenv("AGFOLD_CONFORMANCE")
	if root == "" {
		t.Skip("AGFOLD_CONFORMANCE does not name the folder of the official cases")
	}
	for _, name := range []string{"spec_tests", "tests"} {
		data, err := os.ReadFile(filepath.Join(root, "json-patch", name+".json"))
		require.NoError(t, err)
		cases, err := state.Parse(data)
		require.NoError(t, err)
		require.Positive(t, cases.Len())
		for i, c := range cases.Elements() {
			comment, _ := c.Get("comment").AsString()
			t.Run(name+" "+strconv.Itoa(i)+" "+comment, func(t *testing.T) {
				if off, _ := c.Get("disabled").AsBool(); off && !disabledConforming[comment] {
					t.Skip("switched off by json-patch-tests")
				}
				doc := c.Get("doc")
				before := doc.String()
				patch, err := state.ParsePatch(c.Get("patch"))
				var got state.Value
				if err == nil {
					got, err = doc.Apply(patch)
				}
				if want, fails := c.Get("error").AsString(); fails {
					require.Error(t, err, want)
				} else {
					require.NoError(t, err)
				}
				if want := c.Get("expected"); want.Exists() {
					assert.True(t, want.Equal(got), "want %s, got %s", want, got)
				}
				assert.Equal(t, before, doc.String(), "the document is as it was")
			})
		}
	}
}
