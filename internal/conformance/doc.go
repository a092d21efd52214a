// Package conformance runs the protocol's own corpus of event streams against the code that consumes them: it reads
// the fixtures and compares the outcome with what they expect. It is for tests.
//
// The corpus is not part of this module. The environment variable AGFOLD_CONFORMANCE names its folder, whose
// README explains the keys.
package conformance
