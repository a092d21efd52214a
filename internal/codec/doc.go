// Package codec walks the described objects of the protocol: events, messages, run inputs and what is in them. Each
// type says once which members it has, in a method members(*Codec), and the walk encodes, decodes or checks them.
//
// Decoding is enforcement (P-ENF-2 to 5, P-NULL-1). It sorts what it finds in a [state.Value] into three: what is
// described, which goes into the Go value; what is unrecognized, which is removed and noted ([Removal]); and what is
// malformed, which is noted once ([Fault]) and makes the result worthless. Checking judges a Go value in place by the
// same rules. Encoding writes a Go value as it is. Only decoding changes Go values.
//
// An unrecognized member of a union or of a closed set of strings is removed with the place that holds it, outwards
// until a place is reached that may be missing: an optional field, a list element, or the document itself (P-ENF-3).
// What lies inside a removed place is not judged. Open objects are taken as they are and never looked into.
//
// encoding/json/jsontext is not used: it needs GOEXPERIMENT=jsonv2, and it loses lone surrogates.
package codec
