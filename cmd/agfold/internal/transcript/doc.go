// Package transcript draws a thread as text for people: its messages with tool calls and their results, reasoning,
// activities, the subagent tree, the state, open interrupts and how each run ended.
//
// A [Style] says how wide and in which colors, and draws what needs no thread: a subagent tree, a state, a
// delivery, a warning. A [View] draws one thread in a style. A [Writer] writes a thread piece by piece while it
// grows, or all of it at its end. Every drawing is a [term.Text], ends with a line feed or is empty, and is no wider than
// the style says. Its size is linear in that of the events that made the thread: names that many lines repeat are
// clipped.
package transcript
