package browsertest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const longMessages, longDeltas = 400, 248 // with start and end 250 events a message

// longRecording writes a recording of 100,002 events.
func longRecording(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "long.ndjson")
	f, err := os.Create(name)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	for m := range longMessages {
		fmt.Fprintf(w, `{"type":"TEXT_MESSAGE_START","messageId":"m%d","role":"assistant"}`+"\n", m)
		for d := range longDeltas {
			fmt.Fprintf(w, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%d","delta":"%05d "}`+"\n", m, d)
		}
		fmt.Fprintf(w, `{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`+"\n", m)
	}
	fmt.Fprintln(w, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
	return name
}

// evaluate runs a script in the page and returns what its promise becomes.
func evaluate[T any](t *testing.T, w *watched, script string) T {
	t.Helper()
	got, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(t, err, script)
	return got
}

// A recording of 100,000 events is scrubbed from its end to its beginning and back; each position shows what was there.
func TestWebScrubsLongRecording(t *testing.T) {
	const length = 2 + longMessages*(longDeltas+2)
	w := openWeb(t, startWeb(t, longRecording(t)))
	until(t, w.ctx, fmt.Sprintf(`globalThis.agfold?.source?.done && agfold.moment?.n === %d`, length))
	for _, n := range []int{length, length - 1, length - 2, 77_777, 77_776, 256, 255, 1, 0, 50_000, 50_001, 257} {
		inMessage := max(n-1, 0) % (longDeltas + 2)
		messages := (max(n-1, 0) + longDeltas + 1) / (longDeltas + 2)
		if n == length {
			messages, inMessage = longMessages, 0
		}
		last := 6 * longDeltas
		if inMessage > 0 {
			last = 6 * min(inMessage-1, longDeltas)
		}
		if messages == 0 {
			last = 0
		}
		got := evaluate[string](t, w, fmt.Sprintf(`agfold.source.view(%d).then(v => v.messages.length + ' ' + (v.messages.at(-1)?.content.length ?? 0))`, n))
		assert.Equal(t, fmt.Sprintf("%d %d", messages, last), got, "at %d", n)
	}
	scrub := func(n int) {
		do(t, w.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const s = document.querySelector('#scrub input'); s.value = %d; s.dispatchEvent(new Event('input', {bubbles: true})); }`, n)))
		until(t, w.ctx, fmt.Sprintf(`agfold.moment.n === %d`, n))
	}
	for n := length; n >= 0; n -= length / 25 {
		scrub(n)
	}
	scrub(0)
	until(t, w.ctx, `document.querySelectorAll('.messages > li').length === 0`)
	for n := 0; n <= length; n += length / 10 {
		scrub(n)
	}
	scrub(length - 1)
	until(t, w.ctx, `document.querySelectorAll('.messages > li').length <= 120 && `+lastSaid+`.endsWith('00247 ')`)
	do(t, w.ctx, chromedp.Evaluate[chromedp.Void](`document.activeElement?.blur()`))
	for range 5 {
		do(t, w.ctx, chromedp.KeyEvent(kb.ArrowLeft))
	}
	until(t, w.ctx, fmt.Sprintf(`agfold.moment.n === %d && %s.endsWith('00243 ')`, length-6, lastSaid))

	times := evaluate[map[string]float64](t, w, fmt.Sprintf(`(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		const steps = async (from, by) => {
			agfold.go(from);
			while (agfold.moment.n !== from) await frame();
			const start = performance.now();
			for (let i = 1; i <= 100; i++) { agfold.step(by); while (agfold.moment.n !== from + i * by) await frame(); }
			return (performance.now() - start) / 100;
		};
		return {forth: await steps(%d, 1), back: await steps(%d, -1)};
	})()`, length/2, length/2))
	t.Logf("a step forth takes %.1f ms, a step back %.1f ms, of which a frame is 16.7", times["forth"], times["back"])
}

// A long answer costs what it is long, however it is cut: what is drawn again while it streams is bounded.
func TestWebMarkdownIsLinear(t *testing.T) {
	w := openWeb(t, startWeb(t, "../../testdata/subagents.sse"))
	got := evaluate[map[string]float64](t, w, `import('./markdown.js').then(({Markdown}) => {
		const root = document.createElement('div'), shown = new Markdown(root), deltas = 2000;
		const text = ('A paragraph of **words** with [a link](https://example.com/).\n\n- an item\n- another\n\n').repeat(6000) + 'word '.repeat(100_000);
		const start = performance.now();
		for (let i = 1; i <= deltas; i++) shown.set(text.slice(0, Math.ceil(text.length * i / deltas)));
		const took = performance.now() - start, drawn = shown.drawn, whole = new Markdown(document.createElement('div'));
		whole.set(text);
		return {length: text.length, drawn, took, same: Number(root.textContent === whole.root.textContent && root.childElementCount === whole.root.childElementCount)};
	})`)
	require.Greater(t, got["length"], 1e6)
	assert.Less(t, got["drawn"], got["length"]+2000*3*8192)
	assert.Equal(t, 1.0, got["same"], "a text that streamed looks like one that came whole")
	t.Logf("%.0f characters in 2000 deltas: %.0f drawn in %.0f ms", got["length"], got["drawn"], got["took"])
}

// What would turn the direction of a link's text is visible there.
func TestWebLinksShowWhereTheyLead(t *testing.T) {
	w := openWeb(t, startWeb(t, "../../testdata/subagents.sse"))
	got := evaluate[[]string](t, w, `import('./inline.js').then(({inline}) => inline(
		'https://evil.example/\u202emoc.elpmaxe [https://\u2066bank.example](https://evil.example/) [no](javascript:1)')
		.filter(n => n instanceof Element).map(n => n.tagName + ' ' + n.textContent + ' ' + n.dir))`)
	assert.Equal(t, []string{
		`A https://evil.example/\u202emoc.elpmaxe auto`, `A https://\u2066bank.example auto`, `SPAN no auto`,
	}, got)
}
