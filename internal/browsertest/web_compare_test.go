package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// answered is a run of an agent that makes ids up with a prefix.
func answered(prefix, text, city string) string {
	return strings.NewReplacer("ID-", prefix, "SAID", text, "CITY", city).Replace(`{"type":"RUN_STARTED","threadId":"ID-t","runId":"ID-r"}
{"type":"TEXT_MESSAGE_START","messageId":"ID-0","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"ID-0","delta":"Let me look."}
{"type":"TEXT_MESSAGE_END","messageId":"ID-0"}
{"type":"TEXT_MESSAGE_START","messageId":"ID-1","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"ID-1","delta":"The weather "}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"ID-1","delta":"SAID"}
{"type":"TEXT_MESSAGE_END","messageId":"ID-1"}
{"type":"STATE_SNAPSHOT","snapshot":{"city":"CITY","by":"ID-1"}}
{"type":"RUN_FINISHED","threadId":"ID-t","runId":"ID-r"}
`)
}

func TestWebCompare(t *testing.T) {
	w := openWeb(t, startWeb(t, recordingOf(t, "before.ndjson", answered("a", "is fine today.", "Oslo")),
		recordingOf(t, "after.ndjson", answered("b", "is bad today.", "Rome")), recordingOf(t, "again.ndjson", answered("c", "is fine today.", "Oslo"))))
	do(t, w.ctx, chromedp.Click(chromedp.CSS("#tab-compare")))
	until(t, w.ctx, `document.querySelector('.cmp-verdict')?.textContent === '2 differences'`)
	parted := ask[string](t, w, `document.querySelector('.cmp-parted').textContent`)
	assert.Contains(t, parted, "run 1, at TEXT_MESSAGE_CONTENT /delta")
	assert.Contains(t, parted, "event 7", "the delta that differs, not the first one of the text")
	assert.Equal(t, "fine", ask[string](t, w, `document.querySelector('.cmp-rows del').textContent`))
	assert.Equal(t, "bad", ask[string](t, w, `document.querySelector('.cmp-rows ins').textContent`))
	assert.Equal(t, 1, ask[int](t, w, `document.querySelectorAll('.cmp-row.cmp-differs').length`))
	assert.Contains(t, ask[string](t, w, `document.querySelector('.cmp-other').textContent`), "/state/city")
	assert.NotContains(t, ask[string](t, w, `document.querySelector('.cmp').textContent`), "/state/by", "made-up ids stand for each other")

	// Each side leads to its event.
	ask[bool](t, w, `(document.querySelectorAll('.cmp-parted .cmp-go')[1].click(), true)`)
	until(t, w.ctx, `document.title.startsWith('after.ndjson') && new URLSearchParams(location.hash.slice(1)).get('n') === '7'`)

	choose := func(which int, name string) {
		ask[bool](t, w, `(s => { s.value = [...s.options].find(o => o.textContent === '`+name+`').value; s.dispatchEvent(new Event('change')); return true })(document.querySelectorAll('.cmp-choose select')[`+string(rune('0'+which))+`])`)
	}
	until(t, w.ctx, `document.querySelector('.cmp-verdict') !== null`)
	choose(0, "before.ndjson")
	choose(1, "again.ndjson")
	until(t, w.ctx, `document.querySelector('.cmp-verdict')?.textContent.startsWith('No difference')`)
	assert.Contains(t, ask[string](t, w, `document.querySelector('.cmp-rows').textContent`), "2 messages are the same")
	ask[bool](t, w, `(document.querySelector('.cmp-options').open = true)`)
	ask[bool](t, w, `([...document.querySelectorAll('.cmp-part input')].at(-1).click(), true)`) // ids as they are
	until(t, w.ctx, `!document.querySelector('.cmp-verdict')?.textContent.startsWith('No difference') && document.querySelector('.cmp-verdict') !== null`)
}
