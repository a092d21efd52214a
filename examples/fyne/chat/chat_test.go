package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// window is a window in memory. The test's goroutine is its thread.
type window struct {
	fyne.Window
	t    *testing.T
	chat *Chat
	do   chan func()
}

func open(t *testing.T) *window {
	t.Helper()
	test.NewTempApp(t)
	s := client.NewSession(emit.Agent(assistant.Run, nil), &client.SessionOptions{WhenBusy: client.Queue})
	w := &window{t: t, chat: New(s), do: make(chan func())}
	w.Window = test.NewWindow(w.chat.Content)
	w.Resize(fyne.NewSize(900, 600))
	ctx, cancel := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		w.chat.Follow(ctx, func(f func()) {
			select {
			case w.do <- f:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-followed // its goroutine ends with its context
		_ = s.Stop(context.Background())
		w.Close()
	})
	return w
}

// until shows snapshots until the condition holds.
func (w *window) until(holds func() bool) {
	w.t.Helper()
	for deadline := time.After(time.Minute); !holds(); {
		select {
		case f := <-w.do:
			f()
		case <-deadline:
			require.Fail(w.t, "it does not come", "%s", w.text())
		}
	}
}

func (w *window) shows(want ...string) {
	w.t.Helper()
	w.until(func() bool {
		text := w.text()
		for _, s := range want {
			if !strings.Contains(text, s) {
				return false
			}
		}
		return true
	})
}

// widgets returns the widgets that the window shows, of one type.
func widgets[T fyne.CanvasObject](w *window) (found []T) {
	for _, o := range test.LaidOutObjects(w.Canvas().Content()) {
		if o, ok := o.(T); ok && o.Visible() {
			found = append(found, o)
		}
	}
	return found
}

// text returns the texts of all that the window shows, a line for each.
func (w *window) text() string {
	var b strings.Builder
	for _, label := range widgets[*widget.Label](w) {
		b.WriteString(label.Text + "\n")
	}
	for _, card := range widgets[*widget.Card](w) {
		b.WriteString(card.Subtitle + "\n")
	}
	for _, check := range widgets[*widget.Check](w) {
		b.WriteString(check.Text + "\n")
	}
	return b.String()
}

func (w *window) say(text string) {
	test.Type(w.chat.Entry, text)
	w.chat.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

func (w *window) tap(button string) {
	w.t.Helper()
	for _, b := range widgets[*widget.Button](w) {
		if b.Text == button {
			test.Tap(b)
			return
		}
	}
	require.Fail(w.t, "there is no button", "%s", button)
}

func TestToolCardsStateAndQuestions(t *testing.T) {
	w := open(t)
	w.say("book")
	assert.Empty(t, w.chat.Entry.Text)
	w.shows("user: book", "find_hotel (answered)", `{"city":"Lisbon","nights":2}`, "tool: Hotel Central, 95 €", "Book Hotel Central for 95 €?", "waiting")
	w.shows(`city: "Lisbon"`, "nights: 2", "hotels", "booked: false")
	assert.NotContains(t, w.text(), "euros")
	w.chat.state.OpenBranch("/hotels")
	w.chat.state.OpenBranch("/hotels/0")
	w.shows("euros: 95")

	w.say("never mind") // the question must be answered first
	assert.Contains(t, w.chat.status.Text, "interrupt")
	checks := widgets[*widget.Check](w)
	require.Len(t, checks, 1)
	test.Tap(checks[0])
	w.tap("Answer")
	w.shows(`assistant: Your answer was resolved: {"approved":true}`, "booked: true", "euros: 95", "idle")
	assert.Empty(t, widgets[*widget.Check](w))
}

// The row of a message that did not change stays the same.
func TestOnlyChangedRowsAreMade(t *testing.T) {
	w := open(t)
	w.say("hello")
	w.shows("assistant: Hello! You said: hello", "idle")
	assert.False(t, w.chat.stop.Visible())
	before := w.chat.rows.Objects
	require.Len(t, before, 2)
	w.say("count")
	w.shows("assistant: 1 2 3")
	third := w.chat.rows.Objects[3]
	w.shows("10 ")
	assert.NotSame(t, third, w.chat.rows.Objects[3])
	w.say("typed ahead")
	w.until(func() bool { return len(w.chat.now.Queued) == 1 })
	w.tap("Stop")
	w.shows("idle: the run was stopped")
	assert.Same(t, before[0], w.chat.rows.Objects[0])
	assert.Same(t, before[1], w.chat.rows.Objects[1])
}

// What the agent says stays in sight.
func TestItScrolls(t *testing.T) {
	w := open(t)
	for i := range 20 {
		w.say("hello")
		w.until(func() bool { return len(w.chat.rows.Objects) == 2*(i+1) && !w.chat.now.Phase.Busy() })
	}
	end := func() float32 { return w.chat.rows.Size().Height - w.chat.scroll.Size().Height }
	require.Positive(t, end())
	assert.InDelta(t, end(), w.chat.scroll.Offset.Y, 1)
	w.say("book")
	w.shows("Book Hotel")
	assert.InDelta(t, end(), w.chat.scroll.Offset.Y, 1, "the form takes some of the room")
	w.tap("Answer")
	w.shows("Your answer was cancelled", "idle")
	w.Resize(fyne.NewSize(500, 300))
	w.say("count")
	w.shows(" 60 ")
	assert.InDelta(t, end(), w.chat.scroll.Offset.Y, 1, "a text that grows stays in sight")
	w.tap("Stop")
	w.shows("stopped")
}
