package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

const (
	headOf    = `{"agfold":"recording/1","input":{"threadId":"t","runId":"%s","messages":[%s],"state":%s}}` + "\n"
	bareHead  = `{"agfold":"recording/1"}` + "\n"
	userA     = `{"id":"a","role":"user","content":"one"}`
	userB     = `{"id":"b","role":"user","content":"two"}`
	broken    = `{"type":"TEXT_MESSAGE_END","messageId":"nobody"}`
	misshapen = `{"type":"TEXT_MESSAGE_END","messageId":null}`
)

func head(id, messages, state string) string { return fmt.Sprintf(headOf, id, messages, state) }

func timed(events ...string) string {
	var b strings.Builder
	for i, ev := range events {
		fmt.Fprintf(&b, `{"at":%d,"event":%s}`+"\n", i, ev)
	}
	return b.String()
}

// fold begins a fold of a recording and returns where its warnings go.
func fold(t *testing.T, text string, strict bool) (*Folder, *[]string) {
	t.Helper()
	rec, err := Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	warned := new([]string)
	return NewFolder(rec, &FoldOptions{Strict: strict, OnWarning: func(w event.Warning) {
		*warned = append(*warned, fmt.Sprintf("%s %d", w.Rule, w.Ordinal))
	}}), warned
}

// whole folds all of a recording.
func whole(t *testing.T, text string) (*Folder, *reducer.Thread, error) {
	t.Helper()
	f, _ := fold(t, text, false)
	var cause error
	for _, err := range f.Deliveries() {
		cause = err
	}
	return f, f.End(cause), cause
}

// told is the runs, the ids of the messages and the state of a thread.
func told(th *reducer.Thread) string {
	var b strings.Builder
	for _, run := range th.Runs.All() {
		fmt.Fprintf(&b, "%s %v, ", run.ID, run.Status)
	}
	for _, m := range th.Messages.All() {
		b.WriteString(m.ID + " ")
	}
	return b.String() + th.State.String()
}

func TestFold(t *testing.T) {
	change := `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`
	for _, row := range []struct{ name, text, want string }{
		{"P-STA-2 the input of an object", `{"stream":[` + started + `,` + change + `,` + finished + `],"input":{"messages":[` + userA + `],"state":{"m":0}}}`,
			`r succeeded, a {"m":0,"n":1}`},
		{"what a later input adds is the client's doing", head("r", userA, `{}`) + timed(started, change, finished) + head("r", userA+","+userB+","+userB, `{"n":1,"mine":true}`) + timed(started, finished),
			`r succeeded, r succeeded, a b {"n":1,"mine":true}`},
		{"P-STA-2 null does not count as a state", head("r", "", `{"n":1}`) + timed(started, finished) + head("s", "", `null`), `r succeeded, s truncated, {"n":1}`},
		{"P-RUN-1 a run without events is truncated", head("r", userA, `{}`) + head("s", userA, `{}`), `r truncated, s truncated, a {}`},
		{"a broken run does not end the recording", bareHead + timed(started, broken, finished) + bareHead + timed(started, finished), `r rejected, r succeeded, {}`},
		{"a broken stream of another form ends it", started + "\n" + broken + "\n" + started + "\n" + finished, `r rejected, {}`},
		{"a crash between runs loses one line", bareHead + timed(started) + `{"at":1,"ev` + "\n" + bareHead + timed(started, finished), `r truncated, r succeeded, {}`},
		{"events without a head", timed(started, finished) + head("s", userA, `{}`) + timed(started, finished), `r succeeded, r succeeded, a {}`},
		{"D-7 {} in a head is not a state yet", head("r", "", `{}`) + timed(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"state":{"in":1}}}`, finished),
			`r succeeded, {"in":1}`},
		{"nothing", "", `{}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, th, err := whole(t, row.text)
			require.NoError(t, err)
			assert.Equal(t, row.want, told(th))
		})
	}
}

