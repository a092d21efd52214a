package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInteger(t *testing.T) {
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "-0.0": 0, "0e5": 0, "0e999999999999999999999": 0, "0.000e-999999999999999999999": 0,
		"1": 1, "-1": -1, "1.0": 1, "1e3": 1000, "1.5e3": 1500, "-12.5E+1": -125, "120e-1": 12, "1000000e-6": 1,
		"0.001e3": 1, "9007199254740991": MaxInteger, "9007199254740991.0": MaxInteger, "9.007199254740993e15": MaxInteger + 2,
		"0.00000000000000000000000000000000000001e38": 1,
	} {
		got, ok := Integer(literal)
		assert.True(t, ok, literal)
		assert.Equal(t, want, got, literal)
	}
	for _, literal := range []string{
		"", "1.5", "1e-1", "0.1", "1e400", "-1e1000000000", "1e-1000000000", "1e999999999999999999999", "123456789012345678901234567890",
		"9223372036854775808", "9007199254740991.4",
	} {
		_, ok := Integer(literal)
		assert.False(t, ok, literal)
	}
	long := "1" + strings.Repeat("0", 1000) + "e-1000"
	got, ok := Integer(long)
	assert.True(t, ok)
	assert.Equal(t, int64(1), got)
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { Integer("1e1000000000") }), 4.0, "a great exponent makes no great number")
}
