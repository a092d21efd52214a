package codec

import (
	"strconv"
	"strings"

	"github.com/agfold/agfold/state"
)

// maxQuoted bounds, in bytes, how much of a value an error or a warning shows.
const maxQuoted = 64

// Quote returns s in quotes for an error or a warning, cut short if it is long.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "…"
	}
	return strconv.Quote(s)
}

// describe names what v is: its kind, and for a number the number.
func describe(v state.Value) string {
	switch v.Kind() {
	case state.KindAbsent:
		return "nothing"
	case state.KindNumber:
		n, _ := v.AsNumber()
		if len(n) > maxQuoted {
			return "number " + string(n[:maxQuoted]) + "…"
		}
		return "number " + string(n)
	}
	return v.Kind().String()
}

// Owner names the parent agent, or the subagent with this id, in a sentence.
func Owner(id string, isSubagent bool) string {
	if isSubagent {
		return "subagent " + strconv.Quote(id)
	}
	return "the parent agent"
}
