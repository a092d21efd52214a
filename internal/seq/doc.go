// Package seq holds a persistent sequence: every change gives a new sequence and leaves the old one
// as it was, at the cost of one path of a shallow tree.
//
// The tree is a B-tree in which each inner node counts the elements below each child, so elements
// are found, inserted and removed by position. The last few elements lie outside it, in a tail of at
// most one leaf; appending, and changing what was appended last, copies that tail alone.
package seq
