// Package feed makes and reads the feed of a thread: a view, and then what changed since. docs/feed.md describes the
// format for those who write another reader.
//
//   - [AppendView] writes a [Snapshot] as a view: the thread's JSON and what a page needs besides.
//   - [AppendChanges] writes what differs between two snapshots as operations on the view. It finds that by
//     [reducer.Thread.ChangesSince] and by what the two share, so a token costs its own length.
//   - [Ring] keeps the last snapshots of one thread under tokens, and encodes each event of the feed once.
//   - [Replica] reads a feed and makes the snapshots again.
//
// The package has no goroutine, lock or clock, and knows nothing of HTTP.
package feed
