// Package rules holds the rules of PROTOCOL.md as text, and what a producer should do about each that errors and warnings
// cite. PROTOCOL.md here is a copy, because a package can embed only what lies in its folder; a test keeps it equal.
package rules

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed PROTOCOL.md
var protocol string

var rule = regexp.MustCompile(`(?m)^- \*\*(P-[A-Z]+-\d+)\*\* `)

var parsed = sync.OnceValue(func() map[string]string {
	texts := make(map[string]string)
	found := rule.FindAllStringSubmatchIndex(protocol, -1)
	for i, at := range found {
		end := len(protocol)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		text := protocol[at[1]:end]
		for _, stop := range []string{"\n\n", "\n#", "\n```"} {
			text, _, _ = strings.Cut(text, stop)
		}
		texts[protocol[at[2]:at[3]]] = strings.NewReplacer("**", "", "`", "", "*(", "(", ")*", ")").Replace(strings.Join(strings.Fields(text), " "))
	}
	return texts
})

// Text returns the text of a rule such as "P-VER-3", "" if there is none.
func Text(id string) string { return parsed()[id] }

// All returns the text of every rule. The caller must not change the map.
func All() map[string]string { return parsed() }

// Advice returns what a producer should send instead of what a rule was cited for, "" if nothing is known.
func Advice(id string) string { return advice[id] }

var advice = map[string]string{
	"P-PIPE-1": "Report this: it is not the producer's fault.",
	"P-PIPE-2": "Send nothing but one JSON object with a type in each event. End marks such as [DONE] belong to another protocol.",
	"P-ENF-1":  "Send data of your own as CUSTOM, with a name and a value.",
	"P-ENF-2":  "Put data of your own into metadata, which every event has, or into a CUSTOM event.",
	"P-ENF-3":  "Send one of the kinds that AG-UI 1.0 describes, and more in metadata.",
	"P-ENF-4":  "Send the described kind of value at that path. An optional field without a value is left out, never null.",
	"P-NULL-1": "Leave a member without a value out; do not send null. client/lenient.Nulls takes such nulls for absent members.",
	"P-ENF-5":  "Send one of the described strings.",
	"P-ENF-7":  "Without --strict this is a warning.",
	"P-CMP-1":  "Send the REASONING_* events in place of THINKING_*, with a messageId.",
	"P-CMP-2":  "Leave the field out instead of sending null.",
	"P-CMP-3":  "Send an image, audio, video or document part with a source.",
	"P-CHK-2":  "Begin with messageId, or with toolCallId and toolCallName; later chunks may leave them out.",
	"P-CHK-5":  "Repeat only what the first chunk said, or leave it out; for another message or call use another id.",
	"P-CHK-6":  "Name the id in every chunk as soon as several streams are open, with the tag of its owner.",
	"P-VER-1":  "Send RUN_STARTED once at the beginning, and RUN_FINISHED or RUN_ERROR once at the end.",
	"P-VER-2":  "Send START before and END after, once for each id.",
	"P-VER-3":  "Close what is open before RUN_FINISHED, or end the run with RUN_ERROR, which ends everything.",
	"P-VER-4":  "Finish a step with the name and the subagentRunId that it was started with.",
	"P-VER-5":  "Tag all events of a message or call with the owner of its START, or leave the tag out after it.",
	"P-VER-6":  "Tag a call as its parent message, or name another parent.",
	"P-VER-7":  "Send SUBAGENT_STARTED once before, and SUBAGENT_FINISHED or SUBAGENT_ERROR once after; use a new id for a new invocation.",
	"P-ID-1":   "Give each message an id of its own.",
	"P-TXT-2":  "Restate open messages in MESSAGES_SNAPSHOT, or send the snapshot after their end.",
	"P-TOL-1":  "Name an assistant message as parentMessageId, or leave it out.",
	"P-TOL-2":  "Use a new toolCallId for a new call.",
	"P-TOL-3":  "Send one result for each call, after the call and with its toolCallId.",
	"P-STA-1":  "Patch the state that the client has. If you do not know it, send STATE_SNAPSHOT first.",
	"P-ACT-2":  "Send ACTIVITY_SNAPSHOT before the first patch, and patch its content, which must stay an object.",
	"P-MSG-1":  "Name each message once in a snapshot.",
	"P-REA-2":  "Send the value after the message or call that it belongs to, with its id.",
	"P-RUN-1":  "Finish the run with the threadId and runId of RUN_STARTED.",
	"P-RUN-2":  "Name the calls that the client should answer in outcome.pendingToolCallIds.",
	"P-RUN-3":  "Start the run with an entry in resume for every open interrupt.",
	"P-HIS-2":  "Answer each call in its run, or name it in pendingToolCallIds; a client changes this with SessionOptions.Unanswered.",
	"P-HIS-4":  "Send arguments that are a JSON object, and end each call.",
	"P-HIS-5":  "Restate each result directly after the message with its call, once.",
	"P-INT-1":  "Answer every open interrupt once, resolved or cancelled.",
	"P-SSE-1":  "Answer with 200, text/event-stream and one JSON object an event.",
	"P-SSE-2":  "Split what is large: deltas instead of one event, references instead of files.",
	"P-PB-3":   "Encode each event as one message of the 1.0 schema, after its length in four bytes, and write nothing else.",
	"P-PB-4":   "Nothing, if the agent is newer than this client; otherwise send only what the 1.0 schema has.",
	"P-PB-5":   "Send the run as server-sent events if the client needs what was left out.",
	"P-CAP-2":  "Declare only what the agent does, or leave the field out, which says nothing.",
	"P-VRS-1":  "Send the version that the events follow, such as 1.0.",
	"P-VRS-2":  "Nothing: the peer is pinned to an older version.",
	"P-STA-2":  "Send STATE_SNAPSHOT at the beginning of the run.",
	"P-STA-3":  "Send patches exactly as RFC 6902 describes them.",
}
