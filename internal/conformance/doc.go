// Package conformance runs the protocol's own corpus of event streams against whatever consumes them: it reads
// the fixtures and checks what came out against what they expect. It is for tests.
//
// The corpus is no part of this module. The environment variable AGFOLD_CONFORMANCE names its folder, whose
// README explains the keys.
package conformance
