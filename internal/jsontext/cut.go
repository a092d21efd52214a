package jsontext

import "errors"

// IsCut reports whether text is the beginning of a JSON value, in which at most depth containers nest, and not the
// whole of one.
func IsCut(text []byte, depth int) bool {
	_, err := Skip(text, 0, depth)
	fault, ok := errors.AsType[*SyntaxError](err)
	return ok && fault.IsCut(text)
}

// IsCut reports whether the fault is only that text ends too early.
func (e *SyntaxError) IsCut(text []byte) bool {
	rest := text[e.Offset:]
	return len(rest) == 0 || rest[0] == '\\' && len(rest) < len(`\u0000`)
}
