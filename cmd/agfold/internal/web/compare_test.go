package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/recording"
)

// trip is a run of an agent that makes ids up with a prefix, and cuts its text in pieces of size bytes.
func trip(prefix, text, city string, size int) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.ReplaceAll(fmt.Sprintf(format, args...), "ID-", prefix) + "\n")
	}
	line(`{"type":"RUN_STARTED","threadId":"ID-t","runId":"ID-r"}`)
	line(`{"type":"TEXT_MESSAGE_START","messageId":"ID-m","role":"assistant"}`)
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		line(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"ID-m","delta":%q}`, rest[:n])
		rest = rest[n:]
	}
	line(`{"type":"TEXT_MESSAGE_END","messageId":"ID-m"}`)
	line(`{"type":"TOOL_CALL_START","toolCallId":"ID-c","toolCallName":"book","parentMessageId":"ID-m"}`)
	line(`{"type":"TOOL_CALL_ARGS","toolCallId":"ID-c","delta":%q}`, `{"city":"`+city+`"}`)
	line(`{"type":"TOOL_CALL_END","toolCallId":"ID-c"}`)
	line(`{"type":"TOOL_CALL_RESULT","messageId":"ID-x","toolCallId":"ID-c","content":"done"}`)
	line(`{"type":"STATE_SNAPSHOT","snapshot":{"city":%q}}`, city)
	line(`{"type":"RUN_FINISHED","threadId":"ID-t","runId":"ID-r"}`)
	return b.String()
}

// compared is the comparison as the page gets it.
type compared struct {
	A, B struct {
		ID, Name         string
		Length, Messages int
	}
	Same       bool
	More       int
	Divergence *struct {
		A, B, Run  int
		Type, Path string
		InA, InB   *extract
	}
	Why  string
	Runs []struct {
		A, B *runInfo
		D    []int
	}
	Rows []struct {
		A, B     int
		InA, InB *messageInfo
		D        []int
	}
	Differences []struct {
		Section, Where, PathA, PathB string
		A, B                         *extract
	}
}

func compareLogs(t *testing.T, a, b *log, query string) compared {
	t.Helper()
	q, err := url.ParseQuery(query)
	require.NoError(t, err)
	text, err := compareJSON(t.Context(), a, b, compareOptionsOf(q))
	require.NoError(t, err)
	var c compared
	require.NoError(t, json.Unmarshal(text, &c), "%s", text)
	return c
}

func TestCompare(t *testing.T) {
	a := folded(t, trip("a", "Lisbon is sunny.", "Lisbon", 4))
	t.Run("two runs with other ids and pieces are the same", func(t *testing.T) {
		c := compareLogs(t, a, folded(t, trip("b", "Lisbon is sunny.", "Lisbon", 3)), "")
		assert.True(t, c.Same)
		assert.Nil(t, c.Divergence)
		assert.Empty(t, c.Differences)
		require.Len(t, c.Rows, 2)
		assert.Equal(t, "Lisbon is sunny.", c.Rows[0].InA.Text)
		assert.Equal(t, []callInfo{{ID: "bc", Name: "book", Args: `{"city":"Lisbon"}`}}, c.Rows[0].InB.Calls)
		assert.Equal(t, runInfo{ID: "ar", Status: "succeeded", From: 1, To: 13}, *c.Runs[0].A)
	})
	t.Run("exact ids", func(t *testing.T) {
		assert.False(t, compareLogs(t, a, folded(t, trip("b", "Lisbon is sunny.", "Lisbon", 4)), "ids=exact").Same)
	})
	t.Run("the events part within a text, at the delta that differs", func(t *testing.T) {
		c := compareLogs(t, a, folded(t, trip("b", "Lisbon is rainy.", "Lisbon", 3)), "")
		assert.False(t, c.Same)
		require.NotNil(t, c.Divergence)
		assert.Equal(t, 5, c.Divergence.A, `"n is s", with 10 bytes before it, in the third piece`)
		assert.Equal(t, 6, c.Divergence.B)
		assert.Equal(t, "/delta", c.Divergence.Path)
		require.Len(t, c.Differences, 1)
		assert.Equal(t, "/messages/0/content", c.Differences[0].PathA)
		assert.Equal(t, []int{0}, c.Rows[0].D)
	})
	t.Run("arguments, and the state that follows from them", func(t *testing.T) {
		c := compareLogs(t, a, folded(t, trip("b", "Lisbon is sunny.", "Rome", 4)), "")
		require.NotNil(t, c.Divergence)
		assert.Equal(t, "TOOL_CALL_ARGS", c.Divergence.Type)
		assert.Equal(t, 9, c.Divergence.A)
		assert.Len(t, c.Differences, 2)
		assert.Equal(t, "/state/city", c.Differences[1].PathB)
		assert.Equal(t, `"Rome"`, c.Differences[1].B.Text)
		assert.Len(t, compareLogs(t, a, folded(t, trip("b", "Lisbon is sunny.", "Rome", 4)), "ignore=state&ignore=calls").Differences, 0)
	})
	t.Run("a message that only one side has, and what comes after it", func(t *testing.T) {
		more := strings.Replace(trip("b", "Lisbon is sunny.", "Lisbon", 4), `{"type":"TEXT_MESSAGE_START"`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"new","role":"user","delta":"Well?"}`+"\n"+`{"type":"TEXT_MESSAGE_START"`, 1)
		c := compareLogs(t, a, folded(t, more), "")
		require.Len(t, c.Rows, 3)
		assert.Equal(t, [2]int{-1, 0}, [2]int{c.Rows[0].A, c.Rows[0].B})
		assert.Nil(t, c.Rows[0].InA)
		require.Len(t, c.Rows[0].D, 1)
		assert.Equal(t, "", c.Differences[c.Rows[0].D[0]].PathA)
		assert.Equal(t, "/messages/0", c.Differences[c.Rows[0].D[0]].PathB)
		assert.Empty(t, c.Rows[1].D)
		c = compareLogs(t, folded(t, more), a, "")
		assert.Equal(t, "/messages/0", c.Differences[0].PathA)
		assert.Equal(t, "", c.Differences[0].PathB)
	})
	t.Run("one is cut off", func(t *testing.T) {
		text := trip("b", "Lisbon is sunny.", "Lisbon", 4)
		c := compareLogs(t, a, folded(t, text[:strings.Index(text, `{"type":"TOOL_CALL_RESULT`)]), "")
		require.NotNil(t, c.Divergence)
		assert.Equal(t, 11, c.Divergence.A)
		assert.Equal(t, 0, c.Divergence.B)
		assert.Equal(t, "truncated", c.Runs[0].B.Status)
	})
}

