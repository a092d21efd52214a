package browsertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask evaluates an expression in the page, and waits for it if it is a promise.
func ask[T any](t *testing.T, w *watched, expression string) T {
	t.Helper()
	got, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err, expression)
	return got
}

// clickOn clicks on the element with a text.
func clickOn(t *testing.T, w *watched, selector, text string) {
	t.Helper()
	expression := fmt.Sprintf(`(node => { node?.click(); return node !== undefined })([...document.querySelectorAll(%q)].find(node => node.textContent.startsWith(%q)))`, selector, text)
	require.True(t, ask[bool](t, w, expression), "%s %s", selector, text)
}

// timelinePage has functions for the tests of the timeline in the page.
const timelinePage = `(() => {
  window.press = (key, more) => document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...more}));
  window.frames = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r))));
  window.picture = () => document.querySelector('.tl-canvas');
  window.mouse = (type, x, y, more) => {
    const box = picture().getBoundingClientRect();
    picture().dispatchEvent(new (type === 'wheel' ? WheelEvent : PointerEvent)(type, {clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true, button: 0, ...more}));
  };
  window.colors = () => { // how many colors the picture has right of the names
    const {width, height} = picture(), {data} = picture().getContext('2d').getImageData(140, 20, width - 140, height - 20), seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  };
  window.costs = async () => { // what frames cost, from the whole recording to the closest view and back
    const all = {work: [], ms: []};
    press('0');
    for (const [key, times] of [['0', 1], ['+', 12], ['-', 12], ['0', 5]]) {
      for (let i = 0; i < times; i++) {
        press(key);
        await frames();
        all.work.push(Number(picture().dataset.work));
        all.ms.push(Number(picture().dataset.ms));
      }
    }
    return all;
  };
  return true;
})()`

// openTimeline opens a recording and waits until its timeline has all of it.
func openTimeline(t *testing.T, recording string, events int) *watched {
	t.Helper()
	w := openWeb(t, startWeb(t, recording))
	until(t, w.ctx, fmt.Sprintf(`document.querySelector('.tl-canvas')?.dataset.events === '%d' && document.querySelector('.tl-canvas').dataset.work > 0`, events))
	require.True(t, ask[bool](t, w, timelinePage))
	return w
}

type costs struct{ Work, Ms []float64 }

// A frame costs what is in view, not what is in the recording.
func TestWebTimelineOfManyEvents(t *testing.T) {
	few, many := 1000, 100_000
	if testing.Short() {
		many = 20_000
	}
	small := ask[costs](t, openTimeline(t, recordingOf(t, "small.ndjson", busyRecording(few)), few), `costs()`)
	w := openTimeline(t, recordingOf(t, "large.ndjson", busyRecording(many)), many)
	large := ask[costs](t, w, `costs()`)
	median := func(list []float64) float64 {
		sorted := slices.Sorted(slices.Values(list))
		return sorted[len(sorted)/2]
	}
	t.Logf("frames of %d and of %d events: at most %.0f and %.0f shapes, median %.2f and %.2f ms, slowest %.2f and %.2f ms",
		few, many, slices.Max(small.Work), slices.Max(large.Work), median(small.Ms), median(large.Ms), slices.Max(small.Ms), slices.Max(large.Ms))
	assert.Less(t, slices.Max(large.Work), 30*slices.Max(small.Work), "of a hundred times as many events; most of the few stand alone on a pixel")
	assert.Less(t, slices.Max(large.Work), 20_000.0)
	assert.Less(t, median(large.Ms), 20*median(small.Ms)+5)
	assert.GreaterOrEqual(t, ask[int](t, w, `colors()`), 8, "messages, calls, state, subagents, the run, and the background are drawn")
}

