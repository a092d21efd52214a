package browsertest

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/state"
)

// sayWeb types a message in the page of agfold web and sends it.
func sayWeb(t *testing.T, w *watched, text string) {
	t.Helper()
	until(t, w.ctx, `document.querySelector('.say .primary')?.disabled === false && document.querySelector('#status').textContent.startsWith('idle')`)
	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS("#say"), text), chromedp.Click(chromedp.CSS(".say .primary")))
}

// lastSaid is the text of the last message in the page.
const lastSaid = `(document.querySelector('.messages > li:last-child .body')?.textContent ?? '')`

func position(t *testing.T, w *watched, text string) {
	t.Helper()
	until(t, w.ctx, `document.querySelector('#scrub .count').textContent.startsWith('`+text+`')`)
}

// A run of the demo agent, its interrupt answered by a click, and then back in time with the keyboard.
func TestWebLiveDemo(t *testing.T) {
	w := openWeb(t, startWeb(t, "--pace", "0.1"))
	sayWeb(t, w, "Plan a weekend in Lisbon.")
	until(t, w.ctx, `document.querySelector('.msg[data-role="user"]')?.textContent.includes('Plan a weekend in Lisbon.')`)
	until(t, w.ctx, `document.querySelector('.question .yes') !== null`)
	shoot(t, w.ctx, "question")
	do(t, w.ctx, chromedp.Click(chromedp.CSS(".question .yes")))
	until(t, w.ctx, `document.querySelector('.question') === null && document.querySelector('#status').textContent === 'idle · succeeded'`)
	until(t, w.ctx, `document.querySelectorAll('.card[data-status="answered"]').length > 2`)

	do(t, w.ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent(kb.Home)) // Home
	position(t, w, "0 /")
	until(t, w.ctx, `document.querySelectorAll('.messages > li').length === 0`)
	do(t, w.ctx, chromedp.KeyEvent(kb.ArrowRight)) // ArrowRight
	position(t, w, "1 /")
	until(t, w.ctx, `document.querySelector('.msg[data-role="user"].changed') !== null && document.querySelector('.past:not([hidden])') !== null`)
	do(t, w.ctx, chromedp.KeyEvent("l"))
	until(t, w.ctx, `document.querySelector('.past').hidden && document.querySelector('#scrub .live').getAttribute('aria-pressed') === 'true'`)
}

// A run is stopped and retried; the page is loaded again in the middle of a run; a message is changed and run again.
func TestWebStopRetryReloadEdit(t *testing.T) {
	agent := newTeller(t)
	w := openWeb(t, startWeb(t, "--url", agent.url))
	sayWeb(t, w, "Hi")
	agent.tell(t, "Hel", "lo")
	until(t, w.ctx, lastSaid+` === 'Hello'`)
	do(t, w.ctx, chromedp.Reload())
	until(t, w.ctx, lastSaid+` === 'Hello'`)
	agent.tell(t, ", again")
	until(t, w.ctx, lastSaid+` === 'Hello, again'`)
	do(t, w.ctx, chromedp.WaitVisible(chromedp.CSS("#stop")), chromedp.Click(chromedp.CSS("#stop")))
	select {
	case <-agent.stopped:
	case <-time.After(patience):
		require.Fail(t, "the run was not stopped")
	}
	until(t, w.ctx, `document.querySelector('.messages > li:last-child').dataset.status === 'cut'`)
	do(t, w.ctx, chromedp.WaitVisible(chromedp.CSS("#retry")), chromedp.Click(chromedp.CSS("#retry")))
	agent.tell(t, "Better", "")
	until(t, w.ctx, lastSaid+` === 'Better' && document.querySelector('#status').textContent === 'idle · succeeded'`)

	do(t, w.ctx, chromedp.Click(chromedp.CSS(".msg .edit")), chromedp.WaitVisible(chromedp.CSS(".edit-form textarea")),
		chromedp.SendKeys(chromedp.CSS(".edit-form textarea"), " there"), chromedp.Click(chromedp.CSS(".edit-form button:not([type])")))
	agent.tell(t, "Changed", "")
	until(t, w.ctx, lastSaid+` === 'Changed' && document.querySelectorAll('.messages > li').length === 2`)
	until(t, w.ctx, `document.querySelector('.msg[data-role="user"] .body').textContent === 'Hi there'`)

	// Time travel shows the thread without what the change has dropped, and before it with that.
	do(t, w.ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent(kb.End)) // End
	do(t, w.ctx, chromedp.KeyEvent(kb.ArrowLeft))                                                              // ArrowLeft
	until(t, w.ctx, `document.querySelector('.past:not([hidden])') !== null && `+lastSaid+` === 'Changed' && document.querySelectorAll('.messages > li').length === 2`)
	do(t, w.ctx, chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	until(t, w.ctx, lastSaid+` === 'Hel'`)
}

// A question with a schema becomes a form, and calls of tools that nobody else answers wait for the user.
func TestWebFormsAndPendingCalls(t *testing.T) {
	schema, err := state.Parse([]byte(`{"type":"object","required":["seats","class"],"properties":{
		"seats":{"type":"integer","minimum":1,"maximum":9,"title":"Seats"},"class":{"enum":["second","first"]},"note":{"type":"string"},"window":{"type":"boolean"}}}`))
	require.NoError(t, err)
	answers := make(chan string, 4)
	agent := httptest.NewServer(serve.Agent(client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		started := &event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}
		finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
		last := in.Messages[len(in.Messages)-1]
		switch {
		case len(in.Resume) > 0:
			text, _ := json.Marshal(in.Resume[0])
			answers <- string(text)
			return emit(started, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "look_outside"}, &event.ToolCallArgs{ToolCallID: "c", Delta: `{"where":"window"}`},
				&event.ToolCallEnd{ToolCallID: "c"}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: []string{"c"}}})
		case last.ToolCallID == "c":
			answers <- last.Text()
			return emit(started, finished)
		}
		finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "input_required", ResponseSchema: schema}}}
		return emit(started, finished)
	}), nil))
	t.Cleanup(agent.Close)
	w := openWeb(t, startWeb(t, "--url", agent.URL))
	sayWeb(t, w, "Two seats")
	until(t, w.ctx, `document.querySelector('.question input[type=number]') !== null`)
	shoot(t, w.ctx, "form")
	do(t, w.ctx, chromedp.Click(chromedp.CSS(".question .primary")))
	until(t, w.ctx, `document.querySelector('.question .bad').textContent === 'Seats is missing'`)
	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS(".question input[type=number]"), "2"), chromedp.Click(chromedp.CSS(".question input[type=checkbox]")), chromedp.Click(chromedp.CSS(".question .primary")))
	assert.JSONEq(t, `{"interruptId":"i","status":"resolved","payload":{"seats":2,"class":"second","window":true}}`, received(t, answers))
	until(t, w.ctx, `document.querySelector('.card[data-status="pending"]')?.textContent.includes('look_outside')`)
	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS(".question textarea"), "rain"), chromedp.Click(chromedp.CSS(".question .primary")))
	assert.Equal(t, "rain", received(t, answers))
	until(t, w.ctx, `document.querySelector('.question') === null && document.querySelector('.card .result').textContent.includes('rain')`)
}

func received(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case text := <-from:
		return text
	case <-time.After(patience):
		require.Fail(t, "nothing was answered")
		return ""
	}
}
