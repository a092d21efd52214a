package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nasty is what a producer may put into any string.
const nasty = `<img src=x onerror="window.broken=1"><script>window.broken=1</script></script><svg onload="window.broken=1">` +
	"\u202e\u2066 bidi \u0000\u001b[31m\u200b" + `'"]]>--> ${window.broken=1} javascript:window.broken=1 https://example.com/pixel.png`

// hostileRecording writes events that hold nasty texts in each string that the page shows.
func hostileRecording(t *testing.T) string {
	t.Helper()
	huge := nasty + strings.Repeat("x", 20_000)
	markdown := "![a](https://example.com/pixel.png) [b](javascript:window.broken=1) [c](data:text/html,<script>window.broken=1</script>) " +
		"[d](https://example.com/\"onclick=\"window.broken=1) <https://example.com/e> **" + nasty + "** `" + nasty + "`\n\n# " + nasty + "\n\n| a | b |\n|---|---|\n| " + nasty + " | " +
		strings.Repeat("y", 5000) + " |\n\n" + strings.Repeat("> ", 3000) + nasty + "\n\n" + strings.Repeat("- ", 3000) + nasty + "\n\n" + strings.Repeat("[", 5000) + strings.Repeat("*_~`", 3000) +
		"\n\n```" + nasty + "\n" + nasty + "\n```\n" + strings.Repeat("word ", 20_000) + strings.Repeat("z", 20_000)
	type object = map[string]any
	schema := object{"type": "object", "title": nasty, "required": []any{nasty, 1}, "properties": object{
		nasty: object{"type": "string", "title": nasty, "description": nasty, "default": nasty, "pattern": "(a+)+$"}, "__proto__": object{"enum": []any{nasty, nil, object{}}},
		"n": object{"type": "number", "minimum": "x", "maximum": []any{}, "default": nasty}, "deep": object{"$ref": "#"}, "many": object{"type": []any{"array", "null"}}}}
	text := func(role string) object {
		return object{"role": role, "id": "snapshot-" + role + nasty, "content": markdown}
	}
	events := []object{
		{"type": "RUN_STARTED", "threadId": huge, "runId": huge},
		{"type": "STEP_STARTED", "stepName": huge},
		{"type": "STATE_SNAPSHOT", "snapshot": object{nasty: nasty, "__proto__": object{"polluted": true}, "constructor": nasty, "huge": huge, "list": []any{nasty, huge}}},
		{"type": "SUBAGENT_STARTED", "subagentRunId": huge, "name": huge},
		{"type": "TEXT_MESSAGE_START", "messageId": huge, "role": "assistant", "name": nasty, "subagentRunId": huge},
		{"type": "TEXT_MESSAGE_CONTENT", "messageId": huge, "delta": markdown},
		{"type": "TEXT_MESSAGE_END", "messageId": huge},
		{"type": "REASONING_MESSAGE_START", "messageId": nasty, "role": "reasoning"},
		{"type": "REASONING_MESSAGE_CONTENT", "messageId": nasty, "delta": markdown},
		{"type": "REASONING_MESSAGE_END", "messageId": nasty},
		{"type": "TOOL_CALL_START", "toolCallId": nasty, "toolCallName": huge},
		{"type": "TOOL_CALL_ARGS", "toolCallId": nasty, "delta": string(must(json.Marshal(object{nasty: huge})))},
		{"type": "TOOL_CALL_END", "toolCallId": nasty},
		{"type": "TOOL_CALL_RESULT", "messageId": "result", "toolCallId": nasty, "content": nasty},
		{"type": "ACTIVITY_SNAPSHOT", "messageId": "activity", "activityType": huge, "content": object{nasty: huge}},
		{"type": "STATE_DELTA", "delta": []any{object{"op": "add", "path": "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(nasty) + "/x", "value": nasty}}},
		{"type": "STATE_DELTA", "delta": []any{object{"op": "add", "path": "/__proto__/x", "value": nasty}}},
		{"type": "CUSTOM", "name": huge, "value": nasty},
		{"type": nasty, "x": nasty},
		{"type": "TEXT_MESSAGE_START", "messageId": "with unknown", "role": nasty, nasty: nasty},
		{"type": "TEXT_MESSAGE_END", "messageId": "with unknown"},
		{"type": "SUBAGENT_ERROR", "subagentRunId": huge, "message": nasty, "code": nasty},
		{"type": "MESSAGES_SNAPSHOT", "messages": []any{text("user"), text("system"), text("developer"), object{"role": "user", "id": "parts", "content": []any{
			object{"type": "text", "text": nasty}, object{"type": "image", "source": object{"type": "url", "value": "https://example.com/pixel.png"}},
			object{"type": "image", "source": object{"type": "url", "value": "javascript:window.broken=1"}},
			object{"type": "image", "source": object{"type": "data", "mimeType": "image/svg+xml", "value": "PHN2ZyBvbmxvYWQ9IndpbmRvdy5icm9rZW49MSIvPg=="}},
			object{"type": "image", "source": object{"type": "data", "mimeType": "image/png;x,<script>", "value": nasty}},
			object{"type": "document", "source": object{"type": "data", "mimeType": nasty, "value": nasty}}}}}},
		{"type": "STEP_FINISHED", "stepName": huge},
		{"type": "RUN_FINISHED", "threadId": huge, "runId": huge, "outcome": object{"type": "interrupt", "interrupts": []any{
			object{"id": nasty, "reason": nasty, "message": huge, "toolCallId": nasty, "expiresAt": "2026-01-01T00:00:00Z", "responseSchema": schema}}}},
		{"type": "RUN_STARTED", "threadId": huge, "runId": "second"},
		{"type": "RUN_ERROR", "message": huge, "code": nasty},
	}
	var lines strings.Builder
	for _, ev := range events {
		lines.Write(must(json.Marshal(ev)))
		lines.WriteByte('\n')
	}
	name := filepath.Join(t.TempDir(), "hostile '<b>&\u202e.ndjson")
	require.NoError(t, os.WriteFile(name, []byte(lines.String()), 0o600))
	return name
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// walk shows positions in panes and checks that nothing breaks: every second one in the conversation on the
// narrowest screen, elsewhere the last one and one before.
func walk(t *testing.T, w *watched, panes ...string) {
	t.Helper()
	length := evaluate[int](t, w, `Promise.resolve(agfold.source.length)`)
	require.Greater(t, length, 20)
	scripts := evaluate[int](t, w, `Promise.resolve(document.scripts.length)`)
	for _, size := range [][2]int64{{400, 800}, {900, 800}, {1600, 900}} {
		w.size(t, size[0], size[1])
		for _, pane := range panes {
			do(t, w.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`agfold.open(%q)`, pane)))
			for n := 0; n <= length; n++ {
				if n != length && !(size[0] == 400 && (pane == "talk" && n%2 == 0 || n == 20)) {
					continue
				}
				do(t, w.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`agfold.go(%d)`, n)))
				until(t, w.ctx, fmt.Sprintf(`agfold.moment.n === %d`, n))
				wide := evaluate[string](t, w, `new Promise(done => requestAnimationFrame(() => done([document.documentElement, document.body, ...document.querySelectorAll('header, main, #talk, #talk .scroller, #side > div, #timeline, #scrub')]
					.filter(n => n.getClientRects().length && (n.scrollWidth > n.clientWidth + 1 || n.getBoundingClientRect().right > innerWidth + 1)).map(n => n.tagName + '#' + n.id + '.' + n.className + ' ' + n.scrollWidth + '>' + n.clientWidth).join())))`)
				assert.Empty(t, wide, "%d px, pane %s, event %d: wider than the screen", size[0], pane, n)
			}
		}
	}
	assert.Equal(t, "", evaluate[string](t, w, fmt.Sprintf(`Promise.resolve(['broken' in window && 'a script ran', document.scripts.length !== %d && 'a script came', {}.polluted && 'polluted',
		document.querySelector('iframe, object, embed, [onerror], [onload], [onclick], a[href^="javascript"], a[href^="data"], img[src^="http"], img[src*="svg"]')?.outerHTML.slice(0, 200)].filter(Boolean).join())`, scripts)))
}

