package reducer

// Status says how far a run has come or how it ended (P-RUN-1).
type Status uint8

// The statuses. A thread without a run is empty.
const (
	Empty       Status = iota
	Running            // RUN_STARTED came, no end yet
	Succeeded          // RUN_FINISHED without outcome, or with success
	Interrupted        // RUN_FINISHED with interrupts to answer (P-INT-1)
	Cancelled          // RUN_FINISHED, cancelled by the agent's side
	Failed             // RUN_ERROR, even one after RUN_FINISHED
	Rejected           // a violation or a malformed event
	Truncated          // the stream ended before the run did
	Stopped            // the client stopped the run: its error matches ErrStopped
	Unstarted          // the agent gave no stream, such as with a 401 or no connection: nothing was received
)

var statusNames = [...]string{
	"empty", "running", "succeeded", "interrupted", "cancelled", "failed", "rejected", "truncated", "stopped", "unstarted",
}

// String returns the status in one lower-case word.
func (s Status) String() string {
	if int(s) >= len(statusNames) {
		return "unknown"
	}
	return statusNames[s]
}

// MarshalText returns what String returns.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Ended reports whether the run is over, in whatever way.
func (s Status) Ended() bool { return s > Running }