func TestFoldCountsThroughTheRecording(t *testing.T) {
	first := bareHead + timed(started, unknown, finished) + bareHead
	f, warned := fold(t, first+timed(started, unknown), false)
	var ordinals []int
	for d, err := range f.Deliveries() {
		require.NoError(t, err)
		ordinals = append(ordinals, d.Ordinal)
	}
	assert.Equal(t, []int{1, 2, 3, 4, 5}, ordinals)
	assert.Equal(t, []string{"P-ENF-1 2", "P-ENF-1 5"}, *warned)
	assert.Equal(t, 5, f.Seen())

	for text, rule := range map[string]string{first + timed(started, broken): "P-VER-2", first + timed(started, misshapen): "P-ENF-4"} {
		f, th, err := whole(t, text)
		require.NoError(t, err)
		assert.Equal(t, reducer.Rejected, th.Status())
		assert.Equal(t, f.Err(), th.Err())
		var violation *reducer.Violation
		var malformed *messages.MalformedError
		switch {
		case rule == "P-VER-2":
			require.ErrorAs(t, f.Err(), &violation)
			assert.Equal(t, 5, violation.Ordinal)
		default:
			require.ErrorAs(t, f.Err(), &malformed)
			assert.Equal(t, 5, malformed.Ordinal)
		}
	}
	t.Run("once, whatever follows", func(t *testing.T) {
		_, th, err := whole(t, first+timed(started, broken)+bareHead+bareHead)
		require.NoError(t, err)
		var violation *reducer.Violation
		require.ErrorAs(t, th.Err(), &violation)
		assert.Equal(t, 5, violation.Ordinal)
	})
}

func TestFoldAsItGoes(t *testing.T) {
	f, _ := fold(t, head("r", userA, `{}`)+timed(started, finished, started), false)
	assert.Equal(t, "a {}", told(f.Thread()), "before the first event")
	for range f.Deliveries() {
		break
	}
	assert.Equal(t, "r running, a {}", told(f.Thread()))
	for range f.Deliveries() {
		break
	}
	assert.Equal(t, "r succeeded, a {}", told(f.Thread()), "iterating continues after a break")
	for range f.Deliveries() {
	}
	require.NoError(t, f.Err())
	assert.Equal(t, "r succeeded, r truncated, a {}", told(f.End(nil)))
	require.ErrorIs(t, f.Err(), reducer.ErrTruncated)

	f, _ = fold(t, started+"\n"+broken+"\n"+finished, false)
	for range f.Deliveries() {
	}
	for range f.Deliveries() {
		t.Error("a rejected stream continues")
	}
	assert.Equal(t, 2, f.Seen())
}

func TestFoldOfACutRecording(t *testing.T) {
	_, th, err := whole(t, bareHead+timed(started)+`{"at":1,"ev`)
	require.ErrorAs(t, err, new(*CutError))
	assert.Equal(t, "r truncated, {}", told(th))
	require.ErrorAs(t, th.Err(), new(*CutError))
	require.ErrorIs(t, th.Err(), reducer.ErrTruncated)

	f, th, err := whole(t, bareHead+timed(started, finished)+`{"at":1,"ev`)
	require.ErrorAs(t, err, new(*CutError))
	assert.Equal(t, "r succeeded, {}", told(th))
	require.NoError(t, f.Err())
}

func TestFoldIsStrictIfAsked(t *testing.T) {
	f, warned := fold(t, bareHead+timed(started, finished)+bareHead+timed(unknown), true)
	for range f.Deliveries() {
	}
	require.ErrorAs(t, f.Err(), new(*messages.MalformedError))
	assert.Empty(t, *warned)
}

