// Package house holds the tests that keep the repository in shape: what each public package exports and explains,
// which package may import which, and that the documents' code compiles and their links lead somewhere.
package house
