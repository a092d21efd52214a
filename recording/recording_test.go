package recording

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func TestForms(t *testing.T) {
	all := []string{started, custom, unknown, finished}
	pretty := func(s string) string { return strings.ReplaceAll(s, `,`, ",\n  ") }
	for _, tt := range []struct {
		name, text string
		form       Form
		want       []string
	}{
		{"an empty file is an empty recording", "", FormEmpty, nil},
		{"white space is an empty recording", "\uFEFF \r\n\n\t", FormEmpty, nil},
		{"a captured stream", "data: " + strings.Join(all, "\n\ndata: ") + "\n\n", FormSSE, all},
		{"a captured stream with CRLF, comments and fields", "\uFEFF\r\n: hi\r\n\r\nevent: message\r\nid: 1\r\ndata: " + strings.Join(all, "\r\n\r\nevent: message\r\ndata:") + "\r\n", FormSSE, all},
		{"a captured stream that begins with another field", "retry: 10\ndata: " + started + "\n\n", FormSSE, all[:1]},
		{"pasted data lines", "data: " + strings.Join(all, "\ndata: ") + "\n", FormSSE, all},
		{"an event over several data lines", "data: {\"type\":\ndata: \"X\"}\n\n", FormSSE, []string{"{\"type\":\n\"X\"}"}},
		{"one event a line", strings.Join(all, "\n") + "\n", FormLines, all},
		{"one event a line with CRLF, blank lines and no last line end", "\uFEFF\n  " + strings.Join(all, "\r\n\r\n "), FormLines, all},
		{"events spread over lines", pretty(strings.Join(all, "\n")) + "\n", FormValues, []string{pretty(started), pretty(custom), pretty(unknown), pretty(finished)}},
		{"an array", "[" + strings.Join(all, ",") + "]", FormArray, all},
		{"an array over lines", "\n[\r\n  " + strings.Join(all, ",\n  ") + "\n]\n\n", FormArray, all},
		{"an empty array", " [ ] ", FormArray, nil},
		{"an object with a stream", `{"name":"x","stream":[` + strings.Join(all, ", ") + `],"expect":{}}`, FormObject, all},
		{"an object over lines", "{\n \"name\": \"x\",\n \"stream\": [\n" + strings.Join(all, ",\n") + "\n ]\n}\n", FormObject, all},
		{"an object with an empty stream", `{"stream":[]}`, FormObject, nil},
		{"an event with a member stream is an event", `{"type":"X","stream":[1]}`, FormLines, []string{`{"type":"X","stream":[1]}`}},
		{"our own form", `{"agfold":"recording/1"}` + "\n" + `{"at":1,"event":` + started + "}\n", FormAgfold, all[:1]},
		{"our own form without a head", `{"at":1,"event":` + started + "}\n" + `{"at":2,"event":` + custom + "}", FormAgfold, all[:2]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range splits(tt.text) {
				form, got, err := texts(t, r, nil)
				require.NoError(t, err, name)
				assert.Equal(t, tt.form, form, name)
				assert.Equal(t, tt.want, got, name)
			}
		})
	}
}

func TestFormErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		before     int // events before the error
		malformed  bool
	}{
		{"prose", "\nHello, world\n", 2, 0, false},
		{"an object that is not an event", `{"a":1}`, 1, 0, false},
		{"an object over lines that is not an event", "{\n\"a\":1\n}\n", 1, 0, false},
		{"an HTML page", "<!DOCTYPE html>\n", 1, 0, false},
		{"a JSON string", `"data"`, 1, 0, false},
		{"indented data lines", "  data: " + started + "\n", 1, 0, false},
		{"an array without a comma", "[" + started + "\n" + started + "]", 2, 1, false},
		{"an array with a comma too many", "[" + started + ",]", 1, 1, false},
		{"an array with a comma first", "[,1]", 1, 0, false},
		{"text after an array", "[" + started + "]\n\n[]", 3, 1, false},
		{"text after an object", `{"stream":[` + started + "]}\n x", 2, 1, false},
		{"a stream that is not an array", "{\n\"stream\":{}}", 2, 0, false},
		{"an object broken after its stream", `{"stream":[` + started + "]\n, x}", 2, 1, false},
		{"an input that is malformed", `{"input":{"messages":[{"id":1,"role":"user"}]},"stream":[]}`, 1, 0, true},
		{"a head of another version", `{"agfold":"recording/2"}`, 1, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range splits(tt.text) {
				_, got, err := texts(t, r, nil)
				var format *FormatError
				require.ErrorAs(t, err, &format, name)
				assert.Equal(t, tt.line, format.Line, "%s: %v", name, err)
				assert.Len(t, got, tt.before, name)
				assert.Equal(t, tt.malformed, errors.As(err, new(*messages.MalformedError)), err)
				assert.Contains(t, err.Error(), fmt.Sprintf("not a recording: line %d: ", tt.line))
			}
		})
	}
}

