package lint

// Level says how bad a finding is.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // something is lost or wrong
	LevelWarning Level = "warning" // something is likely not meant
	LevelNote    Level = "note"    // something could be better
)

// Check is one thing that the linter looks for.
type Check struct {
	Code  string // such as "result-twice"
	Level Level
	Title string // what is wrong, a clause
	Why   string // why it hurts, and whom
	Mend  string // what the producer should do instead
}

var checks = []Check{
	{"rejected", LevelError, "the stream breaks the protocol", "Every client stops at this event: what comes after it is lost to users.",
		"See agfold explain, which shows the event, the rule and what was open."},
	{"truncated", LevelError, "the stream ends before the run does", "A client cannot tell a crash from a finished answer, and must not act on calls that are open.",
		"End every run with RUN_FINISHED or RUN_ERROR, also when the agent panics or is cancelled."},
	{"id-reused", LevelWarning, "a message's id is used again in the run", "Clients append the second text to the first message, so users see two answers in one.",
		"Give every message an id of its own."},
	{"id-shared", LevelWarning, "messages of several kinds share an id", "Most clients find messages by id alone: one message overwrites the other.",
		"Give reasoning, text, results and activities ids of their own."},
	{"id-unstable", LevelWarning, "a snapshot restates a message under another id", "Clients cannot match the two: lists jump, selections and edits are lost, and history may be sent twice.",
		"Keep the id under which a message was streamed, and store it with the message."},
	{"run-id-reused", LevelWarning, "two runs have one id", "Logs, traces and whoever resumes a run cannot tell them apart.", "Take the run id from the input, or make a new one for each run."},
	{"call-restated", LevelWarning, "a call that was complete is started again", "Arguments are appended, so together they are not JSON, and clients may execute the call twice.",
		"Start a call once. To call the tool again, use a new id."},
	{"arguments-not-json", LevelWarning, "the arguments of a call are not JSON", "No client can execute the call.", "Send the arguments as one JSON object, split into deltas at will."},
	{"result-twice", LevelWarning, "a call has two results", "The model sees both in the next run, and providers refuse such a history.", "Send one TOOL_CALL_RESULT for each call."},
	{"result-late", LevelWarning, "a result comes in a later run than its call", "Clients have shown the call as pending meanwhile, and a user may have answered it too.",
		"Send the result in the run of the call, or let the client send it."},
	{"result-without-call", LevelWarning, "a result answers a call that the thread does not hold", "Users see a result without a question, and providers refuse such a history.",
		"Send TOOL_CALL_START before the result, and use its toolCallId."},
	{"call-unanswered", LevelNote, "the run ends with a call that has no result and that the outcome does not name", "A client must guess whether it should execute the call.",
		"Name the calls that the client should answer in outcome.pendingToolCallIds, and send results for the others."},
	{"call-parent", LevelWarning, "a call's parent cannot hold it", "Clients put the call somewhere else, each in its own way.", "Name an assistant message as parentMessageId, or leave it out."},
	{"interrupt-unanswered", LevelWarning, "a run finishes without an answer to an interrupt", "The question that a user was asked disappears, and whatever waited for it never continues.",
		"Start the run with an entry in resume for every open interrupt."},
	{"step-unfinished", LevelNote, "a step is never finished", "Progress displays show it as running for ever.", "Send STEP_FINISHED before RUN_ERROR too."},
	{"delta-empty", LevelNote, "a delta is empty", "Every client does work for nothing.", "Leave out empty deltas."},
	{"delta-tiny", LevelNote, "a text comes one character a delta", "An event costs a hundred bytes and a redraw for each character.", "Collect the output for some milliseconds, or pass on the model's own tokens."},
	{"text-gone", LevelWarning, "text is sent for a message that a snapshot dropped", "The text is lost.", "Restate open messages in MESSAGES_SNAPSHOT, or send it after their end."},
	{"snapshot-flood", LevelWarning, "most events of the run are snapshots", "Each one costs as much as the whole conversation or state: the stream grows with the square of its length.",
		"Send snapshots at the beginning of a run, and deltas after that."},
	{"snapshot-same", LevelNote, "a snapshot says what the state is already", "It costs bytes and a comparison, and changes nothing.", "Send STATE_SNAPSHOT only when the state was replaced."},
	{"patch-fails", LevelError, "a patch does not apply", "The client's state is no longer the agent's, and later patches build on it.",
		"Patch what the client has: send STATE_SNAPSHOT once if you cannot know it."},
	{"patch-root", LevelWarning, "a patch replaces the whole document", "Clients cannot tell what changed, so everything is drawn anew.", "Patch the members that changed, or send a snapshot, which says what it is."},
	{"state-grows", LevelWarning, "the state is large", "It is sent with every run and stored with every thread.", "Keep histories and files elsewhere, and only references in the state."},
	{"owner-claimed", LevelWarning, "a message of the parent agent is later claimed by a subagent", "Clients have shown it under the wrong agent.", "Tag the events of a subagent from the message's START on."},
	{"subagent-unannounced", LevelNote, "events are tagged with a subagent that was not announced", "Clients can show neither its name nor its place.", "Send SUBAGENT_STARTED first."},
	{"lane-ambiguous", LevelWarning, "a chunk without an id continues the only open stream, which is not its owner's", "As soon as two subagents stream, the chunk is ambiguous and the stream is rejected (P-CHK-6).",
		"Name the messageId, or tag the chunk with its subagentRunId."},
	{"deprecated", LevelNote, "an event has a retired shape", "Newer clients may not convert it.", "Send the shape of AG-UI 1.0; the warning says which."},
	{"unknown", LevelWarning, "something is unknown to AG-UI 1.0 and removed", "Clients do not see it.", "Send your own data as CUSTOM, or in metadata."},
	{"version", LevelNote, "the protocol version is not one that is known", "Clients may misread what is new.", "Send the version that the events follow."},
	{"run-ids-differ", LevelWarning, "RUN_FINISHED names another run or thread than RUN_STARTED", "Clients that multiplex runs end the wrong one.", "Use the ids of RUN_STARTED."},
	{"usage-missing", LevelNote, "a run does not tell its token usage", "Nobody can see what it cost.", "Send usage in RUN_FINISHED or RUN_ERROR."},
	{"capability-denied", LevelWarning, "the stream does what the agent declares that it does not do", "The interface that was built on the declaration lacks what the run needs: a place for reasoning, a button to approve.",
		"Declare only what holds, or leave the field out (P-CAP-2)."},
	{"gap", LevelNote, "nothing comes for a long time", "Users think that it hangs, and proxies close idle connections.", "Send steps, activities or comments while something takes long."},
}

// Checks returns the checks in the order of docs/lint.md. The caller may change the slice.
func Checks() []Check { return append([]Check(nil), checks...) }

// CheckOf returns the check with a code, and whether there is one.
func CheckOf(code string) (Check, bool) {
	for _, c := range checks {
		if c.Code == code {
			return c, true
		}
	}
	return Check{}, false
}