func TestWebHostileRecording(t *testing.T) {
	w := openWeb(t, startWeb(t, hostileRecording(t)))
	until(t, w.ctx, `globalThis.agfold?.source?.done && agfold.moment !== null`)
	walk(t, w, "talk", "timeline", "event", "state", "agents", "trouble")
	assert.Equal(t, "no inline script", evaluate[string](t, w, `Promise.resolve((() => { const s = document.createElement('script'); try { s.textContent = 'window.broken = 1'; document.body.append(s); } catch { } return 'broken' in window ? 'ran' : 'no inline script' })())`))
	w.mu.Lock()
	w.errors = nil // the policy has complained about the script
	w.mu.Unlock()
}

// The exported file shows the same from a folder, without a server, and holds nothing but the recording.
func TestWebExport(t *testing.T) {
	hostile := hostileRecording(t)
	url := startWeb(t, "../../testdata/subagents.sse", hostile)
	for id, name := range map[string]string{"0": "subagents", "1": "hostile"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "export.html")
			require.NoError(t, os.WriteFile(file, fetched(t, url+"api/logs/"+id+"/export"), 0o600))
			w := openWeb(t, "file://"+file)
			until(t, w.ctx, `globalThis.agfold?.moment?.n === agfold.source.length && agfold.exported`)
			assert.Equal(t, "[]", evaluate[string](t, w, `Promise.resolve(JSON.stringify([...document.querySelectorAll('#share, .say:not([hidden]), #tab-compare')].map(n => n.id)))`))
			if name == "hostile" {
				walk(t, w, "state")
				return
			}
			live := openWeb(t, url+"#log=0")
			until(t, live.ctx, `globalThis.agfold?.source?.id === '0' && agfold.source.done && agfold.moment`)
			script := `(async () => { const all = []; for (const n of [184, 100, 101, 7, 0]) all.push(await agfold.source.view(n), await agfold.source.row(n), n ? await agfold.source.event(n) : 0); return JSON.stringify(all); })()`
			assert.JSONEq(t, evaluate[string](t, live, script), evaluate[string](t, w, script))
			assert.NotContains(t, evaluate[string](t, w, `Promise.resolve(document.documentElement.outerHTML)`), "hostile")
		})
	}
}
