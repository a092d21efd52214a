// Package state holds JSON values: the shared state of a thread, the contents of activities, metadata,
// and everything else that the protocol calls "any JSON".
//
// A [Value] is an immutable JSON value, one word in size. A change returns a new Value that shares
// everything that did not change with the old one. So a snapshot is a copy of one word, old snapshots
// stay as they were, and one operation on a state of twenty thousand items costs about as much as on
// twenty. Arrays and large objects are shallow trees; small objects are plain slices.
//
//   - [Parse] and [Value.AppendJSON] read and write JSON text. They keep the digits of numbers, the
//     order of members and lone surrogate escapes. [ParsePartial] reads a text that is still arriving.
//   - [Value.Get], [Value.Index], [Value.Lookup] and [At] read a value. Pointers follow RFC 6901.
//   - [Value.Apply] applies a [Patch] exactly as RFC 6902 says, completely or not at all. [Diff]
//     returns a patch from one value to another.
//   - [Value.Equal] compares as RFC 6902 does. [Same] reports in constant time whether two values
//     share storage.
//   - [FromJSONPatch] and [Patch.JSONPatch] convert patches from and to the json-patch package.
//
// The JSON text of values that share storage can be far larger than memory, so Apply limits the size and
// the depth of its result ([DefaultMaxSize], [DefaultMaxDepth]). [Array], [Object], [Value.With] and
// [ParseDepth] have no such limit: the caller must limit them, because encoding and comparing a value
// visit shared parts as often as they occur and recurse to its depth.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package state