func TestFoldRepairs(t *testing.T) {
	text := `{"agfold":"recording/1","start":"2026-03-01T12:00:00Z","input":{"threadId":"t","runId":"r1","messages":[]}}
{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r1"}}
{"at":0,"event":{"type":"THINKING_START"}}
{"at":0,"event":{"type":"THINKING_END"}}
{"at":0,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}}
{"agfold":"recording/1","start":"2026-03-01T12:00:00Z","input":{"threadId":"t","runId":"r2","messages":[]}}
{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r2"}}
{"at":0,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}}
`
	var streams [][]string
	th, err := Fold(strings.NewReader(text), &FoldOptions{Repair: func() func(event.Event) event.Event {
		streams = append(streams, nil)
		return func(ev event.Event) event.Event {
			streams[len(streams)-1] = append(streams[len(streams)-1], ev.Type().String())
			if ev.Type() == event.TypeRunFinished {
				return event.FrameOfEvent(ev).With("result", state.String("repaired"))
			}
			return ev
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"RUN_STARTED", "REASONING_START", "REASONING_END", "RUN_FINISHED"}, {"RUN_STARTED", "RUN_FINISHED"}}, streams)
	for _, run := range th.Runs.All() {
		assert.Equal(t, `"repaired"`, run.Result.String())
	}
}

func TestFoldWarnsOfInputs(t *testing.T) {
	odd := strings.Replace(head("r", "", `{}`), `"state"`, `"mood":"good","state"`, 1)
	f, warned := fold(t, odd+odd, false)
	assert.Equal(t, []string{"P-ENF-2 0"}, *warned, "of the first at once")
	for range f.Deliveries() {
	}
	assert.Equal(t, []string{"P-ENF-2 0", "P-ENF-2 0"}, *warned)
}

func TestFoldOfAnyForm(t *testing.T) {
	const began, ended = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	const unknown = `{"type":"NEW"}`
	const object = `{"stream":[` + began + `,` + ended + `],"input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"hi"}],"state":{"n":1},"mood":"good"}}`
	lost := errors.New("lost")
	for _, row := range []struct {
		name   string
		r      io.Reader
		o      FoldOptions
		status reducer.Status
		errs   []func(error) bool
	}{
		{"P-STA-2 the input of an object", strings.NewReader(object), FoldOptions{}, reducer.Succeeded, nil},
		{"an unknown event", strings.NewReader(began + "\n" + unknown + "\n" + ended), FoldOptions{}, reducer.Succeeded, nil},
		{"P-ENF-7 strict", strings.NewReader(began + "\n" + unknown + "\n" + ended), FoldOptions{Strict: true}, reducer.Rejected, []func(error) bool{is[*messages.MalformedError]}},
		{"P-VER-1 a violation", strings.NewReader(began + "\n" + began), FoldOptions{}, reducer.Rejected, []func(error) bool{is[*reducer.Violation]}},
		{"P-RUN-1 no end", strings.NewReader(began), FoldOptions{}, reducer.Truncated, []func(error) bool{matching(reducer.ErrTruncated)}},
		{"cut in a run", strings.NewReader(began + "\n" + ended[:9]), FoldOptions{}, reducer.Truncated, []func(error) bool{matching(reducer.ErrTruncated)}},
		{"cut after a run", strings.NewReader(began + "\n" + ended + "\n" + began[:9]), FoldOptions{}, reducer.Succeeded, []func(error) bool{matching(reducer.ErrTruncated)}},
		{"P-SSE-2 an event past the bound", strings.NewReader("[" + began + "," + ended + "]"), FoldOptions{MaxEventBytes: len(began)}, reducer.Truncated, []func(error) bool{is[*event.TooLargeError], matching(reducer.ErrTruncated)}},
		{"P-PIPE-2 data that is not an event", strings.NewReader(began + "\ndear diary\n" + ended), FoldOptions{}, reducer.Rejected, []func(error) bool{is[*messages.MalformedError]}},
		{"no recording", strings.NewReader("dear diary"), FoldOptions{}, reducer.Empty, []func(error) bool{is[*FormatError]}},
		{"nothing", strings.NewReader(" \n"), FoldOptions{}, reducer.Empty, []func(error) bool{matching(ErrNoRun)}},
		{"no run", strings.NewReader(unknown), FoldOptions{}, reducer.Empty, []func(error) bool{matching(ErrNoRun)}},
		{"a reader that fails", io.MultiReader(strings.NewReader(began+"\n"), iotest.ErrReader(lost)), FoldOptions{}, reducer.Truncated, []func(error) bool{matching(lost), matching(reducer.ErrTruncated)}},
		{"a reader that fails at once", iotest.ErrReader(lost), FoldOptions{}, reducer.Empty, []func(error) bool{matching(lost)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			th, err := Fold(row.r, &row.o)
			require.NotNil(t, th)
			assert.Equal(t, row.status, th.Status())
			if row.errs == nil {
				require.NoError(t, err)
			}
			for _, want := range row.errs {
				require.True(t, want(err), "%v", err)
			}
		})
	}

	var warned []string
	th, err := Fold(strings.NewReader(object), &FoldOptions{OnWarning: func(w event.Warning) {
		warned = append(warned, w.Rule+" "+w.Path)
	}})
	require.NoError(t, err)
	assert.Equal(t, `r succeeded, u {"n":1}`, told(th))
	assert.Equal(t, []string{"P-ENF-2 /mood"}, warned)

	const delta = `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`
	for bound, want := range map[int]string{0: `{"n":1}`, 2: `{}`} {
		th, err := Fold(strings.NewReader(began+"\n"+delta+"\n"+ended), &FoldOptions{MaxPatchedBytes: bound})
		require.NoError(t, err)
		assert.Equal(t, want, th.State.String(), "a patch past the bound is refused")
	}
}

// FuzzFold: a recording of one stream without an input folds to what its replay folds to, and what an
// error says is what the thread says.
func FuzzFold(f *testing.F) {
	files, err := filepath.Glob("../testdata/*")
	require.NoError(f, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		if !strings.Contains(name, ".golden.") {
			f.Add(string(text))
		}
	}
	const run = `{"agfold":"recording/1","input":{"messages":[{"id":"u","role":"user","content":"x"}]}}
{"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
{"event":{"type":"TEXT_MESSAGE_END","messageId":"r"}}
`
	f.Add(run + run)
	f.Fuzz(func(t *testing.T, text string) {
		th, err := Fold(strings.NewReader(text), nil)
		switch th.Status() {
		case reducer.Rejected, reducer.Truncated:
			require.ErrorIs(t, err, th.Err())
		case reducer.Running:
			t.Fatal("a run is still running after the end")
		}
		rec, opened := Open(strings.NewReader(text), nil)
		if opened != nil || rec.Form() == FormAgfold || rec.Input() != nil {
			return
		}
		replayed, replayErr := reducer.Fold(NewReplay(func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}, nil).Run(t.Context(), event.RunInput{}), nil)
		require.Equal(t, string(replayed.AppendJSON(nil)), string(th.AppendJSON(nil)))
		if errors.Is(err, ErrNoRun) {
			err = nil
		}
		if replayErr == nil {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, replayErr.Error())
		}
	})
}

