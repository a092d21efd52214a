// Package compare says how two threads, or two recorded streams, differ. Ids that agents make up are matched with each
// other, so two runs of one agent are the same if they say and do the same.
//
// [Threads] compares what runs came to: runs, messages, calls, state, subagents. [Streams] finds the first event at which two
// recordings part. Both are pure functions for tests, the command agfold diff, and pages.
package compare
