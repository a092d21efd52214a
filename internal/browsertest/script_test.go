package browsertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The script applies changes as docs/feed.md says, shares what did not change, and no name of a member is special.
func TestTheScriptAppliesChanges(t *testing.T) {
	page := browser(t)
	site := newSite(t, "")
	site.logIn(t, page)
	thread := func(shared string, texts ...string) feed.Snapshot {
		v, err := state.Parse([]byte(shared))
		require.NoError(t, err)
		th := &reducer.Thread{ID: "t", State: v}
		for i, text := range texts {
			th.Messages = th.Messages.Append(&messages.Message{ID: fmt.Sprint(i), Role: messages.RoleUser, Content: messages.Text(text)})
		}
		return feed.Snapshot{Thread: th}
	}
	snapshots := []feed.Snapshot{
		thread(`{}`),
		thread(`{"__proto__":{"a":"x"},"constructor":1,"a/b":{"~":[1,2,3]}}`, "Hel"),
		thread(`{"__proto__":{"a":"xy","polluted":true},"constructor":2,"a/b":{"~":[0,1,3,"4"]}}`, "Hello", "é😀"),
		thread(`{"__proto__":{},"a/b":{"~":[]},"":""}`, "Hello", "é😀 and more", "third"),
		thread(`[1,{"k":null}]`, "third"),
		thread(`"text"`),
		thread(`"text grows"`, "again"),
	}
	for i, from := range snapshots {
		for j, to := range snapshots {
			for _, mode := range []feed.Mode{feed.Append, feed.RFC6902} {
				expression := fmt.Sprintf(`import('/threads/agfold.js').then(({patched}) => JSON.stringify(JSON.parse(%s).reduce(patched, JSON.parse(%s))))`,
					quoted(t, string(feed.AppendChanges(nil, from, to, mode))), quoted(t, string(feed.AppendView(nil, from))))
				got, err := chromedp.Run(page, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
				require.NoError(t, err, "%d to %d", i, j)
				assert.JSONEq(t, string(feed.AppendView(nil, to)), got, "%d to %d", i, j)
			}
		}
	}
	for expression, want := range map[string]string{
		`(() => { const doc = {a: {b: 1}, c: [{}, {}]}, next = patched(doc, {op: 'replace', path: '/c/1', value: 2}); return [next !== doc, next.a === doc.a, next.c[0] === doc.c[0], doc.c.length].join() })()`: "true,true,true,2",
		`(() => { patched({}, {op: 'add', path: '/__proto__', value: {polluted: 1}}); return String({}.polluted) })()`:                                                                                           "undefined",
		`(() => { try { patched({}, {op: 'append', path: '/__proto__/x', value: 'y'}) } catch (e) { return e.message } })()`:                                                                                     "append /__proto__/x: no such place",
		`(() => { try { patched({}, {op: 'move', from: '', path: '/x'}) } catch (e) { return e.message } })()`:                                                                                                   "move: no such operation",
	} {
		got, err := chromedp.Run(page, chromedp.Evaluate[string](`import('/threads/agfold.js').then(({patched}) => `+expression+`)`, chromedp.EvalAwaitPromise))
		require.NoError(t, err, expression)
		assert.Equal(t, want, got)
	}
}

// A change that cannot be applied, whatever error that is in the script, makes it ask for a view.
func TestTheScriptAsksForAView(t *testing.T) {
	page := browser(t)
	site := newSite(t, "")
	site.logIn(t, page)
	expression := `import('/threads/agfold.js').then(({connect}) => new Promise(resolve => {
		const asked = [], own = window.fetch;
		window.fetch = async (_, {headers}) => {
			asked.push(headers['Last-Event-ID'] ?? 'a view');
			const events = asked.length === 1 ? 'event: view\nid: 1\ndata: {"a":null}\n\nevent: changes\nid: 2\ndata: [null]\n\n' : 'event: view\nid: 3\ndata: {"a":3}\n\n';
			return new Response(events);
		};
		const live = connect('/t', {onChange: ({view}) => {
			if (view?.a !== 3) return;
			live.close();
			window.fetch = own;
			resolve(asked.join());
		}});
	}))`
	got, err := chromedp.Run(page, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	assert.Equal(t, "a view,a view", got)
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	q, err := json.Marshal(text)
	require.NoError(t, err)
	return string(q)
}
