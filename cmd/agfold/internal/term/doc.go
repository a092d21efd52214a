// Package term is the only way from the command to a terminal.
//
// A [Text] is text that is safe to print: whatever an agent sent has its control characters made visible, so that
// it cannot move the cursor, set the clipboard, change the title or turn the direction of text. Only this package
// makes a Text, a [Writer] takes nothing else, and so no caller can forget to clean. [Text.Wrap] and [Text.Clip]
// keep a text within the width of the terminal, which would otherwise wrap it to column 0; they
// measure in columns the way terminals do, with github.com/rivo/uniseg.
package term
