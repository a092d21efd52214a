package recording

import (
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// member is a member of a JSON object, in the object's text.
type member struct {
	key    string
	start  int    // where the value begins in the object's text
	text   []byte // the value, or
	broken bool   // from where it begins to the end of a text that is not JSON
}

// object holds the members of a JSON object. If two share a key, the last one counts.
type object []member

// find returns the member, and whether there is one.
func (o object) find(key string) (member, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i], true
		}
	}
	return member{}, false
}

// get returns the text of the value, nil if there is none.
func (o object) get(key string) []byte {
	m, _ := o.find(key)
	return m.text
}

// str returns the string that the value is, and whether it is one.
func (o object) str(key string) (string, bool) {
	v, _ := state.Parse(o.get(key))
	return v.AsString()
}

// maxDepth is the depth allowed for an event, plus the array and the object around it.
const maxDepth = state.DefaultMaxDepth + 2

// parseObject appends the members of the object that text begins with, and returns where it
// ends. If text does not begin with a complete object, the error is a *jsontext.SyntaxError and the members
// are those before the fault and, broken, the one with it.
func parseObject(members object, text []byte) (object, int, error) {
	m := jsontext.Members{Data: text, Depth: maxDepth}
	for m.Next() {
		members = append(members, member{jsontext.Text(m.Name()), m.Start, m.Value(), false})
	}
	if m.Broken {
		members = append(members, member{jsontext.Text(m.Name()), m.Start, text[m.Start:], true})
	}
	return members, m.End, m.Err
}