// TestCut cuts every form off at every byte: the whole events before are read, and the end is either a
// clean one, where no event is begun, or a CutError.
func TestCut(t *testing.T) {
	all := []string{started, custom, unknown, `{"type":"X","a":[true,null,-1.5e3,"\u00e9\n"]}`}
	for name, text := range map[string]string{
		"sse":    "data: " + strings.Join(all, "\n\ndata: "),
		"pasted": "data: " + strings.Join(all, "\ndata: "),
		"lines":  strings.Join(all, "\n"),
		"values": strings.ReplaceAll(strings.Join(all, "\n"), ",", ",\n"),
		"array":  "[" + strings.Join(all, ",\n") + "]",
		"object": `{"input":{"messages":[]},"stream":[` + strings.Join(all, ",\n") + `], "expect":{"a":1}}`,
		"agfold": `{"agfold":"recording/1","input":{"messages":[]}}` + "\n" + `{"at":1.5,"event":` + strings.Join(all, "}\n"+`{"at":2,"event":`) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			for n := range len(text) {
				part := text[:n]
				_, got, err := texts(t, strings.NewReader(part), nil)
				whole := 0
				for i, ev := range all {
					ev = strings.TrimSuffix(ev, "}")
					if name == "values" {
						ev = strings.ReplaceAll(ev, ",", ",\n")
					}
					end := strings.Index(text, ev) + len(ev) + 1
					if name == "agfold" {
						end++
					}
					if n >= end {
						whole = i + 1
					}
				}
				if begun := strings.HasPrefix(part, `{"`) || strings.HasPrefix(part, "data: {"); whole > 0 || begun || err == nil {
					require.Len(t, got, whole, "%q: %v", part, err)
				}
				if err != nil && !is[*CutError](err) {
					// A cut field name or nothing but the beginning of a first data line cannot be told.
					require.ErrorAs(t, err, new(*FormatError))
					require.Less(t, n, len("data: {"), "%q: %v", part, err)
				}
			}
			_, got, err := texts(t, strings.NewReader(text), nil)
			require.NoError(t, err)
			require.Len(t, got, len(all))
		})
	}
}

func TestACutIsNamedByLine(t *testing.T) {
	_, got, err := texts(t, strings.NewReader(started+"\n\n"+custom[:20]), nil)
	assert.Equal(t, []string{started}, got)
	var cut *CutError
	require.ErrorAs(t, err, &cut)
	assert.Equal(t, 3, cut.Line)
	assert.Equal(t, "recording cut off in line 3", err.Error())
}

