package term

// Ink is an ANSI attribute.
type Ink string

// The attributes that the command draws with.
const (
	Bold   Ink = "1"
	Dim    Ink = "2"
	Red    Ink = "31"
	Green  Ink = "32"
	Yellow Ink = "33"
	Blue   Ink = "34"
	Cyan   Ink = "36"
	Italic Ink = "3"
)

const reset = "\x1b[0m"

// Colors paints text if it is true.
type Colors bool

// Paint returns the text in a color, or as it is if colors are off.
func (c Colors) Paint(i Ink, text Text) Text {
	if !c || text.s == "" {
		return text
	}
	return Text{"\x1b[" + string(i) + "m" + text.s + reset}
}