func TestFoldShowsEachDeliveryWithItsThread(t *testing.T) {
	const restated = `{"type":"MESSAGES_SNAPSHOT","messages":[]}`
	for name, chunk := range map[string]string{
		"text":  `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`,
		"calls": `{"type":"TOOL_CALL_CHUNK","toolCallId":"a","toolCallName":"f","delta":"{}"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := fold(t, bareHead+timed(started, chunk, restated, finished), false)
			var held []int
			for d, err := range f.Deliveries() {
				require.NoError(t, err)
				held = append(held, f.Thread().Messages.Len())
				if i := d.Change.Index; i >= 0 {
					assert.Equal(t, "a", f.Thread().Messages.At(i).ID)
				}
			}
			assert.Equal(t, []int{0, 1, 1, 1, 0, 0}, held, "begin, start, content, end, snapshot, finish")
		})
	}
	t.Run("an event that its stream's error precedes is seen as nothing", func(t *testing.T) {
		f, _ := fold(t, bareHead+timed(started, broken, finished), false)
		var got []reducer.Delivery
		for d, err := range f.Deliveries() {
			require.NoError(t, err)
			got = append(got, d)
		}
		require.Len(t, got, 3)
		for i, d := range got[1:] {
			assert.Equal(t, reducer.Delivery{Ordinal: i + 2, Change: reducer.Change{Index: -1}}, d)
		}
	})
	t.Run("breaking out in the middle of an event keeps the rest of it", func(t *testing.T) {
		f, warned := fold(t, bareHead+timed(started, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"user","content":""},{"id":"a","role":"user","content":""}]}`), false)
		for range f.Deliveries() {
			if f.Seen() == 3 {
				break
			}
		}
		assert.Equal(t, "r running, a {}", told(f.Thread()))
		assert.Equal(t, []string{"P-MSG-1 3"}, *warned)
	})
	t.Run("breaking out before the error rejects the stream", func(t *testing.T) {
		f, _ := fold(t, bareHead+timed(started, strings.TrimSuffix(broken, "}")+`,"color":1}`), false)
		for range f.Deliveries() {
			if f.Seen() == 2 {
				break
			}
		}
		require.ErrorAs(t, f.Err(), new(*reducer.Violation))
	})
	t.Run("through an event, all of it and no further", func(t *testing.T) {
		rec, err := Open(strings.NewReader(bareHead+timed(started, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`, restated, finished)), nil)
		require.NoError(t, err)
		f := NewFolder(rec, &FoldOptions{Through: 2})
		n := 0
		for _, err := range f.Deliveries() {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, 3, n)
		assert.Equal(t, 2, f.Seen())
		assert.Equal(t, "r running, a {}", told(f.Thread()))
	})
}

func TestFoldUnderTheBoundOfTheSession(t *testing.T) {
	text := started + "\n" + `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":"0123456789"}]}` + "\n" + finished + "\n"
	th, err := Fold(strings.NewReader(text), &FoldOptions{MaxPatchedBytes: 10})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(th.State.AppendJSON(nil)), "P-STA-1")
	th, err = Fold(strings.NewReader(text), nil)
	require.NoError(t, err)
	assert.Equal(t, `{"a":"0123456789"}`, string(th.State.AppendJSON(nil)))
}
