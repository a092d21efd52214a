package spans

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// Times says where the times of the spans of a recording come from.
type Times string

// Where they come from.
const (
	// TimesRecorded: agfold run --record and client.Record have written when each event came.
	TimesRecorded Times = "recorded"
	// TimesOfEvents: the events have timestamps, which are the agent's.
	TimesOfEvents Times = "events"
	// TimesInvented: there are none. Each event counts as a millisecond after that before it, from the Unix epoch on, so that the
	// order shows. Durations mean nothing.
	TimesInvented Times = "invented"
)

// Recording makes the spans of a recording, with its recorded times, and hands them to sink. Nothing else may read from rec.
//
// The runs of a turn are told by what they were sent: a run whose input holds nothing new but answers to calls of the run before
// belongs to its turn. The tools that made those answers have spans from the end of that run to the beginning of the next one,
// since nothing else is known of their times.
//
// The error is that of the recording, see [recording.Recording.Entries], or of ctx; what came before it has been handed over. A
// run that was rejected or cut off is in its span alone.
func Recording(ctx context.Context, rec *recording.Recording, sink Sink, o *Options) (Times, error) {
	r := &recorded{sink: sink, o: o.completed(), times: TimesInvented, now: time.Unix(0, 0).UTC()}
	r.folder = recording.NewFolder(rec, &recording.FoldOptions{OnEntry: r.entry})
	r.next = &upcoming{input: rec.Input()}
	var failure error
	for d, err := range r.folder.Deliveries() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			failure = err
			break
		}
		r.stream.deliver(d)
	}
	if r.next != nil && r.next.head {
		r.begin()
	}
	r.endStream(failure)
	r.endTurn(r.now)
	return r.times, failure
}

// recorded makes the spans of one recording.
type recorded struct {
	sink   Sink
	o      Options
	folder *recording.Folder

	times  Times
	start  time.Time // of the run, zero if it was not recorded
	now    time.Time
	turn   *Span
	stream *stream
	next   *upcoming // a stream that begins with the next entry, when the time is known
	broke  error     // that the stream was recorded with
	last   error     // that the last stream ended with
}

// upcoming is a stream that has not begun.
type upcoming struct {
	head    bool // it was sent at a known place
	input   *event.RunInput
	ended   time.Time // when the run before ended
	answers []answered
}

// entry looks at an entry before it is folded.
func (r *recorded) entry(e recording.Entry) {
	if e.Head != nil {
		r.head(e.Head)
		return
	}
	begins := r.next != nil
	if begins && !r.start.IsZero() {
		r.begin()
	}
	r.tick(e)
	if begins && r.next != nil {
		r.begin()
	}
	if e.Err != nil {
		r.broke = e.Err
	}
}

// tick makes the time that of an entry. It never goes back.
func (r *recorded) tick(e recording.Entry) {
	now := r.now.Add(time.Millisecond)
	if !r.start.IsZero() {
		r.times = TimesRecorded
		now = r.start.Add(e.At)
	} else if ms, ok := e.Event.Value().Get("timestamp").AsInt(); ok {
		if r.times == TimesInvented {
			r.times = TimesOfEvents
		}
		now = time.UnixMilli(ms).UTC()
	}
	if now.After(r.now) {
		r.now = now
	}
}

// head ends the stream of a run, and lets that of the next one begin.
func (r *recorded) head(h *recording.Head) {
	if r.next != nil && r.next.head {
		r.begin()
	}
	r.endStream(nil)
	r.next = &upcoming{head: true, input: h.Input, ended: r.now, answers: answersIn(r.folder.Thread(), h.Input)}
	r.start = h.Start
	if h.Start.After(r.now) {
		r.now = h.Start
	}
}

// begin begins the next stream, in a turn of its own or in that of the run before.
func (r *recorded) begin() {
	u := r.next
	r.next = nil
	if r.turn == nil || len(u.answers) == 0 {
		r.endTurn(u.ended)
		r.turn = &Span{Kind: Turn, Name: "turn", Start: r.now}
		if u.input != nil && u.input.ThreadID != "" {
			r.turn.Attrs = append(r.turn.Attrs, str("gen_ai.conversation.id", u.input.ThreadID))
		}
		r.turn.ctx = r.sink.Began(context.Background(), r.turn)
	} else {
		for _, a := range u.answers {
			r.tool(a, u.ended)
		}
	}
	r.stream = newStream(r.turn.ctx, r.o, r.sink, func() time.Time { return r.now }, r.turn, u.input)
	if u.head && u.input != nil {
		r.stream.send()
	}
}

// tool makes the span of a tool that the client has called.
func (r *recorded) tool(a answered, start time.Time) {
	s := clientTool(r.turn, a.call, start, r.o.ContentBytes)
	s.ctx = r.sink.Began(r.turn.ctx, s)
	var err error
	if text, failed := a.message.Error.Get(); failed {
		err = errors.New(text)
	}
	s.endTool(a.message.Content, err, false, r.o.ContentBytes)
	s.End = r.now
	r.sink.Ended(s)
}

// endStream ends the stream, with the error that the recording ended with or nil.
func (r *recorded) endStream(cause error) {
	if r.stream == nil {
		return
	}
	err := r.folder.Err() // what rejected it
	if err == nil {
		err = r.broke
	}
	if err == nil {
		err = cause
	}
	r.last = nil
	if r.stream.run != nil {
		r.stream.end(err)
		if r.last = err; err == nil {
			r.last = reducer.ErrTruncated
		}
	} else if r.stream.failure != nil {
		r.last = r.stream.failure
	}
	if id := r.stream.thread; id != "" {
		r.turn.set(str("gen_ai.conversation.id", id))
	}
	r.stream, r.broke = nil, nil
}

// endTurn ends the turn.
func (r *recorded) endTurn(at time.Time) {
	if r.turn == nil {
		return
	}
	r.turn.endTurn(r.last)
	r.turn.set(slog.String("agfold.recording.times", string(r.times)))
	r.turn.End = at
	r.sink.Ended(r.turn)
	r.turn = nil
}

// answered is a call that the client answered between two runs.
type answered struct {
	call    *messages.ToolCall
	message *messages.Message
}

// answersIn returns the answers in an input to the pending calls of a thread, nil if there is anything else new in the input.
func answersIn(th *reducer.Thread, in *event.RunInput) []answered {
	if in == nil || len(in.Resume) > 0 || len(th.PendingToolCallIDs()) == 0 {
		return nil
	}
	pending := make(map[string]*messages.ToolCall)
	for tc := range th.PendingToolCalls() {
		pending[tc.ID] = tc
	}
	var answers []answered
	for i := len(in.Messages) - 1; i >= 0; i-- {
		m := in.Messages[i]
		if m.Role == messages.RoleTool {
			if tc := pending[m.ToolCallID]; tc != nil {
				answers = append(answers, answered{tc, m})
				delete(pending, m.ToolCallID)
			}
			continue
		}
		if known, _ := th.Message(m.ID); known == nil {
			return nil
		}
		break
	}
	for i, j := 0, len(answers)-1; i < j; i, j = i+1, j-1 {
		answers[i], answers[j] = answers[j], answers[i]
	}
	return answers
}
