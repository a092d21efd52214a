package state

import "slices"

// newObject returns the object of members, none of which may have an absent value: of several with
// the same key the last one counts, at the place of the first. members is copied, and changed.
func newObject(members []Member) Value {
	b := &boxed{container: container{size: 2}}
	if len(members) <= smallObject {
		b.members = slices.Clone(unique(members))
		for _, m := range b.members {
			b.size += memberSize(m.Key, m.Value)
		}
	} else {
		b.table = newTable(members)
		for _, e := range b.table.order.All() {
			b.size += memberSize(e.key, e.value)
		}
	}
	b.measure()
	return b.value(KindObject)
}

// unique drops duplicate keys from members, of which there are few, in place.
func unique(members []Member) []Member {
	n := 0
	for _, m := range members {
		if i := find(members[:n], m.Key); i >= 0 {
			members[i].Value = m.Value
			continue
		}
		members[n] = m
		n++
	}
	return members[:n]
}

// find returns the index of key in members, or -1.
func find(members []Member, key string) int {
	for i := range members {
		if members[i].Key == key {
			return i
		}
	}
	return -1
}

func (c *container) get(key string) Value {
	if c.table != nil {
		return c.table.get(key)
	}
	if i := find(c.members, key); i >= 0 {
		return c.members[i].Value
	}
	return Value{}
}

func (c *container) each(yield func(string, Value) bool) {
	for _, m := range c.members {
		if !yield(m.Key, m.Value) {
			return
		}
	}
	if c.table != nil {
		for _, e := range c.table.order.All() {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// withMember returns the object v with member key set to val, which is not absent.
func (v Value) withMember(key string, val Value) Value {
	b := &boxed{container: *v.n.c}
	var out Value
	if b.table != nil {
		b.table, out = b.table.set(key, val)
	} else if i := find(b.members, key); i >= 0 {
		out = b.members[i].Value
		b.members = slices.Clone(b.members)
		b.members[i].Value = val
	} else {
		members := make([]Member, len(b.members)+1)
		copy(members, b.members)
		members[len(b.members)] = Member{key, val}
		b.members = members
		if len(members) > smallObject {
			b.table, b.members = newTable(members), nil
		}
	}
	if out.Exists() {
		b.size += val.size() - out.size()
	} else {
		b.size += memberSize(key, val)
	}
	b.replaced(out, val)
	return b.value(KindObject)
}

// withoutMember returns the object v without its member key.
func (v Value) withoutMember(key string) Value {
	b := &boxed{container: *v.n.c}
	var out Value
	if b.table != nil {
		b.table, out = b.table.remove(key)
		if b.table.order.Len() <= smallObject/2 {
			b.members, b.table = b.table.members(), nil
		}
	} else {
		i := find(b.members, key)
		out = b.members[i].Value
		members := make([]Member, 0, len(b.members)-1)
		b.members = append(append(members, b.members[:i]...), b.members[i+1:]...)
	}
	b.size -= memberSize(key, out)
	b.replaced(out, Value{})
	return b.value(KindObject)
}
