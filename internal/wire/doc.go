// Package wire reads and writes the described objects of the protocol: events, messages, run inputs and
// what is in them. It carries out enforcement (P-ENF-2 to 5, P-NULL-1) in one place, for all of them.
//
// A [Reader] walks a [state.Value] and sorts what it finds into three: what is described, which the caller
// gets; what is unrecognised, which is removed and noted ([Removal]); and what is malformed, which is noted
// once ([Fault]) and makes the whole reading worthless. Reading never stops early: after a fault the getters
// go on and return zero values, so that callers need no checks in between.
//
// An unrecognised member of a union or of a closed set of strings is removed with the place that holds it,
// outwards until a place is reached that may be missing: an optional field, a list element, or the document
// itself (P-ENF-3). What lies inside a removed place is not judged.
//
// Open objects are taken as they are and never looked into.
package wire
