package wire

import (
	"strconv"
	"strings"
)

// MaxInteger is 2^53 - 1, the greatest integer that every JSON implementation holds exactly (RFC 8259,
// section 6). The least one is its negative.
const MaxInteger = 1<<53 - 1

// maxDigits is more than any integer in range has.
const maxDigits = 20

// maxExponent is more than the length of any literal, so that no shift overflows.
const maxExponent = 1 << 40

// Integer returns the integer that a JSON number literal stands for by its value, and false if that is
// not an integer or far out of range. It takes time and space in proportion to the literal only.
func Integer(literal string) (int64, bool) {
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return n, true
	}
	digits, negative := strings.CutPrefix(literal, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent { // only a zero could be in range
			return 0, strings.Trim(digits[:i], "0.") == ""
		}
		digits, exponent = digits[:i], e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	shift := exponent - len(fraction) // the value is digits × 10^shift
	if digits == "" {
		return 0, literal != ""
	}
	significant := strings.TrimRight(digits, "0")
	zeros := len(digits) - len(significant) + shift
	if zeros < 0 || zeros > maxDigits || len(significant)+zeros > maxDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", zeros), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}
