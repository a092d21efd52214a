package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of examples/htmx does the same with its own script and with htmx. AGFOLD_HTMX is a folder in which
// npm install htmx.org@2 htmx-ext-sse@2 was run.
func TestHTMX(t *testing.T) {
	t.Run("swap.js", func(t *testing.T) { testHTMX(t, newProcess(t, "htmx")) })
	t.Run("htmx", func(t *testing.T) {
		dir := os.Getenv("AGFOLD_HTMX")
		if dir == "" {
			t.Skip("AGFOLD_HTMX is not set")
		}
		testHTMX(t, newProcess(t, "htmx", "-htmx", filepath.Join(dir, "node_modules")))
	})
}

func testHTMX(t *testing.T, site *site) {
	page := browser(t)
	say := func(text string) {
		t.Helper()
		do(t, page, chromedp.SendKeys(chromedp.CSS("#text"), text), chromedp.Click(chromedp.CSS("#say button")))
	}
	const lastText = `document.querySelector('#messages > li:last-child > div')?.textContent`
	do(t, page, chromedp.Navigate("http://"+site.addr+"/"))
	until(t, page, `document.getElementById('status').textContent === 'idle'`)
	const evil = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>`
	say(evil)
	until(t, page, lastText+" === 'Hello! You said: "+evil+"'")
	until(t, page, `document.getElementById('text').value === '' && document.activeElement.tagName !== 'BODY'`)

	// A row that does not change stays the element that it is, with what its user selected in it.
	do(t, page, chromedp.Evaluate[chromedp.Void](`(() => { for (const row of document.querySelectorAll('#messages > li')) row.mine = true })()`))
	say("count")
	until(t, page, lastText+`?.startsWith('1 2 3 ') && document.querySelector('#messages > li:last-child > .streaming') !== null`)
	do(t, page, chromedp.SendKeys(chromedp.CSS("#text"), "typed meanwhile"))
	until(t, page, lastText+`.includes(' 20 ')`)
	until(t, page, `document.getElementById('text').value === 'typed meanwhile'`)
	do(t, page, chromedp.Click(chromedp.CSS("#say button")))
	until(t, page, `document.querySelector('#status p')?.textContent === 'typed meanwhile'`)
	do(t, page, chromedp.Click(chromedp.CSS("#stop button")), chromedp.WaitVisible(chromedp.CSS("#retry button")))
	until(t, page, `document.querySelector('#messages > li:last-child > .cut') !== null`)
	kept, err := chromedp.Run(page, chromedp.Evaluate[int](`[...document.querySelectorAll('#messages > li')].filter(row => row.mine).length`))
	require.NoError(t, err)
	assert.Equal(t, 2, kept)
	do(t, page, chromedp.Click(chromedp.CSS("#retry button")))
	until(t, page, lastText+` === 'Hello! You said: typed meanwhile'`)

	say("book")
	until(t, page, `document.querySelector('.call')?.textContent.includes('Lisbon') && document.querySelector('#interrupts label')?.textContent.includes('95 €')`)
	say("never mind") // is refused, and stays in its field
	until(t, page, `document.getElementById('error').textContent !== '' && document.getElementById('text').value === 'never mind'`)
	do(t, page, chromedp.Click(chromedp.CSS("#interrupts input")), chromedp.Click(chromedp.CSS("#interrupts button")))
	until(t, page, lastText+` === 'Your answer was resolved: {"approved":true}' && document.querySelector('#interrupts').childElementCount === 0`)
	until(t, page, `document.getElementById('error').textContent === ''`)

	broken, err := chromedp.Run(page, chromedp.Evaluate[bool](`'broken' in window || document.querySelector('#messages img, #messages script') !== null`))
	require.NoError(t, err)
	assert.False(t, broken)

	site.kill()
	site.start(t) // a new process, with an empty conversation
	until(t, page, `document.querySelectorAll('#messages > li').length === 0`)
	do(t, page, chromedp.Evaluate[chromedp.Void](`document.getElementById('text').value = ''`))
	say("again")
	until(t, page, lastText+` === 'Hello! You said: again'`)
}
