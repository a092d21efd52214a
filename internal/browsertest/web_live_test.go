package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A run of the demo agent, its interrupt answered by a click, and then back in time.
func TestWebLiveDemo(t *testing.T) {
	w := openWeb(t, startWeb(t, "--pace", "0.1"))
	until(t, w.ctx, `document.querySelector('#status').textContent.includes('idle')`)
	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS("#say"), "Plan a weekend in Lisbon.\r"))
	until(t, w.ctx, `document.querySelector('.msg[data-role="user"]')?.textContent.includes('Plan a weekend in Lisbon.')`)
	until(t, w.ctx, `document.querySelector('.question .primary') !== null`)
	do(t, w.ctx, chromedp.Click(chromedp.CSS(".question .primary")))
	until(t, w.ctx, `document.querySelector('.question') === null && document.querySelector('#status').textContent === 'idle · succeeded'`)
}
