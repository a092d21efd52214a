package agenttest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// excerpt writes the conversation for the message of a failed test: the messages around index, marked, or the last ones if
// index is negative.
func excerpt(b *strings.Builder, th *reducer.Thread, index int) {
	const before, after = 6, 3
	n := th.Messages.Len()
	if n == 0 {
		b.WriteString("  (no messages)\n")
	}
	from, to := max(n-before-after, 0), n
	if index >= 0 {
		from, to = max(index-before, 0), min(index+after+1, n)
	}
	if from > 0 {
		fmt.Fprintf(b, "  … %d messages before\n", from)
	}
	for i, m := range th.Messages.From(from) {
		if i == to {
			fmt.Fprintf(b, "  … %d messages after\n", n-to)
			break
		}
		mark := "  "
		if i == index {
			mark = "> "
		}
		b.WriteString(mark + line(m) + "\n")
		for _, call := range m.ToolCalls.All() {
			fmt.Fprintf(b, "    calls %s(%s), %v\n", clean(call.Name), short(call.Arguments, 120), call.Status)
		}
	}
	for _, in := range th.Interrupts {
		fmt.Fprintf(b, "  interrupted: %s %s\n", clean(in.Reason), quote(in.Message.Or("")))
	}
	fmt.Fprintf(b, "  the last run: %v", th.Status())
	if err := th.Err(); err != nil {
		fmt.Fprintf(b, ", %s", clean(err.Error()))
	}
}

// line is a message in one line.
func line(m *messages.Message) string {
	who := string(m.Role)
	if !m.Owner.IsParent() {
		who += " of " + short(m.Owner.String(), 40)
	}
	switch m.Kind() {
	case messages.KindActivity:
		return who + " " + clean(m.ActivityType) + ": " + short(m.Activity.String(), 160)
	case messages.KindTool:
		who += " for " + short(m.ToolCallID, 40)
		if text, ok := m.Error.Get(); ok {
			who += " failed with " + quote(short(text, 80))
		}
	}
	return who + ": " + quote(m.Text())
}

// sideBySide lists what was wanted and what came, item by item, and marks where they differ.
func sideBySide(want, got []string) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = quote(want[i])
		}
		if i < len(got) {
			g = quote(got[i])
		}
		if w == g {
			fmt.Fprintf(&b, "    %s\n", w)
		} else {
			fmt.Fprintf(&b, "  - want %s\n  + got  %s\n", w, g)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// compress replaces an item that repeats by one and how often it comes.
func compress(items []string) []string {
	var out []string
	for i := 0; i < len(items); {
		j := i
		for j < len(items) && items[j] == items[i] {
			j++
		}
		text := items[i]
		if j-i > 1 {
			text += " ×" + strconv.Itoa(j-i)
		}
		out = append(out, text)
		i = j
	}
	return out
}

// quote is text in quotes, with everything escaped that a terminal would not show, and at most 200 characters of it.
func quote(text string) string { return strconv.Quote(clip(text, 200)) }

// quoteIfOdd is text as it is, or quoted if a terminal would not show it.
func quoteIfOdd(text string) string {
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

// short is JSON or another text in at most this many characters, safe for a terminal.
func short(text string, characters int) string { return clean(clip(text, characters)) }

// clean escapes what a terminal would not show; quotes and backslashes stay.
func clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		escaped := strconv.QuoteRune(r)
		b.WriteString(escaped[1 : len(escaped)-1])
	}
	return b.String()
}

func clip(text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	for i := range text {
		if characters == 0 {
			return text[:i] + "…"
		}
		characters--
	}
	return text
}
