// Package live shows a thread on a terminal while it grows, redrawn in place.
//
// [Lines] returns the picture: a pure function of a snapshot, the size of the terminal and the time that has
// passed. [Screen] puts pictures on a terminal one over the other. [Show] is the loop that does so with the
// snapshots of a channel. What is drawn of messages comes from package transcript, which lets no control
// character of an agent through.
package live