func TestWebTimelineHoverClickZoomAndPan(t *testing.T) {
	w := openTimeline(t, recordingOf(t, "run.ndjson", busyRecording(1000)), 1000)
	view := func() [2]float64 {
		return ask[[2]float64](t, w, `frames().then(() => [Number(picture().dataset.from), Number(picture().dataset.to)])`)
	}
	whole := view()

	ask[bool](t, w, `(mouse('pointermove', picture().clientWidth / 2, 40), true)`)
	until(t, w.ctx, `/event [0-9,]+ [A-Z_]+ at /.test(document.querySelector('.tl-tip').textContent)`)
	require.Contains(t, ask[string](t, w, `document.querySelector('.tl-tip').textContent`), "run r", "the bar under the pointer")

	ask[bool](t, w, `(mouse('pointerdown', picture().clientWidth / 2, 40, {pointerId: 1}), mouse('pointerup', picture().clientWidth / 2, 40, {pointerId: 1}), true)`)
	until(t, w.ctx, `(n => n > 200 && n < 800)(Number(new URLSearchParams(location.hash.slice(1)).get('n')))`)

	ask[bool](t, w, `(mouse('wheel', picture().clientWidth / 2, 40, {deltaY: -300}), true)`)
	zoomed := view()
	assert.Less(t, zoomed[1]-zoomed[0], .6*(whole[1]-whole[0]))
	ask[bool](t, w, `(mouse('pointerdown', 600, 40, {pointerId: 1}), mouse('pointermove', 500, 40, {pointerId: 1}), mouse('pointerup', 500, 40, {pointerId: 1}), true)`)
	panned := view()
	assert.Greater(t, panned[0], zoomed[0])
	assert.InDelta(t, zoomed[1]-zoomed[0], panned[1]-panned[0], 1)

	ask[bool](t, w, `(picture().focus(), picture().dispatchEvent(new KeyboardEvent('keydown', {key: ',', bubbles: true, cancelable: true})), true)`)
	assert.Less(t, view()[0], panned[0], "the comma pans too")
	ask[bool](t, w, `press('+')`)
	ask[bool](t, w, `press('0')`)
	assert.Equal(t, whole, view())

	// Whoever steps out of view takes the view along.
	ask[bool](t, w, `(mouse('wheel', 200, 40, {deltaY: -300}), mouse('wheel', 200, 40, {deltaY: -300}), press('End'), true)`)
	until(t, w.ctx, `!new URLSearchParams(location.hash.slice(1)).has('n')`)
	until(t, w.ctx, fmt.Sprintf(`Number(picture().dataset.to) > %f`, .97*whole[1]))

	for _, axis := range []string{"short", "order", "time"} {
		ask[bool](t, w, `(s => { s.value = '`+axis+`'; s.dispatchEvent(new Event('change')); return true; })(document.querySelector('.tl-bar select'))`)
		assert.Greater(t, view()[1], 0.0, axis)
		assert.GreaterOrEqual(t, ask[int](t, w, `colors()`), 6, axis)
	}
}

func TestWebTimelineAsAList(t *testing.T) {
	w := openTimeline(t, recordingOf(t, "run.ndjson", busyRecording(1000)), 1000)
	clickOn(t, w, ".tl-bar button", "List")
	until(t, w.ctx, `document.querySelectorAll('.tl-item').length > 10`)
	text := ask[string](t, w, `document.querySelector('.tl-list').textContent`)
	assert.Contains(t, text, "waiting for the result of search")
	ask[bool](t, w, `(s => { s.value = 'events'; s.dispatchEvent(new Event('change')); return true; })(document.querySelector('.tl-pages select'))`)
	until(t, w.ctx, `document.querySelector('.tl-list').textContent.includes('901 to 1,000 of 1,000') && document.querySelectorAll('.tl-item').length === 100`)
	clickOn(t, w, ".tl-pages button", "Earlier")
	until(t, w.ctx, `document.querySelector('.tl-item')?.dataset.n === '801'`)
	do(t, w.ctx, chromedp.Click(chromedp.CSS(`.tl-item[data-n="805"]`)))
	until(t, w.ctx, `new URLSearchParams(location.hash.slice(1)).get('n') === '805' && document.querySelector('.tl-item[aria-current]').dataset.n === '805'`)
}
