// Package lint finds in event streams what the protocol allows and an agent's author did not mean: ids that are used twice,
// results for nobody, deltas of one character, patches that never apply. A stream with findings folds without an error;
// a stream that is rejected has a finding that says so.
//
// [Recording] lints a recording. A [Linter] takes a stream piece by piece, next to whoever folds it. [Checks] lists the
// checks, with why each one hurts and how to mend it; docs/lint.md is that list.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package lint