// TestDataThatIsNotAnEvent holds that it takes its place in every form, and that the fold is the one that rejects it.
func TestDataThatIsNotAnEvent(t *testing.T) {
	for name, text := range map[string]string{
		"sse":    "data: " + started + "\n\ndata: %s\n\ndata: " + finished + "\n\n",
		"pasted": "data: " + started + "\ndata: %s\ndata: " + finished + "\n",
		"lines":  started + "\n%s\n" + finished,
		"values": "{\n" + started[1:] + "\n%s\n" + finished,
		"array":  "[" + started + ", %s\n, " + finished + "]",
		"agfold": bareHead + timed(started) + `{"at":1,"data":%q}` + "\n" + timed(finished),
	} {
		for _, data := range []string{"null", "17", "[DONE]", "DONE", `{"a":1}`, `{"type":null}`, `{"type":"X",}`} {
			t.Run("P-PIPE-2 "+name+" "+data, func(t *testing.T) {
				text := fmt.Sprintf(text, data)
				_, got, err := texts(t, strings.NewReader(text), nil)
				require.NoError(t, err)
				require.Len(t, got, 3)
				assert.Equal(t, []string{data, finished}, got[1:])
				th, err := Fold(strings.NewReader(text), nil)
				var malformed *messages.MalformedError
				require.ErrorAs(t, err, &malformed)
				assert.Equal(t, "P-PIPE-2", malformed.Rule)
				assert.Equal(t, 2, malformed.Ordinal)
				assert.Contains(t, malformed.Found, data)
				assert.Equal(t, reducer.Rejected, th.Status())
			})
		}
	}
	t.Run("P-PIPE-2 a broken element of an object", func(t *testing.T) {
		th, err := Fold(strings.NewReader(`{"stream":[`+started+",\n{\"type\":\"X\",}]}"), nil)
		require.ErrorAs(t, err, new(*messages.MalformedError))
		assert.Equal(t, reducer.Rejected, th.Status())
	})
	t.Run("P-PIPE-2 P-SSE-1 blank data is not an event", func(t *testing.T) {
		_, got, err := texts(t, strings.NewReader("data:\n\ndata: "+started+"\n\nid: 7\ndata: \n\ndata: "+finished+"\n\n"), nil)
		require.NoError(t, err)
		assert.Equal(t, []string{started, finished}, got)
	})
}

