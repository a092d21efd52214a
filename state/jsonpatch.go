package state

import (
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// FromJSONPatch returns the patch p of the json-patch package as a [Patch]. Errors are those of
// [Parse] and [ParsePatch].
func FromJSONPatch(p jsonpatch.Patch) (Patch, error) {
	ops := make([]Value, len(p))
	for i, op := range p {
		members := make([]Member, 0, len(op))
		for _, key := range []string{"op", "path", "from", "value"} {
			if raw, ok := op[key]; ok {
				v, err := rawValue(raw)
				if err != nil {
					return nil, err
				}
				members = append(members, Member{key, v})
			}
		}
		for key, raw := range op {
			v, err := rawValue(raw)
			if err != nil {
				return nil, err
			}
			members = append(members, Member{key, v})
		}
		ops[i] = Object(members...)
	}
	return ParsePatch(newArray(ops))
}

func rawValue(raw *json.RawMessage) (Value, error) {
	if raw == nil {
		return Null(), nil // what that package makes of a null
	}
	return Of(*raw)
}

// JSONPatch returns p as a patch of the json-patch package, with all members that p has.
func (p Patch) JSONPatch() (jsonpatch.Patch, error) {
	return jsonpatch.DecodePatch(p.AppendJSON(nil))
}
