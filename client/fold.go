package client

import (
	"cmp"
	"io"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// FoldOptions of [FoldRecording]. The zero value means the defaults.
type FoldOptions struct {
	// Strict makes everything that enforcement would remove with a warning an error (P-ENF-7).
	Strict bool
	// MaxEventBytes bounds the data of one event. 0 means DefaultMaxEventBytes, a negative number no bound.
	MaxEventBytes int
	// OnWarning is called with each warning as it arises, those about a run's input included. Nil drops them.
	OnWarning func(event.Warning)
}

// FoldRecording folds all of a recording into one thread: a captured stream, a file of events in one of
// several forms, or what [Record] has written. The run's input, where the recording has it, is what the thread
// starts from (P-STA-2). Closing r stays with the caller.
//
// What Record has written may hold many runs, and folds to the thread of the session that was recorded: the
// same messages, state, runs, subagents and interrupts. What the input of each run adds to the thread was the
// user's or a tool's doing. These are the limits:
//
//   - The revision differs: it counts what was delivered and added here.
//   - A run that the transport broke off is truncated as it was, by an error of the same text but of no other kind
//     than ErrTruncated. Why the caller broke one off was not recorded.
//   - What was done between runs is known by the next run's input only. So what came behind the last run is
//     missing, and a message that [Session.SetMessages] replaced or took out stays as it was.
//   - Events that middleware outside of Record dropped or changed are folded as they were recorded.
//
// Ordinals, those of warnings and of an error, count through the recording. The thread is never nil: everything
// that came before an error is in it. The error is nil if the last run's stream was in order, also if that run
// reported its own failure; how the runs before it ended is told by [reducer.Thread.Runs]. Otherwise it is the
// *reducer.Violation or *event.MalformedError that rejected the stream, or matches ErrTruncated if the
// run had not ended or the recording ends in the middle of an event. An error of the recording, which may come
// in addition, matches ErrRecording, ErrTooLarge or r's own error.
func FoldRecording(r io.Reader, o *FoldOptions) (*reducer.Thread, error) {
	if o == nil {
		o = new(FoldOptions)
	}
	rec, err := recording.Open(r, &recording.Options{MaxEventBytes: o.MaxEventBytes})
	if err != nil {
		return reducer.New(nil).Thread(), err
	}
	f := recording.NewFold(rec, &recording.FoldOptions{Strict: o.Strict, OnWarning: o.OnWarning})
	var cause error
	for _, err := range f.Steps() {
		cause = cutIsTruncated(err)
	}
	th := f.End(cause)
	return th, cmp.Or(f.Err(), cause)
}
