package state

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTrieWithEqualHashes(t *testing.T) {
	// All keys share one of three hashes, two of which differ in their last bits only.
	hashes := []uint64{7, 7 | 1<<63, 7 | 1<<40}
	entries := map[string]*entry{}
	index := &trie{}
	var before *trie
	for i := range 60 {
		e := &entry{hash: hashes[i%3], ordinal: uint64(i), key: fmt.Sprint("key ", i)}
		entries[e.key] = e
		index = index.put(e, 0, i < 30)
		if i == 29 {
			before = index
		}
	}
	for key, e := range entries {
		assert.Same(t, e, index.get(e.hash, key))
	}
	assert.Nil(t, index.get(7, "none"))
	assert.Nil(t, before.get(hashes[0], "key 30"), "an old version")
	changed := &entry{hash: hashes[0], key: "key 0"}
	next := index.put(changed, 0, false).remove(entries["key 1"], 0)
	var seen []string
	diffTries(index, next, 0, func(x, y *entry) bool {
		seen = append(seen, x.key)
		return true
	})
	assert.ElementsMatch(t, []string{"key 0", "key 1"}, seen)
	for _, e := range entries {
		index = index.remove(e, 0)
	}
	assert.Empty(t, index.slots)
	assert.NotNil(t, before.get(hashes[0], "key 0"))
}
