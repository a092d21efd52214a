package state

import (
	"math/bits"
	"slices"
)

// trie is a hash array mapped trie of entries: at each level five bits of the hash choose one of up to 32
// slots. Below the last bits there is a plain list of entries whose hashes are equal.
type trie struct {
	used  uint32 // which of the 32 slots exist
	slots []slot // the slots that exist, in order
}

// slot holds either an entry or another level.
type slot struct {
	entry *entry
	sub   *trie
}

const (
	levelBits = 5
	hashBits  = 64
)

// at returns where the slot of hash is, or would be, in n, which is the level at shift.
func (n *trie) at(hash uint64, shift uint) (bit uint32, i int) {
	bit = 1 << (hash >> shift & (1<<levelBits - 1))
	return bit, bits.OnesCount32(n.used & (bit - 1))
}

func (n *trie) get(hash uint64, key string) *entry {
	for shift := uint(0); shift < hashBits; shift += levelBits {
		bit, i := n.at(hash, shift)
		if n.used&bit == 0 {
			return nil
		}
		s := n.slots[i]
		if s.entry != nil {
			if s.entry.hash == hash && s.entry.key == key {
				return s.entry
			}
			return nil
		}
		n = s.sub
	}
	return n.listed(key)
}

// put returns n with e in it, in place of the entry with its key if there is one. If own is true it changes n
// and the levels below, otherwise it copies the path.
func (n *trie) put(e *entry, shift uint, own bool) *trie {
	if !own {
		n = &trie{n.used, slices.Clone(n.slots)}
	}
	if shift >= hashBits {
		for i := range n.slots {
			if n.slots[i].entry.key == e.key {
				n.slots[i].entry = e
				return n
			}
		}
		n.slots = append(n.slots, slot{entry: e})
		return n
	}
	bit, i := n.at(e.hash, shift)
	if n.used&bit == 0 {
		n.used |= bit
		n.slots = slices.Insert(n.slots, i, slot{entry: e})
		return n
	}
	switch s := &n.slots[i]; {
	case s.sub != nil:
		s.sub = s.sub.put(e, shift+levelBits, own)
	case s.entry.hash == e.hash && s.entry.key == e.key:
		s.entry = e
	default:
		sub := (&trie{}).put(s.entry, shift+levelBits, true)
		*s = slot{sub: sub.put(e, shift+levelBits, true)}
	}
	return n
}

// remove returns n without e, which must be in it. A level with a single entry left is replaced by that
// entry, so that the shape depends only on the entries.
func (n *trie) remove(e *entry, shift uint) *trie {
	if shift >= hashBits {
		i := slices.IndexFunc(n.slots, func(s slot) bool { return s.entry == e })
		return &trie{0, without(n.slots, i)}
	}
	bit, i := n.at(e.hash, shift)
	if n.slots[i].sub == nil {
		return &trie{n.used &^ bit, without(n.slots, i)}
	}
	sub := n.slots[i].sub.remove(e, shift+levelBits)
	slots := slices.Clone(n.slots)
	if len(sub.slots) == 1 && sub.slots[0].entry != nil {
		slots[i] = sub.slots[0]
	} else {
		slots[i] = slot{sub: sub}
	}
	return &trie{n.used, slots}
}

func without(slots []slot, i int) []slot {
	out := make([]slot, 0, len(slots)-1)
	return append(append(out, slots[:i]...), slots[i+1:]...)
}

// slot returns the slot of bit, or an empty slot if there is none.
func (n *trie) slot(bit uint32) slot {
	if n.used&bit == 0 {
		return slot{}
	}
	_, i := n.at(uint64(bits.TrailingZeros32(bit)), 0)
	return n.slots[i]
}

// level returns s as the level at shift.
func (s slot) level(shift uint) *trie {
	switch {
	case s.sub != nil:
		return s.sub
	case s.entry != nil:
		return (&trie{}).put(s.entry, shift, true)
	}
	return &trie{}
}

// listed returns the entry of key, or nil, in a list of entries whose hashes are equal.
func (n *trie) listed(key string) *entry {
	for _, s := range n.slots {
		if s.entry.key == key {
			return s.entry
		}
	}
	return nil
}
