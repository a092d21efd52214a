package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

func TestWebTroubleLeadsToTheEvent(t *testing.T) {
	w := openWeb(t, startWeb(t, recordingOf(t, "rejected.ndjson", `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"NOVELTY","x":1}
{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}
{"type":"TEXT_MESSAGE_END","messageId":"a"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"late"}
`)))
	do(t, w.ctx, chromedp.Click(chromedp.CSS("#tab-trouble")))
	until(t, w.ctx, `document.querySelectorAll('.tr-item').length >= 3`)
	rejected := ask[string](t, w, `document.querySelector('.tr-item.tr-rejected').textContent`)
	assert.Contains(t, rejected, "P-VER-2")
	assert.Contains(t, rejected, "START of an open id", "the text of the rule")
	assert.Contains(t, rejected, "event 5")
	warning := ask[string](t, w, `document.querySelector('.tr-item.tr-warning').textContent`)
	assert.Contains(t, warning, "P-ENF-1")
	assert.Contains(t, warning, "NOVELTY")
	assert.Contains(t, ask[string](t, w, `document.querySelector('.tr-list').textContent`), "Why it hurts", "what the linter found")

	do(t, w.ctx, chromedp.Click(chromedp.CSS(".tr-item.tr-warning .tr-go")))
	until(t, w.ctx, `new URLSearchParams(location.hash.slice(1)).get('n') === '2'`)
	until(t, w.ctx, `document.querySelector('.tr-item.tr-warning').classList.contains('tr-here') && !document.querySelector('.tr-item.tr-rejected').classList.contains('tr-here')`)

	ask[bool](t, w, `document.dispatchEvent(new KeyboardEvent('keydown', {key: ']', bubbles: true, cancelable: true})) || true`)
	until(t, w.ctx, `document.querySelector('.tr-item.tr-rejected').classList.contains('tr-here')`)

	do(t, w.ctx, chromedp.Click(chromedp.CSS(".tr-filters [data-kind=warning]")))
	until(t, w.ctx, `document.querySelector('.tr-item.tr-warning') === null && document.querySelector('.tr-item.tr-rejected') !== null`)
	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS(".tr-tools input"), "p-ver"))
	until(t, w.ctx, `document.querySelector('.tr .dim[role=status]').textContent.startsWith('2 of ')`)
}

func TestWebTroubleOfAGoodRecording(t *testing.T) {
	w := openWeb(t, startWeb(t, recordingOf(t, "good.ndjson", `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"totalTokens":1}]}
`)))
	do(t, w.ctx, chromedp.Click(chromedp.CSS("#tab-trouble")))
	until(t, w.ctx, `document.querySelector('.tr [role=status]').textContent !== 'looking…'`)
	assert.Empty(t, ask[[]string](t, w, `[...document.querySelectorAll('.tr-item:not(.tr-note)')].map(node => node.textContent)`))
}
