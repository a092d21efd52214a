package state

import (
	"strconv"
	"strings"
)

// shortNumber is the longest literal, in bytes, whose decimal is computed for each comparison. A longer
// literal keeps its decimal, so that many short literals can be compared with it cheaply.
const shortNumber = 64

// AsInt returns v as an int64. ok is false if v is not a number, not whole or out of range. Only the value
// counts: 1.0 and 1e2 are integers.
func (v Value) AsInt() (i int64, ok bool) {
	if v.Kind() != KindNumber {
		return 0, false
	}
	if len(v.n.text) <= 20 { // as long as the smallest int64
		if i, err := strconv.ParseInt(v.n.text, 10, 64); err == nil {
			return i, true
		}
	}
	d := v.n.decimal()
	if d.digits == "" {
		return 0, true
	}
	if len(d.exponent) > 2 || d.exponent[0] == '-' {
		return 0, false
	}
	exp, _ := strconv.Atoi(d.exponent)
	if len(d.digits)+exp > 19 {
		return 0, false
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	i, err := strconv.ParseInt(sign+d.digits+strings.Repeat("0", exp), 10, 64)
	if err != nil {
		return 0, false
	}
	return i, true
}

// AsFloat returns the float64 that is nearest to v. ok is false if v is not a number or is too large for a
// float64.
func (v Value) AsFloat() (f float64, ok bool) {
	if v.Kind() != KindNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.n.text, 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// decimal is the normal form of a number: digits × 10^exponent, where digits has no zeros at either end.
// Zero has no digits, no exponent and no sign. No part of it is longer than the literal.
type decimal struct {
	negative bool
	digits   string
	exponent string // decimal, without leading zeros or plus sign
}

// decimal returns the normal form of the number n.
func (n *node) decimal() decimal {
	if n.c != nil {
		return n.c.more.decimal
	}
	return parseDecimal(n.text)
}

// parseDecimal returns the normal form of a literal that is a JSON number.
func parseDecimal(literal string) decimal {
	var d decimal
	literal, d.negative = strings.CutPrefix(literal, "-")
	mantissa, exponent := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	d.exponent = addToDecimal(exponent, len(digits)-len(d.digits)-len(fraction))
	return d
}

// addToDecimal returns the sum of the integer s, which may be "" for 0, and n, without leading zeros or
// plus sign. Its time and space are linear in the length of s.
func addToDecimal(s string, n int) string {
	s = strings.TrimPrefix(s, "+")
	s, negative := strings.CutPrefix(s, "-")
	s = strings.TrimLeft(s, "0")
	if len(s) <= 17 {
		i, _ := strconv.ParseInt("0"+s, 10, 64)
		if negative {
			i = -i
		}
		return strconv.FormatInt(i+int64(n), 10)
	}
	// The magnitude of s exceeds that of n, which counts bytes in memory: the sign stays.
	if negative {
		n = -n
	}
	sum := []byte(s)
	for i := len(sum) - 1; i >= 0 && n != 0; i-- {
		n += int(sum[i] - '0')
		digit := (n%10 + 10) % 10
		sum[i] = '0' + byte(digit)
		n = (n - digit) / 10
	}
	out := strings.TrimLeft(string(sum), "0")
	if n > 0 {
		out = strconv.Itoa(n) + string(sum)
	}
	if negative {
		out = "-" + out
	}
	return out
}
