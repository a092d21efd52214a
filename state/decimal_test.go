package state

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDecimal(t *testing.T) {
	tests := []struct {
		literal string
		want    decimal
	}{
		{"0", decimal{}},
		{"-0.000e99999999999999999999", decimal{}},
		{"100", decimal{false, "1", "2"}},
		{"-1e2", decimal{true, "1", "2"}},
		{"0.010", decimal{false, "1", "-2"}},
		{"12.50E+1", decimal{false, "125", "0"}},
		{"1e1000000000", decimal{false, "1", "1000000000"}},
		{"10e999999999999999999999", decimal{false, "1", "1000000000000000000000"}},
		{"0.1e1000000000000000000000", decimal{false, "1", "999999999999999999999"}},
		{"10e-1000000000000000000000", decimal{false, "1", "-999999999999999999999"}},
		{"0.1e-999999999999999999999", decimal{false, "1", "-1000000000000000000000"}},
		{"1e-000000000000000000000005", decimal{false, "1", "-5"}},
	}
	for _, tt := range tests {
		t.Run(tt.literal, func(t *testing.T) {
			assert.Equal(t, tt.want, parseDecimal(tt.literal))
		})
	}
}
