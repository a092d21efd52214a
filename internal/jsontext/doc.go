// Package jsontext holds the lexical layer of JSON that the packages above share: a validating
// scanner, the decoding of string literals and their encoding. It does not allocate and
// knows no data model.
//
// Strings are Go strings that may hold one thing besides UTF-8: a surrogate escape without its
// partner (\ud83d alone) is kept as the three bytes that UTF-8 would use for it, and is encoded as
// the same escape. So decoding and encoding are inverse to each other, and two texts that differ in
// such an escape stay different.
package jsontext
