//go:build !windows

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/messages"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal is a terminal in which the program runs.
type terminal struct {
	t       *testing.T
	tty     *os.File
	process *exec.Cmd

	mu     sync.Mutex
	screen *vt.Emulator
}

func start(t *testing.T) *terminal {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bubbletea")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Stderr = os.Stderr
	require.NoError(t, build.Run())
	r := &terminal{t: t, screen: vt.NewEmulator(60, 12), process: exec.Command(program)}
	r.process.Env = append(os.Environ(), "TERM=xterm-256color")
	var err error
	r.tty, err = pty.StartWithSize(r.process, &pty.Winsize{Cols: 60, Rows: 12})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.process.Process.Kill(); _ = r.tty.Close() })
	go io.Copy(r, r.tty)        // what the program draws
	go io.Copy(r.tty, r.screen) // what the terminal answers when it is asked what it can do
	return r
}

// Write draws.
func (r *terminal) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.screen.Write(b)
}

func (r *terminal) resize(width, height int) {
	r.t.Helper()
	r.mu.Lock()
	r.screen.Resize(width, height)
	r.mu.Unlock()
	require.NoError(r.t, pty.Setsize(r.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}))
}

func (r *terminal) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	for y := range r.screen.Height() {
		var line strings.Builder
		for x := range r.screen.Width() {
			if cell := r.screen.CellAt(x, y); cell != nil {
				line.WriteString(cell.Content)
			}
		}
		text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return text.String()
}

func (r *terminal) until(want ...string) {
	r.t.Helper()
	shows := func() bool {
		text := r.text()
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(time.Minute); !shows(); time.Sleep(5 * time.Millisecond) {
		require.True(r.t, time.Now().Before(deadline), "want %q, the screen:\n%s", want, r.text())
	}
}

func (r *terminal) keys(keys string) {
	r.t.Helper()
	_, err := r.tty.WriteString(keys)
	require.NoError(r.t, err)
}

func TestInATerminal(t *testing.T) {
	r := start(t)
	r.until("idle")
	r.keys("hello there\r")
	r.until("user hello there", "assistant Hello! You said: hello there", "idle")

	r.keys("book\r")
	r.until("find_hotel", "Lisbon", "Book Hotel Central for 95 €? (y/n)")
	r.keys("xy") // x is no answer
	r.until(`Your answer was resolved: {"approved":true}`, "idle")
	r.keys("book\r")
	r.until("(y/n)")
	r.keys("n")
	r.until("Your answer was cancelled", "idle")

	r.keys("count\r")
	r.until("streaming", "1 2 3")
	r.keys("typed ahead\r")
	r.until("1 typed ahead")
	r.keys("\x1b")
	r.until("the run was stopped")
	r.keys("\x1b[5~\x1b[5~\x1b[5~") // page up
	r.until("user hello there")
	r.resize(45, 10)
	r.keys(strings.Repeat("\x1b[6~", 10))                                    // page down
	r.until("user count\n", "idle, 1 typed ahead: the run was stopped\n>\n") // and these are the last lines

	r.keys("\x03")
	done := make(chan error, 1)
	go func() { done <- r.process.Wait() }()
	select {
	case err := <-done:
		assert.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "Ctrl-C does not end it")
	}
}

// A message that did not change keeps its lines, and one that is not on the screen has none.
func TestOnlyWhatChangedIsLaidOut(t *testing.T) {
	m := newModel(t.Context(), emit.Agent(assistant.Run, nil))
	m.height = 6
	for range 20 {
		require.NoError(t, m.AddMessages(messages.UserText("a line of text")))
	}
	m.show(m.Snapshot())
	m.View()
	laidOut := func() (n int) {
		for _, row := range m.rows {
			if row != nil {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 4, laidOut())
	before := m.rows[18]
	require.NoError(t, m.AddMessages(messages.UserText("a new one")))
	m.show(m.Snapshot())
	assert.Equal(t, 4, laidOut())
	m.View()
	assert.Equal(t, 5, laidOut())
	assert.Same(t, &before[0], &m.rows[18][0])

	m.Update(tea.WindowSizeMsg{Width: 10, Height: 6})
	assert.Zero(t, laidOut())
	assert.Contains(t, m.View().Content, "a new")
	assert.Equal(t, 2, laidOut())
	m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
	m.View()
	assert.Greater(t, laidOut(), 2)
}

// Nothing that an agent says controls the terminal.
func TestWhatAnAgentSaysIsCleaned(t *testing.T) {
	const evil = "a\x1b]0;title\x07b\x1b[2Jc\u009b1md\re\u202ef"
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		end := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeInterrupt,
			Interrupts: []event.Interrupt{{ID: evil, Reason: evil + "\n\n\n"}}}}
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
			&event.TextMessageStart{MessageID: evil}, &event.TextMessageContent{MessageID: evil, Delta: evil}, &event.TextMessageEnd{MessageID: evil},
			&event.ToolCallStart{ToolCallID: evil, ToolCallName: evil}, &event.ToolCallArgs{ToolCallID: evil, Delta: `{"\u001b[2J":"\u202e"}`},
			&event.ToolCallEnd{ToolCallID: evil}, end)
	})
	m := newModel(t.Context(), agent)
	_, err := m.Send(t.Context(), messages.UserText(evil))
	require.NoError(t, err)
	m.show(agenttest.WaitFor(t, m, func(now client.Snapshot) bool { return now.Phase == client.PhaseWaiting }))
	view := m.View().Content
	for _, never := range []string{"\x1b]", "\x1b[2J", "\a", "\r", "\u009b", "\u202e"} {
		assert.NotContains(t, view, never)
	}
	assert.Equal(t, 4, strings.Count(view, "b\ufffd[2Jc"), "the user's, the agent's, the call, the question:\n%s", view)
	assert.Len(t, strings.Split(view, "\n"), 5, "the question is in one line")
}
