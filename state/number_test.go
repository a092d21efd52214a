package state_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/state"
)

func TestAsInt(t *testing.T) {
	for literal, want := range map[string]any{
		"0": int64(0), "-0": int64(0), "0.0e5": int64(0), "42": int64(42), "1.0": int64(1), "1e2": int64(100), "-2.50e1": int64(-25),
		"9223372036854775807": int64(math.MaxInt64), "-9223372036854775808": int64(math.MinInt64), "-9223372036854775808.0": int64(math.MinInt64),
		"9223372036854775808": nil, "1.5": nil, "1e19": nil, "1e-1": nil, "1e99999999999999999999": nil, "1e-99999999999999999999": nil,
	} {
		got, ok := parse(literal).AsInt()
		assert.Equal(t, want != nil, ok, literal)
		if ok {
			assert.Equal(t, want, got, literal)
		}
	}
}

func TestAsFloat(t *testing.T) {
	f, ok := parse("2.5e1").AsFloat()
	assert.True(t, ok)
	assert.Equal(t, 25.0, f)
	_, ok = parse("1e400").AsFloat()
	assert.False(t, ok, "too large for a float64")
}

func TestNumber(t *testing.T) {
	for _, literal := range []string{"-", "01", "1.", ".5", "1e", "+1", "1 ", "0x1", "NaN", "1e+", "--1"} {
		_, err := state.Of(json.Number(literal))
		assert.Error(t, err, literal)
		if literal != "1 " {
			_, err = state.Parse([]byte(literal))
			assert.ErrorAs(t, err, new(*state.SyntaxError), literal)
		}
	}
	for _, literal := range []string{"0", "9", "-0", "1e400", "1.0", "9007199254740993"} {
		n, ok := parse(literal).AsNumber()
		assert.True(t, ok)
		assert.Equal(t, json.Number(literal), n)
	}
}
