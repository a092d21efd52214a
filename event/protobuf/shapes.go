package protobuf

import (
	"slices"

	"github.com/agfold/agfold/state"
)

// What the wire lays out in another way than JSON does.

// at returns the value of the member name, absent if there is none.
func at(members []state.Member, name string) state.Value {
	for _, m := range members {
		if m.Key == name {
			return m.Value
		}
	}
	return state.Value{}
}

func without(members []state.Member, name string) []state.Member {
	return slices.DeleteFunc(members, func(m state.Member) bool { return m.Key == name })
}

// keepLists gives the object an empty array for each of the names that it has no member for: the wire cannot tell an empty
// list from none, and these are there in what producers write.
func keepLists(names ...string) func(*decoder, []state.Member) []state.Member {
	return func(_ *decoder, members []state.Member) []state.Member {
		for _, name := range names {
			if !at(members, name).Exists() {
				members = append(members, state.Member{Key: name, Value: state.Array()})
			}
		}
		return members
	}
}

// The members of an outcome that are fields beside it on the wire, with the outcome that carries each; the others lose
// them when they are encoded.
var outcomeLists = []struct{ name, of string }{
	{"interrupts", "interrupt"}, {"pendingToolCallIds", "success"}, {"interruptIds", "suspended"},
}

// flattenOutcome puts the members of an outcome beside it. Its type is what is left.
func flattenOutcome(e *encoder, v state.Value) state.Value {
	outcome := v.Get("outcome")
	if !outcome.Exists() || outcome.Kind() == state.KindNull {
		return v.Without("outcome")
	}
	name, ok := outcome.Get("type").AsString()
	if !ok {
		e.mismatch("outcome", "an object with a type", outcome)
		return v
	}
	v = v.With("outcome", state.String(name))
	e.push("outcome")
	defer e.pop()
	for key, val := range outcome.Members() {
		if key == "type" {
			continue
		}
		i := slices.IndexFunc(outcomeLists, func(l struct{ name, of string }) bool { return l.name == key })
		if i < 0 || outcomeLists[i].of != name {
			e.leftOut(key, "the wire has no place for it")
			continue
		}
		v = v.With(key, val)
	}
	return v
}

// restoreOutcome is the reverse. An outcome of an unknown type comes back too: enforcement removes it with a warning.
func restoreOutcome(_ *decoder, members []state.Member) []state.Member {
	name, _ := at(members, "outcome").AsString()
	members = without(members, "outcome")
	if name == "" {
		return members
	}
	inside := []state.Member{{Key: "type", Value: state.String(name)}}
	for _, l := range outcomeLists {
		if val := at(members, l.name); val.Exists() {
			inside = append(inside, state.Member{Key: l.name, Value: val})
			members = without(members, l.name)
		}
	}
	if name == "interrupt" {
		inside = keepLists("interrupts")(nil, inside)
	}
	return append(members, state.Member{Key: "outcome", Value: state.Object(inside...)})
}

// content is what the three fields of a message for its content hold; each is absent if there is none.
type content struct{ text, parts, object state.Value }

func contentOf(members []state.Member) (c content) {
	for _, m := range members {
		if m.Key == "content" {
			switch m.Value.Kind() {
			case state.KindString:
				c.text = m.Value
			case state.KindArray:
				c.parts = m.Value
			case state.KindObject:
				c.object = m.Value
			}
		}
	}
	return c
}

// forms counts the fields that are there.
func (c content) forms() (n int) {
	for _, v := range []state.Value{c.text, c.parts, c.object} {
		if v.Exists() {
			n++
		}
	}
	return n
}

// restoreMessage checks that a message has the content that its role allows, and only one.
func restoreMessage(d *decoder, members []state.Member) []state.Member {
	c := contentOf(members)
	role, _ := at(members, "role").AsString()
	switch role {
	case "user", "tool":
		if c.object.Exists() || c.forms() > 1 {
			d.fail("a message of the role " + role + " with the content of an activity, or with two contents")
		}
		if c.forms() == 0 {
			members = append(members, state.Member{Key: "content", Value: state.Array()})
		}
	case "activity":
		if c.text.Exists() || c.parts.Exists() {
			d.fail("an activity with the content of another message")
		}
	case "developer", "system", "assistant", "reasoning":
		if c.parts.Exists() || c.object.Exists() {
			d.fail("a message of the role " + role + " with content that is not text")
		}
	default:
		if c.forms() > 1 {
			d.fail("a message with two contents")
		}
	}
	return members
}

// restoreResult is restoreMessage for the result of a tool call.
func restoreResult(d *decoder, members []state.Member) []state.Member {
	switch c := contentOf(members); c.forms() {
	case 0:
		members = append(members, state.Member{Key: "content", Value: state.Array()})
	case 1:
	default:
		d.fail("a result with two contents")
	}
	return members
}
