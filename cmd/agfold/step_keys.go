package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	xterm "golang.org/x/term"

	"github.com/agfold/agfold/cmd/agfold/internal/live"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// keys walks by keys on a terminal, over a picture of the step at hand and of the end of the thread.
func (x *stepSession) keys(ctx context.Context) int {
	fd := int(os.Stdin.Fd())
	old, err := xterm.MakeRaw(fd)
	if err != nil {
		return x.commands(ctx)
	}
	defer xterm.Restore(fd, old)
	return x.walk(ctx, x.t.stage.size)
}

// walk reads keys from standard input until q, Ctrl-C or its end.
func (x *stepSession) walk(ctx context.Context, size func() (int, int)) int {
	screen := live.NewScreen(x.t.stdout)
	width, _ := size()
	defer func() { screen.Clear(width) }()
	in := interruptible(ctx, x.t.stdin)
	note, typed, typing := term.Text{}, "", false
	buf := make([]byte, 64)
	x.s.forward()
	for {
		var height int
		width, height = size()
		prompt := term.Lit("→ next  ← back  w warning  r run  /text  :command  q quit")
		if typing {
			prompt = term.Line(typed)
		}
		if err := screen.Draw(x.picture(width, height, note, prompt), width); err != nil {
			return exitOK
		}
		n, err := in.Read(buf)
		if err != nil {
			if ctx.Err() != nil {
				return exitInterrupted
			}
			return exitOK
		}
		for _, key := range splitKeys(buf[:n]) {
			switch {
			case key == "\x03" || !typing && key == "q":
				return exitOK
			case typing && (key == "\r" || key == "\n"):
				typing = false
				var quit bool
				if note, quit = x.quietly(ctx, strings.TrimPrefix(typed, ":")); quit {
					return exitOK
				}
			case typing && key == "\x1b":
				typing = false
			case typing && (key == "\x7f" || key == "\b"):
				if r := []rune(typed); len(r) > 1 {
					typed = string(r[:len(r)-1])
				}
			case typing && !strings.HasPrefix(key, "\x1b"):
				typed += key
			case key == ":" || key == "/" || key == "?":
				typing, typed = true, key
			default:
				if command, ok := keyCommands[key]; ok {
					note, _ = x.quietly(ctx, command)
				}
			}
		}
	}
}

// keyCommands are the commands that keys stand for.
var keyCommands = map[string]string{
	"\x1b[C": "n", "\x1b[B": "n", " ": "n", "n": "n", "j": "n", "\r": "n", "\x1b[D": "p", "\x1b[A": "p", "p": "p", "k": "p",
	"\x1b[6~": "n 20", "\x1b[5~": "p 20", "g": "first", "\x1b[H": "first", "G": "last", "\x1b[F": "last",
	"w": "w", "W": "W", "r": "r", "R": "R", "N": "/", "e": "event", "s": "state", "t": "thread", "h": "help",
}

// splitKeys splits what was read from a terminal into keys: escape sequences stay whole.
func splitKeys(data []byte) []string {
	var keys []string
	for len(data) > 0 {
		n := 1
		if rest, ok := bytes.CutPrefix(data, []byte("\x1b[")); ok {
			n = 2
			for n-2 < len(rest) && (rest[n-2] < '@' || rest[n-2] > '~') {
				n++
			}
			n = min(n+1, len(data))
		} else if data[0] >= 0xC0 {
			for n < len(data) && data[n]&0xC0 == 0x80 {
				n++
			}
		}
		keys = append(keys, string(data[:n]))
		data = data[n:]
	}
	return keys
}

// quietly carries out a command and returns what it prints besides the step.
func (x *stepSession) quietly(ctx context.Context, line string) (term.Text, bool) {
	var out, errs strings.Builder
	t := *x.t
	t.color = false // what is printed is cleaned again
	t.stdout, t.stderr = term.NewWriter(&out), term.NewWriter(&errs)
	inner := *x
	inner.t = &t
	before := x.s.position()
	_, quit := inner.command(ctx, line)
	x.last = inner.last
	t.stdout.Flush()
	t.stderr.Flush()
	if errs.Len() > 0 {
		return term.Clean(errs.String()), quit
	}
	if x.s.position() != before || before == 0 {
		return term.Text{}, quit
	}
	return term.Clean(out.String()), quit
}

// picture draws the step at hand, then a note or the end of the thread, and the prompt, in fewer lines than the terminal
// is high.
func (x *stepSession) picture(width, height int, note, prompt term.Text) []term.Text {
	x.t.width = width
	lines := x.show(x.s.current()).Lines()
	room := max(0, height-3-len(lines))
	below := slices.Collect(note.Wrap(width))
	if note == (term.Text{}) {
		th := x.thread()
		view := transcript.Style{Width: width, Color: x.t.color}.View(th)
		for i := th.Messages.Len() - 1; i >= 0 && len(below) < room; i-- {
			below = append(view.Message(th.Messages.At(i)).Lines(), below...)
		}
		if len(below) > room {
			below = below[len(below)-room:]
		}
	}
	if len(below) > room {
		below = below[:room]
	}
	lines = append(append(lines, term.Text{}), below...)
	if len(lines) > max(1, height-2) {
		lines = lines[:max(1, height-2)]
	}
	lines = append(lines, prompt)
	for i := range lines {
		lines[i] = lines[i].Clip(width - 1)
	}
	return lines
}
