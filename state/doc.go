// Package state holds JSON as immutable values that share structure: the shared state of a thread,
// activity contents, metadata and everything else of which the protocol says "any JSON".
//
// A [Value] is one JSON value, one word in size. Changing it gives another Value that shares with the
// old one all that did not change, so a snapshot is a copy of one word, old snapshots stay as they
// were, and one operation on a state of twenty thousand items costs about what it does on twenty.
// Arrays and large objects are shallow trees; small objects are plain slices.
//
//   - [Parse] and [Value.AppendJSON] read and write JSON text and keep what it says: the digits of
//     numbers, the order of members, lone surrogate escapes. [ParsePartial] reads a text that is still
//     arriving.
//   - [Value.Get], [Value.Index], [Value.Lookup] and [At] read; pointers are those of RFC 6901.
//   - [Value.Apply] applies a [Patch] by RFC 6902 to the letter, all of it or nothing; [Diff] makes one.
//   - [Equal] compares as RFC 6902 does, [Same] tells in a moment whether two values are one.
//   - [FromJSONPatch] and [Patch.JSONPatch] exchange patches with the json-patch package.
//
// Values that share structure can stand for texts far larger than memory, so Apply bounds the size
// and the depth of what it returns ([DefaultMaxSize], [DefaultMaxDepth]). Values built with [Array],
// [Object], [Value.With] and [ParseDepth] are the caller's to bound: encoding and comparing walk all
// of what they stand for, and recurse to its depth.
package state
