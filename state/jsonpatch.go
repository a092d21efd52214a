package state

import (
	"encoding/json"
	"maps"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// FromJSONPatch converts a patch of the json-patch package. The extra members of an operation are ordered by
// name. Errors are those of [Parse] and [ParsePatch].
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
		return Null(), nil // json-patch decodes null as nil
	}
	return Of(*raw)
}

// JSONPatch converts p to a patch of the json-patch package, with the extra members.
func (p Patch) JSONPatch() (jsonpatch.Patch, error) {
	return jsonpatch.DecodePatch(p.Value().AppendJSON(nil))
}
