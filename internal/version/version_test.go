package version_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/internal/version"
)

func TestCompare(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"1.0", "1.0", 0}, {"1.0", "1", 0}, {"01.0", "1.00", 0}, {"0.0.57", "0.0.6", 1}, {"0.9", "0.10", -1}, {"1.0", "0.99999999999999999999", 1},
		{"1.99999999999999999999", "1.100000000000000000000", -1}, {"1.0.1", "1.0", 1},
	} {
		assert.Equal(t, row.want, version.Compare(row.a, row.b), "%s %s", row.a, row.b)
		assert.Equal(t, -row.want, version.Compare(row.b, row.a), "%s %s", row.b, row.a)
	}
}

func TestValid(t *testing.T) {
	for v, want := range map[string]bool{"1.0": true, "1": true, "0.0.57": true, "": false, "1.": false, ".1": false, "1.x": false, "-1": false, "1 .0": false} {
		assert.Equal(t, want, version.Valid(v), v)
	}
}
