package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stateRecording is a run that changes a state with a list of items, event by event.
func stateRecording(items int) string {
	var list []string
	for i := range items {
		list = append(list, fmt.Sprintf(`{"id":"item-%d","done":false}`, i))
	}
	return `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"STATE_SNAPSHOT","snapshot":{"items":[` + strings.Join(list, ",") + `],"owner":{"name":"Ada"},"a/b":{"~":1},"gone":null,"text":"one"}}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/owner/name","value":"Grace"},{"op":"add","path":"/new","value":{"k":1}},{"op":"remove","path":"/gone"}]}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/items/` + fmt.Sprint(items/2) + `/done","value":true}]}
{"type":"CUSTOM","name":"nothing","value":1}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/text","value":"one two"},{"op":"remove","path":"/items/0"}]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`
}

// openState opens a recording with the pane of the state.
func openState(t *testing.T, text string) *watched {
	t.Helper()
	w := openWeb(t, startWeb(t, recordingOf(t, "state.ndjson", text)))
	ask[bool](t, w, `(window.press = key => document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true})), true)`)
	do(t, w.ctx, chromedp.Click(chromedp.CSS("#tab-state")))
	until(t, w.ctx, `document.querySelectorAll('.st-row').length > 3`)
	return w
}

// goTo goes to a position.
func goTo(t *testing.T, w *watched, n int) {
	t.Helper()
	ask[bool](t, w, fmt.Sprintf(`(s => { s.value = %d; s.dispatchEvent(new Event('input')); return true })(document.querySelector('#scrub input'))`, n))
	until(t, w.ctx, fmt.Sprintf(`document.querySelector('#scrub .count').textContent.startsWith('%d /')`, n))
}

// rowsWith returns the texts of the rows of the tree that have a class, in order.
func rowsWith(t *testing.T, w *watched, class string) []string {
	t.Helper()
	return ask[[]string](t, w, `[...document.querySelectorAll('.st-tree .`+class+`')].map(row => row.querySelector('.st-key').textContent + ' ' + row.querySelector('.st-value').textContent)`)
}

func TestWebStateMarksWhatChanged(t *testing.T) {
	w := openState(t, stateRecording(10))
	goTo(t, w, 3)
	until(t, w.ctx, `document.querySelector('.st-now-removed') !== null`)
	assert.Equal(t, []string{"name \"Ada\" \"Grace\""}, rowsWith(t, w, "st-now-changed"))
	assert.Equal(t, []string{"new {k: 1}"}, rowsWith(t, w, "st-now-added"))
	assert.Equal(t, []string{"gone null"}, rowsWith(t, w, "st-now-removed"))
	assert.Contains(t, ask[string](t, w, `document.querySelector('.st-patch').textContent`), `This event: 3 changes`)
	assert.Empty(t, rowsWith(t, w, "st-since-changed"), "no mark was set")

	// What changed since the mark stays marked while what this event changed comes and goes.
	goTo(t, w, 2)
	ask[bool](t, w, `press('m')`)
	goTo(t, w, 3)
	goTo(t, w, 4)
	until(t, w.ctx, `document.querySelector('.st-now-changed')?.textContent.includes('true')`)
	goTo(t, w, 5)
	until(t, w.ctx, `document.querySelectorAll('.st-now-changed').length === 0`)
	assert.Contains(t, ask[string](t, w, `document.querySelector('.st-patch').textContent`), `This event: nothing changed`)
	until(t, w.ctx, `document.querySelector('.st-since-added') !== null`)
	assert.Equal(t, []string{"new {k: 1}"}, rowsWith(t, w, "st-since-added"))
	assert.Equal(t, []string{"done true", "name \"Grace\""}, rowsWith(t, w, "st-since-changed"))
	assert.Equal(t, []string{"gone null"}, rowsWith(t, w, "st-since-removed"))
	ask[bool](t, w, `(document.querySelectorAll('.st-patch')[1].open = true)`)
	until(t, w.ctx, `document.querySelectorAll('.st-patch')[1].textContent.includes('Since event 2: 4 changes')`)

	// An element that was removed is shown where it was, and those after it count as the same.
	goTo(t, w, 6)
	until(t, w.ctx, `document.querySelector('.st-now-removed') !== null`)
	assert.Equal(t, []string{`0 {id: "item-0", done: false}`}, rowsWith(t, w, "st-now-removed"))
	assert.Equal(t, []string{`text "one" "one two"`}, rowsWith(t, w, "st-now-changed"))

	// Keys lead from change to change.
	ask[bool](t, w, `press('[')`)
	until(t, w.ctx, `document.querySelector('#scrub .count').textContent.startsWith('4 /')`)
	ask[bool](t, w, `press(']')`)
	until(t, w.ctx, `document.querySelector('#scrub .count').textContent.startsWith('6 /')`)
}

