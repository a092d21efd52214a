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

// object holds the members of a JSON object; of two with one key the last counts.
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

// maxDepth lets an event nest as deeply as it may by itself, inside an array inside an object.
const maxDepth = state.DefaultMaxDepth + 2

// parseObject appends the members of the object that text begins with, and returns where it
// ends. If text does not begin with a whole object, the error is a *jsontext.SyntaxError and the members
// are those before the fault and, broken, the one with it.
func parseObject(members object, text []byte) (object, int, error) {
	i := jsontext.Space(text, 0)
	if i >= len(text) || text[i] != '{' {
		return members, i, jsontext.Unexpected(text, i, "an object")
	}
	i = jsontext.Space(text, i+1)
	if i < len(text) && text[i] == '}' {
		return members, i + 1, nil
	}
	for {
		if i >= len(text) || text[i] != '"' {
			return members, i, jsontext.Unexpected(text, i, "a member name")
		}
		end, err := jsontext.SkipString(text, i)
		if err != nil {
			return members, end, err
		}
		key := jsontext.Text(text[i+1 : end-1])
		if i = jsontext.Space(text, end); i >= len(text) || text[i] != ':' {
			return members, i, jsontext.Unexpected(text, i, "a colon")
		}
		i = jsontext.Space(text, i+1)
		end, err = jsontext.Skip(text, i, maxDepth)
		if err != nil {
			return append(members, member{key, i, text[i:], true}), end, err
		}
		members = append(members, member{key, i, text[i:end], false})
		if i = jsontext.Space(text, end); i < len(text) && text[i] == ',' {
			i = jsontext.Space(text, i+1)
			continue
		}
		if i < len(text) && text[i] == '}' {
			return members, i + 1, nil
		}
		return members, i, jsontext.Unexpected(text, i, "a comma or }")
	}
}
