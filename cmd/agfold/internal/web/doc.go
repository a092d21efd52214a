// Package web serves a page on this machine that shows threads: those of a live agent, and recorded ones.
//
// A [log] keeps what was delivered, position by position: position 0 is the thread before the first delivery, position n the
// thread right after the n-th one. It holds each event as it came, and what it changed as operations of the feed
// (docs/feed.md), so it takes about twice the memory of the recording. Every 256 positions it keeps a snapshot. A page goes to
// any position from the nearest snapshot, backwards as fast as forwards.
//
// A log is made by folding a file, or by a middleware that stands between a live agent and its session. The page reads both,
// and the data in a file that it exported, through one interface: page/source.js.
package web
