// Package version compares versions such as "0.0.57".
package version

import (
	"cmp"
	"strings"
)

// Valid reports whether v is decimal numbers separated by dots.
func Valid(v string) bool {
	for component := range strings.SplitSeq(v, ".") {
		if component == "" || strings.Trim(component, "0123456789") != "" {
			return false
		}
	}
	return true
}

// Compare compares two valid versions numerically by component; a missing component is 0. Components may have any number of
// digits.
func Compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return 0
}