func TestInput(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"before the stream", `{"input":{"messages":[{"id":"1","role":"user","content":"hi"}]},"client":{"maxProtocolVersion":"0.0.57"},"stream":[]}`},
		{"after the stream", `{"stream":[` + started + `],"client":{"maxProtocolVersion":"0.0.57"},"input":{"threadId":"","runId":"","messages":[{"id":"1","role":"user","content":"hi"}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := Open(strings.NewReader(tt.text), nil)
			require.NoError(t, err)
			assert.Equal(t, `{"threadId":"","runId":"","messages":[{"id":"1","role":"user","content":"hi"}]}`, string(rec.Input().AppendJSON(nil)))
			assert.Equal(t, "0.0.57", rec.PeerVersion())
			assert.Empty(t, rec.Warnings())
			assert.False(t, rec.Timed())
		})
	}
	t.Run("P-CMP-3 a legacy part of the input is converted", func(t *testing.T) {
		rec, err := Open(strings.NewReader(`{"stream":[],"input":{"messages":[{"id":"1","role":"user","content":[{"type":"binary","mimeType":"image/png","url":"u"}]}]}}`), nil)
		require.NoError(t, err)
		assert.Contains(t, string(rec.Input().AppendJSON(nil)), `{"type":"image","source":{"type":"url","value":"u","mimeType":"image/png"}}`)
	})
	t.Run("P-ENF-2 removals from the input are reported", func(t *testing.T) {
		rec, err := Open(strings.NewReader(`{"stream":[],"input":{"messages":[],"color":"red"}}`), nil)
		require.NoError(t, err)
		require.Len(t, rec.Warnings(), 1)
		assert.Equal(t, "/color", rec.Warnings()[0].Path)
	})
	t.Run("none", func(t *testing.T) {
		for _, text := range []string{started, `{"stream":[],"input":null}`, `{"agfold":"recording/1"}`, ""} {
			rec, err := Open(strings.NewReader(text), nil)
			require.NoError(t, err)
			assert.Nil(t, rec.Input())
			assert.Empty(t, rec.PeerVersion())
		}
	})
}

func TestRunsFollowOneAnother(t *testing.T) {
	const head = `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"%d","messages":[]}}` + "\n"
	text := fmt.Sprintf(head, 1) +
		`{"at":12.5,"event":` + started + "}\n" +
		`{"at":"2026-03-01T10:00:02Z","event":` + finished + "}\n" +
		`{"at":"2026-03-01T09:00:02Z","event":{"type":` + "\n" + // a crash
		fmt.Sprintf(head, 2) +
		`{"event":` + started + "}\n" +
		"\n" +
		fmt.Sprintf(head, 3)
	rec, err := Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	assert.True(t, rec.Timed())
	assert.Equal(t, "1", rec.Input().RunID)
	var got []string
	for e, err := range rec.Entries() {
		require.NoError(t, err)
		switch {
		case e.Head != nil:
			got = append(got, fmt.Sprintf("%d: head %s %s", e.Line, e.Head.Input.RunID, e.Head.Start.Format(time.RFC3339)))
		case e.Err != nil:
			got = append(got, fmt.Sprintf("%d: %v", e.Line, e.Err))
		default:
			got = append(got, fmt.Sprintf("%d: %v %s", e.Line, e.At, e.Event.TypeName()))
		}
	}
	assert.Equal(t, []string{
		"1: head 1 2026-03-01T10:00:00Z",
		"2: 12.5ms RUN_STARTED",
		"3: 2s RUN_FINISHED",
		"4: recording damaged: line 4 is lost: invalid JSON at byte 45: unexpected end, a value expected",
		"5: head 2 2026-03-01T10:00:00Z",
		"6: 0s RUN_STARTED",
		"8: head 3 2026-03-01T10:00:00Z",
	}, got)
}

func TestTheJSONOfAThreadIsNamed(t *testing.T) {
	th, err := Fold(strings.NewReader(started+"\n"+finished), nil)
	require.NoError(t, err)
	for _, text := range []string{string(th.AppendJSON(nil)), strings.ReplaceAll(string(th.AppendJSON(nil)), ",", ",\n")} {
		_, err = Open(strings.NewReader(text), nil)
		require.ErrorIs(t, err, ErrThread)
		require.ErrorAs(t, err, new(*FormatError))
	}
}

// endless gives out a beginning and then one byte forever.
type endless struct {
	head string
	unit byte
	n    int
}

func (r *endless) Read(p []byte) (int, error) {
	n := copy(p, r.head)
	r.head = r.head[n:]
	for i := range p[n:] {
		p[n+i] = r.unit
	}
	r.n += len(p)
	return len(p), nil
}

func TestAnEndlessFirstLineIsBounded(t *testing.T) {
	const limit = 1 << 20
	for _, head := range []string{`{"type":"`, `{"`, `{"at":1,"event":"`, `{"at":1,"data":"`, `[{"type":"`, `data: {"type":"`} {
		src := &endless{head: head, unit: 'x'}
		rec, err := Open(src, &Options{MaxEventBytes: limit})
		if err == nil {
			for _, e := range rec.Entries() {
				err = e
			}
		}
		require.ErrorAs(t, err, new(*event.TooLargeError), head)
		assert.Less(t, src.n, 8*limit, head)
	}
}

// A run whose input cannot be read keeps its events.
func TestMalformedInputOfAHead(t *testing.T) {
	f, warned := fold(t, `{"agfold":"recording/1","input":{"messages":[{"id":1,"role":"user"}]}}`+"\n"+timed(started, finished), false)
	for _, err := range f.Deliveries() {
		require.NoError(t, err)
	}
	assert.Equal(t, "r succeeded, {}", told(f.End(nil)))
	assert.Equal(t, []string{"recording 0"}, *warned)
}

// An agent's text that looks like a head does not change the form of a recording.
func TestAnEventThatMentionsAHead(t *testing.T) {
	rec, err := Open(strings.NewReader("{\"stream\":[\n"+started+",\n"+
		`{"type":"CUSTOM","name":"n","value":{"agfold":"recording/1"}},`+"\n"+finished+"]}"), nil)
	require.NoError(t, err)
	assert.Equal(t, FormObject, rec.Form())
}

// TestDamage holds that what cannot be read in our own form costs no more than the run that it is in.
func TestDamage(t *testing.T) {
	run := bareHead + timed(started, finished)
	for _, row := range []struct {
		name, text string
		lost       []string // the lines
		runs       string
	}{
		{"a line that is not JSON", bareHead + timed(started) + "{]\n" + timed(finished) + run, []string{"3 2"}, "r truncated, r succeeded, "},
		{"two values in a line", bareHead + timed(started) + "{} {}\n" + run, []string{"3 1"}, "r truncated, r succeeded, "},
		{"an entry that is not one", bareHead + timed(started) + `{"x":1}` + "\n\n" + run, []string{"3 1"}, "r truncated, r succeeded, "},
		{"a time that is not one", bareHead + `{"at":-1,"event":` + started + "}\n" + run, []string{"2 1"}, " truncated, r succeeded, "},
		{"a date that is not one", bareHead + `{"at":"x","event":` + started + "}\n" + run, []string{"2 1"}, " truncated, r succeeded, "},
		{"an error that is not a text", bareHead + timed(started) + `{"at":1,"error":7}` + "\n" + run, []string{"3 1"}, "r truncated, r succeeded, "},
		{"a start that is not a time", `{"agfold":"recording/1","start":"noon"}` + "\n" + timed(started) + run, []string{"1 2"}, "r succeeded, "},
		{"a torn first line", `{"agfold":"recor` + "\n" + run, []string{"1 1"}, "r succeeded, "},
		{"a torn first line, hardly begun", `{"ag` + "\n" + timed(started) + run, []string{"1 2"}, "r succeeded, "},
		{"a first line of zeros", strings.Repeat("\x00", 40) + "\n" + run, []string{"1 1"}, "r succeeded, "},
		{"a recording without its beginning", `ed","threadId":"t"}}` + "\n" + timed(finished) + run, []string{"1 2"}, "r succeeded, "},
		{"what looks like a head within a line", bareHead + timed(started) + `{"at":6,"event":{"type":"CUS` + run + run, []string{"3 3"}, "r truncated, r succeeded, "},
		{"a torn line with an agent's own head", bareHead + timed(started) +
			`{"at":6,"event":{"type":"CUSTOM","name":"n","value":{"agfold":"recording/1","input":{"threadId":"t","runId":"forged","messages":[]}}   ` + "\n" + run,
			[]string{"3 1"}, "r truncated, r succeeded, "},
		{"a torn first line that ends with an object", `{"a":1},{"b":2}],"state":{}}}` + "\n" + timed(started, finished) + run, []string{"1 3"}, "r succeeded, "},
		{"damage twice", run + "?\n" + run + "?\n?\n" + run, []string{"4 1", "8 2"}, "r succeeded, r succeeded, r succeeded, "},
		{"damage that no head follows", run + bareHead + timed(started) + "?\n" + timed(finished), []string{"6 2"}, "r succeeded, r truncated, "},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, r := range splits(row.text) {
				rec, err := Open(r, nil)
				require.NoError(t, err, name)
				assert.Equal(t, FormAgfold, rec.Form())
				var lost []string
				for e, err := range rec.Entries() {
					require.NoError(t, err)
					if damage, ok := errors.AsType[*DamageError](e.Err); ok {
						lost = append(lost, fmt.Sprint(damage.Line, damage.Lines))
					}
				}
				assert.Equal(t, row.lost, lost, name)
			}
			f, warned := fold(t, row.text, false)
			for _, err := range f.Deliveries() {
				require.NoError(t, err)
			}
			th := f.End(nil)
			assert.Equal(t, row.runs+"{}", told(th))
			said := len(*warned)
			for _, run := range th.Runs.All() {
				if is[*DamageError](run.Err) {
					said++
				}
			}
			assert.Len(t, row.lost, said, "all damage is reported, by the run that it truncates or by a warning")
			agent, _ := replay(row.text, nil)
			n, err := agent.Runs()
			require.NoError(t, err)
			for range n {
				th, err := reducer.Fold(agent.Run(t.Context(), input), nil)
				if th.Status() != reducer.Succeeded {
					require.True(t, is[*DamageError](err), "%v", err)
				}
			}
		})
	}
	t.Run("a head of another version is not damage", func(t *testing.T) {
		_, got, err := texts(t, strings.NewReader(run+`{"agfold":"recording/2"}`+"\n"+run), nil)
		require.ErrorAs(t, err, new(*FormatError))
		assert.Len(t, got, 2)
	})
}

func TestTimesWithoutAHeadCountFromTheFirst(t *testing.T) {
	rec, err := Open(strings.NewReader(
		`{"at":"2026-03-01T10:00:00.5Z","event":`+started+"}\n"+`{"at":"2026-03-01T10:00:02Z","event":`+finished+"}\n"+
			`{"at":"2026-03-01T09:00:02Z","event":`+finished+"}\n"), nil)
	require.NoError(t, err)
	var at []time.Duration
	for e, err := range rec.Entries() {
		require.NoError(t, err)
		at = append(at, e.At)
	}
	assert.Equal(t, []time.Duration{0, 1500 * time.Millisecond, 0}, at)
}

func TestIteratingContinuesAfterABreak(t *testing.T) {
	rec, err := Open(strings.NewReader(started+"\n"+custom+"\n"+finished+"\n{"), nil)
	require.NoError(t, err)
	for ev, err := range rec.Events() {
		require.NoError(t, err)
		assert.Equal(t, event.TypeRunStarted, ev.Type())
		break
	}
	var types []event.Type
	for range 2 { // the second time there is the error alone
		var last error
		for ev, err := range rec.Events() {
			if last = err; err == nil {
				types = append(types, ev.Type())
			}
		}
		require.ErrorAs(t, last, new(*CutError))
	}
	assert.Equal(t, []event.Type{event.TypeCustom, event.TypeRunFinished}, types)
}

func TestEventsOutliveTheReading(t *testing.T) {
	for _, text := range []string{
		"data: " + strings.Repeat(custom+"\n\ndata: ", 1000) + started,
		strings.Repeat(custom+"\n", 1000),
		"[" + strings.Repeat(custom+",", 1000) + started + "]",
		strings.Repeat(`{"at":1,"event":`+custom+"}\n", 1000),
	} {
		rec, err := Open(strings.NewReader(text), nil)
		require.NoError(t, err)
		var kept []event.Event
		for ev, err := range rec.Events() {
			require.NoError(t, err)
			kept = append(kept, ev)
		}
		for _, ev := range kept[:1000] {
			require.Equal(t, custom, string(ev.(event.Frame).Data()))
		}
	}
}

func TestBound(t *testing.T) {
	const limit = len(started)
	long := strings.Replace(started, `"r"`, `"rr"`, 1)
	for name, text := range map[string]string{
		"sse":    "data: " + started + "\n\ndata: " + long + "\n\n",
		"lines":  started + "\n\n" + long + "\n",
		"array":  "[" + started + ",\n\n" + long + "]",
		"object": `{"stream":[` + started + ",\n\n" + long + "]}",
		"agfold": `{"at":0,"event":` + started + "}\n\n" + `{"at":0,"event":` + long + "}\n",
	} {
		t.Run("P-SSE-2 "+name, func(t *testing.T) {
			_, got, err := texts(t, strings.NewReader(text), &Options{MaxEventBytes: limit})
			assert.Equal(t, []string{started}, got)
			var large *event.TooLargeError
			require.ErrorAs(t, err, &large)
			assert.Equal(t, event.TooLargeError{Limit: limit, Line: 3}, *large)
		})
		t.Run("no bound for "+name, func(t *testing.T) {
			_, got, err := texts(t, strings.NewReader(text), &Options{MaxEventBytes: -1})
			require.NoError(t, err)
			assert.Len(t, got, 2)
		})
	}
	_, _, err := texts(t, strings.NewReader(long), &Options{MaxEventBytes: limit})
	require.ErrorAs(t, err, new(*event.TooLargeError), "in the first line")
}

// What Writer writes of events that are within the bound is read under the same bound, whatever stands around them.
func TestTheBoundIsThatOfTheEvent(t *testing.T) {
	const limit = len(started)
	write := func(data string) string {
		var file strings.Builder
		w := NewWriter(&file)
		require.NoError(t, w.Head(&event.RunInput{ThreadID: strings.Repeat("t", 5000)}, noon))
		require.NoError(t, w.Event(frame(t, started), 0))
		require.NoError(t, w.Event(new(event.Framer).Frame([]byte(data)), 0))
		require.NoError(t, w.Head(&event.RunInput{ThreadID: strings.Repeat("t", 5000)}, noon))
		require.NoError(t, w.Error(errors.New(strings.Repeat("e", 5000)), 0))
		return file.String()
	}
	for _, c := range []string{"x", `"`, "\x01"} {
		rec, err := Open(strings.NewReader(write(strings.Repeat(c, limit))), &Options{MaxEventBytes: limit})
		require.NoError(t, err)
		n := 0
		for e, err := range rec.Entries() {
			require.NoError(t, err)
			n++
			_, lost := errors.AsType[*DamageError](e.Err)
			assert.False(t, lost, e.Err)
		}
		assert.Equal(t, 5, n)
		for _, more := range []int{1, 10_000} {
			_, got, err := texts(t, strings.NewReader(write(strings.Repeat(c, limit+more))), &Options{MaxEventBytes: limit})
			assert.Equal(t, []string{started}, got)
			var large *event.TooLargeError
			require.ErrorAs(t, err, &large)
			assert.Equal(t, event.TooLargeError{Limit: limit, Line: 3}, *large)
		}
	}
}

func TestWhatIsLostIsToldBeforeTheError(t *testing.T) {
	boom := errors.New("boom")
	for name, end := range map[string]io.Reader{
		"an event that is too large": strings.NewReader(`{"at":0,"event":{"type":"` + strings.Repeat("x", 3000) + `"}}` + "\n"),
		"a line that is too long":    strings.NewReader(strings.Repeat("x", 3000)),
		"an error of the source":     iotest.ErrReader(boom),
		"another version":            strings.NewReader(`{"agfold":"recording/2"}` + "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := Open(io.MultiReader(strings.NewReader(bareHead+"???\n"), end), &Options{MaxEventBytes: 500})
			require.NoError(t, err)
			var lost, last error
			for e, err := range rec.Entries() {
				lost, last = cmp.Or(lost, e.Err), err
			}
			require.True(t, is[*DamageError](lost), "%v", lost)
			require.Error(t, last)
		})
	}
}

func TestErrorsOfTheSource(t *testing.T) {
	boom := errors.New("boom")
	for _, text := range []string{"", "data: " + started + "\n\n", started + "\n", "[" + started, `{"agfold":"recording/1"}` + "\n", "{\n"} {
		_, _, err := texts(t, io.MultiReader(strings.NewReader(text), iotest.ErrReader(boom)), nil)
		require.ErrorIs(t, err, boom, text)
		assert.Equal(t, "reading the recording: boom", err.Error())
	}
}

// repeated gives out a unit again and again.
type repeated struct {
	head, unit []byte
	n, at      int
}

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.unit[r.at:])
	r.at = (r.at + n) % len(r.unit)
	r.n -= n
	return n, nil
}

func TestMemoryDoesNotGrowWithTheRecording(t *testing.T) {
	for name, src := range map[string]*repeated{
		"sse":    {unit: []byte("data: " + custom + "\n\n")},
		"lines":  {unit: []byte(custom + "\n")},
		"array":  {head: []byte("[" + started), unit: []byte(",\n" + custom)},
		"agfold": {head: []byte(`{"agfold":"recording/1"}` + "\n"), unit: []byte(`{"at":1,"event":` + custom + "}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			src.n = 8 << 20
			rec, err := Open(src, nil)
			require.NoError(t, err)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			n := 0
			for _, err := range rec.Events() {
				if err != nil {
					require.ErrorAs(t, err, new(*CutError))
				}
				n++
			}
			assert.Greater(t, n, 50_000)
			runtime.GC()
			runtime.ReadMemStats(&after)
			assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
			runtime.KeepAlive(rec)
		})
	}
}

func TestConformanceStreamsOpen(t *testing.T) {
	dir := os.Getenv("AGFOLD_CONFORMANCE")
	if dir == "" {
		t.Skip("AGFOLD_CONFORMANCE is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "streams", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		rec, err := Open(bytes.NewReader(text), nil)
		require.NoError(t, err, file)
		assert.Equal(t, FormObject, rec.Form(), file)
		n := 0
		for ev, err := range rec.Events() {
			require.NoError(t, err, file)
			require.NotEmpty(t, ev.(event.Frame).TypeName())
			n++
		}
		assert.Positive(t, n, file)
	}
}

// FuzzOpen holds that nothing panics, that an error is of a known kind, and that how the bytes come makes
// no difference.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		"", "data: " + started + "\n\ndata: " + custom, started + "\n" + custom, "[" + started + ",\n" + unknown + "]",
		`{"input":{"messages":[]},"stream":[` + started + `],"x":1}`, `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z"}` + "\n" + `{"at":1,"event":` + started + "}\n",
		"{\n\"type\":\"X\"}\n{\"type\":\n\"Y\"}", "[1,\"a\",]", `{"stream":[{"type":"X"`, "data: {\"type\":\"X\"}\ndata: {\"ty",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, want, wantErr := texts(t, strings.NewReader(text), &Options{MaxEventBytes: 200})
		if wantErr != nil && !is[*FormatError](wantErr) && !is[*CutError](wantErr) {
			require.ErrorAs(t, wantErr, new(*event.TooLargeError))
		}
		f2, got, err := texts(t, iotest.OneByteReader(strings.NewReader(text)), &Options{MaxEventBytes: 200})
		require.Equal(t, form, f2)
		require.Equal(t, want, got)
		require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
	})
}
