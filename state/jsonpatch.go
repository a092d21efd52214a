package state

import (
	"encoding/json"
	"maps"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// FromJSONPatch returns the patch p of the json-patch package as a [Patch]; the extra members of an
// operation come in the order of their names. Errors are those of [Parse] and [ParsePatch].
func FromJSONPatch(p jsonpatch.Patch) (Patch, error) {
	ops := make([]Value, len(p))
	for i, op := range p {
		members := make([]Member, 0, len(op))
		for _, key := range slices.Sorted(maps.Keys(op)) {
			v, err := rawValue(op[key])
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