// The positions are right in every form of recording, also in those with several events on a line.
func TestCompareFindsPositionsInEveryForm(t *testing.T) {
	a := folded(t, trip("a", "Lisbon is sunny.", "Lisbon", 4))
	other := trip("b", "Lisbon is rainy.", "Lisbon", 3)
	forms := map[string]string{
		"array on one line": "[" + strings.ReplaceAll(strings.TrimSpace(other), "\n", ",") + "]",
		"object":            `{"stream":[` + strings.ReplaceAll(strings.TrimSpace(other), "\n", ",") + "]}",
		"values":            strings.ReplaceAll(strings.ReplaceAll(other, "\n", " "), `"type":`, "\"type\":\n"),
	}
	for _, form := range []recording.Form{recording.FormSSE, recording.FormAgfold, recording.FormLines} {
		rec, err := recording.Open(strings.NewReader(other), nil)
		require.NoError(t, err)
		var out strings.Builder
		require.NoError(t, recording.Write(&out, form, nil, rec.Entries()))
		forms[string(form)] = out.String()
	}
	for name, text := range forms {
		t.Run(name, func(t *testing.T) {
			c := compareLogs(t, a, folded(t, text), "")
			require.NotNil(t, c.Divergence, "%s", c.Why)
			assert.Equal(t, [2]int{5, 6}, [2]int{c.Divergence.A, c.Divergence.B})
		})
	}
}

func TestCompareIsBounded(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	a, b := folded(t, trip("a", long+"a"+long, "Lisbon", 1<<20)), folded(t, trip("b", long+"b"+long, "Lisbon", 1<<20))
	c := compareLogs(t, a, b, "")
	assert.LessOrEqual(t, len(c.Rows[0].InA.Text), mostText)
	assert.Equal(t, 4*len(long)/2+1, len(c.Rows[0].InA.Text)+c.Rows[0].InA.More)
	d := c.Differences[0].A
	assert.LessOrEqual(t, len(d.Text), mostExtract)
	assert.Contains(t, d.Text, "éaé")
	assert.Equal(t, 4*len(long)/2+1+len(`""`), d.Before+len(d.Text)+d.After)
}

func TestCompareNeedsBothToBeRead(t *testing.T) {
	a := folded(t, trip("a", "Hi", "Lisbon", 4))
	unread := newLog("1", "slow", modeRecording, 0)
	_, err := compareJSON(t.Context(), a, unread, compareOptions{})
	assert.ErrorIs(t, err, errUnread)

	live := newLog("2", "live", modeLive, 0)
	stepsOf(t, trip("b", "Hello", "Lisbon", 4), func(st step) {
		live.change(func() { require.NoError(t, live.add(st)) })
	})
	c := compareLogs(t, a, live, "")
	assert.False(t, c.Same)
	assert.Equal(t, errLive.Error(), c.Why)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = compareJSON(ctx, a, folded(t, trip("b", "Ho", "Lisbon", 4)), compareOptions{})
	assert.ErrorIs(t, err, context.Canceled)

	gone := folded(t, trip("b", "Ho", "Lisbon", 4))
	gone.open = func() (io.ReadCloser, error) { return nil, os.ErrNotExist }
	assert.NotEmpty(t, compareLogs(t, a, gone, "").Why)
}
