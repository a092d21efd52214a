// Package transcript draws a thread as text for people: its messages with tool calls and their results
// nested, reasoning, activities, the subagent tree, the state, open interrupts and how each run ended.
//
// A [Style] says how wide and how colourful, and draws what stands on its own: a subagent tree, a state,
// a run, a delivered event. [Style.View] binds it to one thread and draws the thread's messages too.
// Everything that is drawn ends with a line feed, or is empty.
//
// What an agent sent is never handed to the terminal as it is: [Clean] makes control characters visible,
// so no content can move the cursor, change the title or fake a line that the program wrote.
package transcript
