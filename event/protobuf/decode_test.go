package protobuf

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
)

// nest is a field that holds fields.
func nest(num int, fields ...string) string {
	return string(appendText(nil, num, strings.Join(fields, "")))
}

func baseOf(typ int64) string { return nest(baseField, string(appendNumber(nil, baseType, typ))) }

// What is wrong stops the decoder: nothing is made of what follows, however much that is (P-PB-2).
func TestDecodingStopsAtTheFirstFault(t *testing.T) {
	const left, many = 20, 5000
	null := string(appendNumber(nil, valueNull, 0))
	entry := nest(structEntry, nest(entryKey, "k"), nest(entryValue, null))
	for name, data := range map[string]string{
		"P-SSE-2 elements of a list":    nest(7, baseOf(6), nest(2, nest(valueList, strings.Repeat(nest(listElement, null), many)))),
		"P-SSE-2 elements of no kind":   nest(7, baseOf(6), nest(2, nest(valueList, strings.Repeat(nest(listElement, ""), many)))),
		"P-SSE-2 members of an object":  nest(7, baseOf(6), nest(2, nest(valueObject, strings.Repeat(entry, many)))),
		"P-SSE-2 parts of a result":     nest(22, baseOf(21), strings.Repeat(nest(7, nest(1, nest(1, "x"))), many)),
		"P-SSE-2 messages":              nest(9, baseOf(8), strings.Repeat(nest(2, ""), many)),
		"P-SSE-2 texts":                 nest(13, baseOf(12), strings.Repeat(nest(8, "c"), many)),
		"P-SSE-2 operations of a patch": nest(8, baseOf(7), strings.Repeat(nest(2, nest(2, "/a")), many)),
	} {
		t.Run(name, func(t *testing.T) {
			d := decoder{data: []byte(data), values: maxValues - left, place: place{rule: "P-PB-4"}}
			_, fault := d.decode()
			require.Contains(t, fault, "more than 2097152 values")
			assert.LessOrEqual(t, d.values, maxValues+maxFields, "values that were looked at")
			assert.Empty(t, d.warnings, "nothing was of an unknown kind")
		})
	}
}

// A long key is not repeated for each warning about what is in it.
func TestSizeOfWarningsIsBounded(t *testing.T) {
	key := strings.Repeat("k", 1<<20)
	nan := "\x11\x00\x00\x00\x00\x00\x00\xf0\x7f"
	list := nest(valueList, strings.Repeat(nest(listElement, nan), 50))
	d := decoder{
		data:  []byte(nest(7, baseOf(6), nest(2, nest(valueObject, nest(structEntry, nest(entryKey, key), nest(entryValue, list)))))),
		place: place{rule: "P-PB-4"},
	}
	ev, fault := d.decode()
	require.Empty(t, fault)
	size := 0
	warnings := ev.(event.Frame).Warnings()
	for _, w := range warnings {
		size += len(w.Path) + len(w.Text)
	}
	assert.Less(t, size, len(key)+maxWarned)
	assert.True(t, warnings[0].Path == "/snapshot/"+key+"/0", "the first path is whole")
	assert.Equal(t, "49 more, which are not listed", warnings[len(warnings)-1].Text)
}
