package event

import "encoding/json"

// jsonOf returns the JSON text of v.
func jsonOf(v json.Marshaler) []byte {
	text, err := v.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return text
}