func TestWebStateOfManyItems(t *testing.T) {
	w := openState(t, stateRecording(20_000))
	goTo(t, w, 4)
	until(t, w.ctx, `document.querySelector('.st-now-changed')?.textContent.includes('true')`)
	rows := ask[int](t, w, `document.querySelectorAll('.st-row').length`)
	assert.Less(t, rows, 1000, "what is not open is not in the page")
	assert.Contains(t, strings.Join(rowsWith(t, w, "st-now-inside"), "; "), "[10,000 … 10,099]", "the part of the list that holds the change")

	do(t, w.ctx, chromedp.SendKeys(chromedp.CSS(".st-tools input"), "item-19999"))
	until(t, w.ctx, `document.querySelector('.st-found')?.textContent.includes('/items/19999/id')`)
	do(t, w.ctx, chromedp.Click(chromedp.CSS(".st-found button")))
	until(t, w.ctx, `document.activeElement.getAttribute('role') === 'treeitem' && document.activeElement.textContent.includes('item-19999')`)
}

func TestWebStateKeysAndPaths(t *testing.T) {
	w := openState(t, stateRecording(3))
	goTo(t, w, 4)
	ask[bool](t, w, `(Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text }}}), true)`)
	ask[bool](t, w, `(document.querySelector('.st-tree [tabindex="0"]').focus(), true)`)
	key := func(key string) {
		ask[bool](t, w, `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '`+key+`', bubbles: true, cancelable: true})) || true`)
	}
	focused := func() string { return ask[string](t, w, `document.activeElement.querySelector('.st-key').textContent`) }
	key("Home")
	require.Equal(t, "state", focused())
	for focused() != "a/b" {
		before := focused()
		key("ArrowDown")
		require.NotEqual(t, before, focused(), "the arrow goes on")
	}
	key("ArrowRight")
	key("ArrowRight")
	require.Equal(t, "~", focused())
	key("c")
	until(t, w.ctx, `window.copied === '/a~1b/~0'`)
	key("ArrowLeft")
	require.Equal(t, "a/b", focused())
	assert.Equal(t, "4 / 7", ask[string](t, w, `document.querySelector('#scrub .count').textContent`), "the arrows of the tree do not travel")

	clickOn(t, w, ".st-copy", "Copy the patch")
	until(t, w.ctx, `window.copied.startsWith('[')`)
	var patch []map[string]any
	require.NoError(t, json.Unmarshal([]byte(ask[string](t, w, `window.copied`)), &patch))
	assert.Equal(t, []map[string]any{{"op": "replace", "path": "/items/1/done", "value": true}}, patch)
}

// The list of changes is a patch: applied to the older state it gives the newer one.
func TestWebStateChangesAreAPatch(t *testing.T) {
	w := openState(t, stateRecording(3))
	wrong := ask[string](t, w, `Promise.all([import('./state-diff.js'), import('./patch.js')]).then(([{changes, equal}, {apply}]) => {
		let seed = 1;
		const random = n => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
		const value = depth => {
			switch (random(depth > 3 ? 4 : 7)) {
				case 0: return random(3);
				case 1: return 's' + random(3);
				case 2: return null;
				case 3: return random(2) === 0;
				case 4: case 5: return Array.from({length: random(6)}, () => value(depth + 1));
				default: return Object.fromEntries(Array.from({length: random(5)}, () => [['a', 'b/c', '~', '__proto__', 'k'][random(5)], value(depth + 1)]));
			}
		};
		for (let i = 0; i < 3000; i++) {
			const a = value(0), b = value(0), {list, more} = changes(a, b, Infinity);
			const got = apply(a, list.map(({op, path, value}) => ({op, path, value})));
			if (!equal(got, b) || more !== 0 || equal(a, b) !== (list.length === 0)) return JSON.stringify([a, b, list]);
		}
		const {list, more} = changes([], Array.from({length: 50}, (_, i) => i), 20);
		return list.length === 20 && more === 30 ? '' : 'the bound';
	})`)
	assert.Empty(t, wrong)
}
