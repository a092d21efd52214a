// Package seq provides a persistent sequence: every change returns a new sequence and leaves the old one
// as it was, at the cost of copying one path of a shallow tree.
//
// The tree is a B-tree in which each inner node counts the elements below each child, so elements are
// found, inserted and removed by position. The last few elements are kept outside it, in a tail of at most
// one leaf. Appending, and changing what was appended last, copies only that tail.
package seq
