// Command bubbletea is a chat in the whole terminal, with Bubble Tea: a message is laid out again only if it changed.
//
//	go run -C examples/bubbletea . [AGENT-URL]
//
// Without a URL it talks to an agent in its own process: ask it to book something, or to count. Enter sends, also while the agent
// speaks, or tries again what went wrong; y and n answer what the agent asks; Escape stops it; Page Up and Page Down scroll; Ctrl-C leaves.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/messages"
)

func main() {
	var agent client.Agent = emit.Agent(assistant.Run, nil)
	if len(os.Args) > 1 {
		agent = client.NewHTTP(os.Args[1], nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := newModel(ctx, agent)
	_, err := tea.NewProgram(m).Run()
	cancel() // ends the subscription
	if err = errors.Join(err, m.Stop(context.Background())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// model is what the screen shows.
type model struct {
	*client.Session
	snapshots     <-chan client.Snapshot
	now           client.Snapshot
	rows          [][]string      // the lines of each message, as wide as the screen, nil until it is drawn
	answers       map[string]bool // to interrupts
	input         textinput.Model
	width, height int
	up            int // how many lines are below the screen
	err           error
}

func newModel(ctx context.Context, agent client.Agent) *model {
	s := client.NewSession(agent, &client.SessionOptions{WhenBusy: client.Queue, Unanswered: client.DeclineUnanswered,
		OnWarning: func(event.Warning) {}}) // a log would tear the screen
	m := &model{Session: s, snapshots: s.SubscribeThrottled(ctx, 30*time.Millisecond), input: textinput.New(), width: 80, height: 24}
	m.input.SetVirtualCursor(false)
	m.input.Focus()
	m.show(s.Snapshot())
	return m
}

func (m *model) Init() tea.Cmd { return m.next }

// next waits for a snapshot. If several come while the screen is busy, it gets the newest.
func (m *model) next() tea.Msg {
	if now, ok := <-m.snapshots; ok {
		return now
	}
	return nil
}

func (m *model) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case client.Snapshot:
		m.show(msg)
		return m, m.next
	case error:
		m.err = msg
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 10), msg.Height
		m.input.SetWidth(m.width - 4)
		clear(m.rows)
	case tea.KeyPressMsg:
		switch key, asked, said := msg.String(), m.asked(), m.input.Value(); {
		case key == "ctrl+c":
			return m, tea.Quit
		case key == "esc":
			return m, func() tea.Msg { return m.Stop(context.Background()) }
		case key == "pgup", key == "pgdown":
			m.up += map[string]int{"pgup": 1, "pgdown": -1}[key] * m.height / 2
		case asked != nil && (key == "y" || key == "n"):
			if m.answers[asked.ID] = key == "y"; m.asked() == nil { // the next run must answer all of them
				return m, m.start(&client.RunOptions{Resume: client.AnswerAll(m.now.Interrupts, m.answer)})
			}
		case key == "enter" && said != "":
			m.input.Reset()
			return m, m.start(&client.RunOptions{Messages: []*messages.Message{messages.UserText(said)}})
		case key == "enter" && m.now.Err() != nil:
			return m, m.start(nil)
		}
	}
	if m.asked() == nil {
		m.input, cmd = m.input.Update(msg)
	}
	return m, cmd
}

// start returns the command that begins a turn. What comes of it is in the snapshots.
func (m *model) start(o *client.RunOptions) tea.Cmd {
	m.up, m.err = 0, nil
	return func() tea.Msg {
		_, err := m.Start(context.Background(), o)
		return err
	}
}

// asked returns the next interrupt to answer, nil if there is none.
func (m *model) asked() *event.Interrupt {
	for _, in := range m.now.Interrupts {
		if _, answered := m.answers[in.ID]; !answered && m.now.Phase == client.PhaseWaiting {
			return &in
		}
	}
	return nil
}

func (m *model) answer(in event.Interrupt) client.Answer {
	if m.answers[in.ID] {
		return client.Resolve(in.ID, map[string]bool{"approved": true}) // in.ResponseSchema says what fits
	}
	return client.Decline(in.ID)
}

// show forgets the lines of the messages that changed. View lays them out again when it comes to them.
func (m *model) show(now client.Snapshot) {
	changes := now.ChangesSince(m.now.Thread)
	at := changes.Rows.At
	m.rows = slices.Replace(m.rows, at, at+changes.Rows.Removed, make([][]string, changes.Rows.Inserted)...)
	for _, i := range changes.Messages {
		m.rows[i] = nil
	}
	if changes.Interrupts || now.Phase.Busy() {
		m.answers = map[string]bool{}
	}
	m.now = now
}

// layOut returns the lines of a message.
func (m *model) layOut(msg *messages.Message) []string {
	text := lipgloss.NewStyle().Bold(true).Render(string(msg.Role)) + " " + clean(msg.Text()+msg.Error.Or(""))
	for _, call := range msg.ToolCalls.All() {
		text += fmt.Sprintf("\n  %s %s (%s)", clean(call.Name), clean(call.PartialArgs().String()), call.Status)
	}
	return strings.Split(lipgloss.Wrap(text, m.width, ""), "\n")
}

// clean replaces the characters that could control a terminal or turn the direction of text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// View draws the newest lines that fit. Bubble Tea sends the terminal what differs from the last drawing.
func (m *model) View() tea.View {
	status := m.now.Phase.String()
	if asked := m.asked(); asked != nil {
		status = asked.Message.Or(asked.Reason) + " (y/n)"
	}
	if n := len(m.now.Queued); n > 0 {
		status += fmt.Sprintf(", %d typed ahead", n)
	}
	if err := errors.Join(m.err, m.now.Err()); err != nil {
		status += ": " + err.Error()
	}
	status = lipgloss.NewStyle().Reverse(true).MaxWidth(m.width).Render(strings.ReplaceAll(clean(status), "\n", " "))
	room := max(m.height-2, 0)
	first, have := len(m.rows), 0
	for ; first > 0 && have < room+m.up; have += len(m.rows[first]) {
		if first--; m.rows[first] == nil {
			m.rows[first] = m.layOut(m.now.Messages.At(first))
		}
	}
	m.up = max(min(m.up, have-room), 0)
	lines := slices.Concat(m.rows[first:]...)[max(have-room-m.up, 0) : have-m.up]
	view := tea.NewView(strings.Join(append(lines, status, m.input.View()), "\n"))
	view.AltScreen, view.Cursor = true, m.input.Cursor()
	view.Cursor.Y = len(lines) + 1
	return view
}
