package browsertest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStreamReloadTwoTabsAndStop(t *testing.T) {
	one, agent := browser(t), newTeller(t)
	site := newSite(t, agent.url)
	site.logIn(t, one)
	say(t, one, "Hi")
	agent.tell(t, "Hel")
	untilLast(t, one, "Hel")
	until(t, one, `document.querySelector('#messages > li:last-child').classList.contains('streaming')`)
	agent.tell(t, "lo")
	untilLast(t, one, "Hello")

	do(t, one, chromedp.Reload())
	untilLast(t, one, "Hello")
	agent.tell(t, ", again")
	untilLast(t, one, "Hello, again")

	two := tab(t, one)
	do(t, two, chromedp.Navigate("http://"+site.addr+"/"))
	untilLast(t, two, "Hello, again")
	agent.tell(t, " both")
	untilLast(t, one, "Hello, again both")
	untilLast(t, two, "Hello, again both")
	do(t, two, chromedp.WaitVisible(chromedp.CSS("#stop")), chromedp.Click(chromedp.CSS("#stop")))
	select {
	case <-agent.stopped:
	case <-time.After(patience):
		require.Fail(t, "the run was not stopped")
	}
	do(t, one, chromedp.WaitNotVisible(chromedp.CSS("#stop")))
	untilLast(t, one, "Hello, again both")

	do(t, two, chromedp.Navigate("http://"+site.addr+"/#2")) // another thread of the same user
	until(t, two, `document.querySelectorAll('#messages > li').length === 0 && document.querySelector('nav a[aria-current]').textContent === 'Thread 2'`)
	say(t, two, "Elsewhere")
	agent.tell(t, "there", "")
	untilLast(t, two, "there")
	untilLast(t, one, "Hello, again both")
}

func TestServerRestartsInMidRun(t *testing.T) {
	page, agent := browser(t), newTeller(t)
	site := newSite(t, agent.url)
	site.logIn(t, page)
	say(t, page, "Hi")
	agent.tell(t, "before")
	untilLast(t, page, "before")
	site.kill()
	until(t, page, `document.getElementById('status').textContent === 'connecting…'`)
	untilLast(t, page, "before")
	site.start(t)
	until(t, page, `document.getElementById('status').textContent !== 'connecting…'`)
	untilLast(t, page, "before")
	do(t, page, chromedp.WaitVisible(chromedp.CSS("#retry")), chromedp.Click(chromedp.CSS("#retry")))
	agent.tell(t, "after", "")
	until(t, page, `document.getElementById('messages').textContent.includes('after')`)
	do(t, page, chromedp.WaitNotVisible(chromedp.CSS("#stop")))
}

// conditions are those of a network: the least time until an answer in milliseconds, and bytes a second.
type conditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`
	Download float64 `json:"downloadThroughput"`
	Upload   float64 `json:"uploadThroughput"`
}

func TestSlowNetwork(t *testing.T) {
	page, agent := browser(t), newTeller(t)
	site := newSite(t, agent.url)
	site.logIn(t, page)
	do(t, page, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		emulate := cdp.Command[conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"} // the name that Chromium knows longest
		_, err := cdp.Call(ctx, target, emulate, conditions{Latency: 300, Download: 8 << 10, Upload: 8 << 10})
		return err
	}))
	say(t, page, "Hi")
	var want strings.Builder
	for i := range 300 {
		word := fmt.Sprint(i, " ")
		want.WriteString(word)
		agent.tell(t, word)
	}
	agent.tell(t, "")
	untilLast(t, page, want.String())
	do(t, page, chromedp.WaitNotVisible(chromedp.CSS("#stop")))
}

// What an agent says is text, and nothing else, for the page.
func TestWhatAnAgentSaysIsText(t *testing.T) {
	page, agent := browser(t), newTeller(t)
	site := newSite(t, agent.url)
	site.logIn(t, page)
	say(t, page, "Hi")
	const said = `<img src=x onerror="window.broken=1"><script>window.broken=1</script> </li><a href="javascript:window.broken=1">x</a>`
	agent.tell(t, said, "")
	untilLast(t, page, said)
	found, err := chromedp.Run(page, chromedp.Evaluate[bool](`'broken' in window || document.querySelector('#messages img, #messages script, #messages a') !== null`))
	require.NoError(t, err)
	assert.False(t, found)
	ran, err := chromedp.Run(page, chromedp.Evaluate[bool](`(() => { const s = document.createElement('script'); s.textContent = 'window.inline = 1'; document.body.append(s); return 'inline' in window })()`))
	require.NoError(t, err)
	assert.False(t, ran, "the page's policy forbids scripts in it")
}

func TestToolCardsAndForms(t *testing.T) {
	page := browser(t)
	site := newSite(t, "")
	site.logIn(t, page)
	say(t, page, "Please book")
	until(t, page, `document.querySelector('.tool')?.textContent.includes('find_hotel answered') && document.querySelector('.tool pre').textContent.includes('Lisbon')`)
	until(t, page, `document.querySelector('.tool .result').textContent === 'Hotel Central, 95 €'`)
	until(t, page, `document.querySelector('.interrupt legend')?.textContent === 'Book Hotel Central for 95 €?'`)
	do(t, page, chromedp.Click(chromedp.CSS("#interrupts input[type=checkbox]")), chromedp.SendKeys(chromedp.CSS("#interrupts input[type=text]"), "quiet"),
		chromedp.Click(chromedp.CSS("#interrupts button:not([type])")))
	untilLast(t, page, `Your answer was resolved: {"approved":true,"note":"quiet"}`)
	until(t, page, `document.querySelector('.interrupt') === null`)

	say(t, page, "book again")
	until(t, page, `document.querySelector('.interrupt') !== null`)
	do(t, page, chromedp.Click(chromedp.CSS("#interrupts button[type=button]")))
	untilLast(t, page, "Your answer was cancelled: ")

	say(t, page, "count")
	until(t, page, last+`.startsWith('1 2 3 ')`)
	do(t, page, chromedp.Click(chromedp.CSS("#stop")), chromedp.WaitNotVisible(chromedp.CSS("#stop")))
}
