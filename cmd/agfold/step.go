package main

import (
	"bufio"
	"bytes"
	"context"

	"io"
	"strconv"
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// stepFlags is the command line of agfold step.
type stepFlags struct {
	JSON     bool     `help:"Print each step as one JSON object on one line: ordinal, line, type, event, deliveries, warnings, statePatch, status."`
	Do       []string `short:"c" placeholder:"COMMAND" help:"Carry out these commands instead of those on standard input."`
	MaxEvent int      `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	File     string   `arg:"" name:"FILE" help:"A recording; - is standard input, which is then listed."`
}

// Help is what --help says before the flags.
func (f *stepFlags) Help() string {
	return `Walks through a recording, forwards and backwards, and shows what each event changed. On a terminal, keys
do it; elsewhere commands are read from standard input, one a line, and if there are none, all events
are listed.`
}

const stepCommands = `Commands, which on a terminal begin with ":"
  n [N], p [N]     N events forward, back (also: enter; keys: right, left)
  N, first, last   go to event N, to the first one, to the last one
  w, W             the next warning or rejection, the one before
  r, R             the next beginning of a run, the one before
  m ID, M ID       the next event about a message, the one before
  s PATH, S PATH   the next event that changes the state at a JSON pointer, the one before
  /TEXT, ?TEXT     the next event that contains a text, the one before
  state [PATH]     print the state, or what is at a JSON pointer
  thread           print the thread as it is now
  list [N]         list the next N events (20), without moving
  event            print the event in full, up to 4 KiB
  help, q          print this, quit
`

func (f *stepFlags) epilog() string {
	return stepCommands + `
Exit status:
  0    everything was carried out
  1    something was not found
  2    wrong usage, or an unknown command
  4    FILE is cut off or empty
  5    FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold step run.sse
  agfold step run.sse -c w -c state
  echo 's /order/status' | agfold step run.sse
`
}

func (f *stepFlags) check() string { return wrongMaxEvent(f.MaxEvent) }

// stepSession is one call of agfold step.
type stepSession struct {
	*stepFlags
	t    *terminal
	s    *stepper
	last string // the last search, repeated by an empty / or ?
}

func (f *stepFlags) run(ctx context.Context, t *terminal) int {
	var data []byte
	if f.File == "-" {
		var err error
		if data, err = readFile(ctx, f.File, t); err != nil {
			t.say("agfold: -: %v", err)
			return exitUnreadable
		}
	}
	open := func() (*recording.Recording, func(), error) {
		var in io.ReadCloser = io.NopCloser(bytes.NewReader(data))
		if f.File != "-" {
			var err error
			if in, _, err = openRecording(ctx, f.File, t); err != nil {
				return nil, nil, err
			}
		}
		rec, err := recording.Open(in, &recording.Options{MaxEventBytes: f.MaxEvent << 20})
		if err != nil {
			in.Close()
			return nil, nil, err
		}
		return rec, func() { in.Close() }, nil
	}
	s, err := newStepper(open)
	if err != nil {
		t.say("agfold: %s: %v", f.File, advised(err))
		return exitUnreadable
	}
	defer s.close()
	x := &stepSession{stepFlags: f, t: t, s: s}
	status := exitOK
	switch {
	case len(f.Do) > 0:
		for _, line := range f.Do {
			one, quit := x.command(ctx, line)
			if status = max(status, one); quit {
				break
			}
		}
	case f.File != "-" && t.stage.size != nil && t.stage.asks && !f.JSON:
		status = x.keys(ctx)
	case f.File == "-":
		status = x.listAll(ctx)
	default:
		status = x.commands(ctx)
	}
	if one := t.written(t.stdout.Flush()); one != exitOK {
		return one
	}
	seen := s.position()
	if len(s.window) > 0 {
		seen = s.window[len(s.window)-1].ordinal
	}
	if seen == 0 && !s.ended {
		return status // nobody asked
	}
	return max(status, sourceVerdict(ctx, t, f.File, seen, s.err))
}

// commands carries out the commands of standard input. If there are none, all events are listed.
func (x *stepSession) commands(ctx context.Context) int {
	lines := bufio.NewScanner(interruptible(ctx, x.t.stdin))
	status, any := exitOK, false
	for lines.Scan() {
		any = true
		one, quit := x.command(ctx, lines.Text())
		if status = max(status, one); quit {
			return status
		}
		x.t.stdout.Flush()
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		x.t.say("agfold step: %v", err)
		return exitUsage
	}
	if !any {
		return x.listAll(ctx)
	}
	return status
}

// listAll lists every event.
func (x *stepSession) listAll(ctx context.Context) int {
	for ctx.Err() == nil && x.s.forward() {
		var err error
		if x.JSON {
			err = x.t.stdout.JSON(stepJSON(x.s.current()))
		} else {
			err = x.t.stdout.Print(x.s.current().lineText(max(x.t.width, 80)))
		}
		if err != nil {
			break
		}
	}
	return exitOK
}

// command carries out one command, and reports whether it was the last one.
func (x *stepSession) command(ctx context.Context, line string) (status int, quit bool) {
	line = strings.TrimSpace(line)
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if rest == "" && len(line) > 1 && (line[0] == '/' || line[0] == '?') || line != "" && (line[0] == '/' || line[0] == '?') {
		name, rest = line[:1], line[1:]
	}
	found := true
	n := 1
	if v, err := strconv.Atoi(rest); err == nil {
		n = v
	}
	switch name {
	case "q", "quit", "exit":
		return exitOK, true
	case "help", "h":
		x.t.stdout.Print(term.Clean(stepCommands))
		return exitOK, false
	case "n", "next", "":
		found = x.s.to(x.s.position() + n)
	case "p", "prev", "b":
		found = x.s.to(max(0, x.s.position()-n))
	case "first":
		found = x.s.to(1)
	case "last":
		for ctx.Err() == nil && x.s.forward() {
		}
	case "w", "W":
		found = x.s.find(name == "W", func(st *oneStep) bool {
			return len(st.warnings) > 0 || st.after.Status() == reducer.Rejected && st.before.Status() != reducer.Rejected
		})
	case "r", "R":
		found = x.s.find(name == "R", func(st *oneStep) bool { return st.typ == "RUN_STARTED" })
	case "m", "M":
		found = x.s.find(name == "M", func(st *oneStep) bool { return st.changesMessage(rest) })
	case "s", "S":
		if rest != "" && rest[0] != '/' {
			rest = "/" + rest
		}
		found = x.s.find(name == "S", func(st *oneStep) bool { return st.changesState(rest) })
	case "/", "?":
		if rest != "" {
			x.last = rest
		}
		found = x.s.find(name == "?", func(st *oneStep) bool { return strings.Contains(st.text, x.last) })
	case "state":
		return x.state(rest), false
	case "thread":
		if th := x.thread(); x.JSON {
			x.t.stdout.JSON(th.AppendJSON(nil))
		} else {
			transcript.NewWriter(x.t.stdout, x.style(), false).Thread(th)
		}
		return exitOK, false
	case "list", "l":
		if rest == "" {
			n = 20
		}
		x.list(n)
		return exitOK, false
	case "event", "e":
		if st := x.s.current(); st != nil {
			x.t.stdout.Print(term.Clean(st.text), term.Lit("\n"))
		}
		return exitOK, false
	default:
		if v, err := strconv.Atoi(name); err == nil && v >= 0 {
			found = x.s.to(v)
			break
		}
		x.t.say("agfold step: unknown command %q; help lists them", name)
		return exitUsage, false
	}
	if !found {
		x.t.say("agfold step: not found: %s", line)
		status = exitFailed
	}
	if x.JSON {
		x.t.stdout.JSON(stepJSON(x.s.current()))
	} else {
		x.t.stdout.Print(x.show(x.s.current()))
	}
	return status, false
}

func (x *stepSession) style() transcript.Style {
	return transcript.Style{Width: x.t.width, Color: x.t.color}
}

// thread returns the thread after the step at hand.
func (x *stepSession) thread() *reducer.Thread {
	if st := x.s.current(); st != nil {
		return st.after
	}
	if len(x.s.window) > 0 {
		return x.s.window[0].before
	}
	return new(reducer.Thread)
}

// state prints the state at a JSON pointer.
func (x *stepSession) state(pointer string) int {
	v := x.thread().State
	if pointer != "" {
		if pointer[0] != '/' {
			pointer = "/" + pointer
		}
		var err error
		if v, err = v.Lookup(pointer); err != nil {
			x.t.say("agfold step: the state has nothing at %s", pointer)
			return exitFailed
		}
	}
	if !v.Exists() {
		v = state.Object()
	}
	if x.JSON {
		x.t.stdout.JSON(v.AppendJSON(nil))
	} else {
		transcript.WriteValue(x.t.stdout, v, max(x.t.width, 80))
	}
	return exitOK
}

// list lists the next n events without moving.
func (x *stepSession) list(n int) {
	from := x.s.position()
	for range n {
		if !x.s.forward() {
			break
		}
		if x.JSON {
			x.t.stdout.JSON(stepJSON(x.s.current()))
		} else {
			x.t.stdout.Print(x.s.current().lineText(max(x.t.width, 80)))
		}
	}
	x.s.to(from)
}
