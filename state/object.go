package state

// newObject returns the object of members, none of which may have an absent value. If several have the same
// key, the last value counts, at the place of the first. members is copied, and changed.
func newObject(members []Member) Value {
	if len(members) > smallObject {
		b := newBox(KindObject, 0)
		b.size, b.table = 2, newTable(members)
		for _, e := range b.table.order.All() {
			b.size += memberSize(e.key, e.value)
		}
		b.measure()
		return b.value()
	}
	members = unique(members)
	b := newBox(KindObject, len(members))
	b.size = 2
	for i := range members {
		m := &members[i]
		b.members[i] = *m
		b.size += memberSize(m.Key, m.Value)
		b.height = max(b.height, m.Value.height()+1)
	}
	return b.value()
}

// unique removes duplicate keys from members in place. There must be few members.
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
	var b *boxed
	var out Value
	old := v.n.c.members
	switch i := find(old, key); {
	case v.n.c.table != nil:
		b = v.copied(0)
		b.table, out = b.table.set(key, val)
	case i >= 0:
		b = v.copied(len(old))
		copy(b.members, old)
		b.members[i].Value, out = val, old[i].Value
	case len(old) < smallObject:
		b = v.copied(len(old) + 1)
		copy(b.members, old)
		b.members[len(old)] = Member{key, val}
	default:
		b = v.copied(0)
		b.table = newTable(append(old[:len(old):len(old)], Member{key, val}))
	}
	if out.Exists() {
		b.size += val.size() - out.size()
	} else {
		b.size += memberSize(key, val)
	}
	b.replaced(out, val)
	return b.value()
}

// withoutMember returns the object v without its member key.
func (v Value) withoutMember(key string) Value {
	var b *boxed
	var out Value
	old := v.n.c.members
	if v.n.c.table != nil {
		b = v.copied(0)
		b.table, out = b.table.remove(key)
		if b.table.order.Len() <= smallObject/2 {
			b.members, b.table = b.table.members(), nil
		}
	} else {
		i := find(old, key)
		out = old[i].Value
		b = v.copied(len(old) - 1)
		copy(b.members, old[:i])
		copy(b.members[i:], old[i+1:])
	}
	b.size -= memberSize(key, out)
	b.replaced(out, Value{})
	return b.value()
}
