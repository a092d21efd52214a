package client

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agfold/agfold/state"
)

// StatusError says that an answer's status is not 2xx (P-SSE-1), is one that has no content (204, 205), or is a redirect
// that cannot be followed with the same POST.
type StatusError struct {
	Status int // such as 401
	Header http.Header
	Body   []byte // at most the first 64 KiB, as far as it came in time; nil if the status is 101
}

// Error names the status and what the body says; see [StatusError.Detail].
func (e *StatusError) Error() string {
	s := fmt.Sprintf("unexpected status %d %s", e.Status, http.StatusText(e.Status))
	if to := e.Header.Get("Location"); e.Status/100 == 3 && to != "" {
		s += ", a redirect to " + cleaned(to)
	}
	if e.Status/100 == 2 {
		s += ": the server has no events to send"
	}
	if d := e.Detail(); d != "" {
		s += ": " + d
	}
	return s
}

const (
	maxDetail  = 300
	maxDetails = 2 << 10
)

// Detail returns what the body says to people: the first text found in a JSON body under message, detail, error, msg,
// title or errors; otherwise the body's first line, unless it is markup; in at most 300 bytes; "" if there is nothing. A
// list of validation errors as FastAPI answers with, objects with loc and msg under detail, is shown whole, each with its
// place, in at most about 2 KiB; the rest is counted. Control characters are replaced by spaces.
func (e *StatusError) Detail() string {
	if v, err := state.Parse(e.Body); err == nil {
		if list := validationErrors(v.Get("detail")); list != "" {
			return list
		}
		return shorten(cleaned(detail(v)), maxDetail)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(e.Body)), "\n")
	if strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") {
		return ""
	}
	return shorten(cleaned(line), maxDetail)
}

func detail(v state.Value) string {
	switch v.Kind() {
	case state.KindString:
		s, _ := v.AsString()
		return s
	case state.KindArray:
		return detail(v.Index(0))
	case state.KindObject:
		for _, key := range []string{"message", "detail", "error", "msg", "title", "errors"} {
			if s := detail(v.Get(key)); s != "" {
				return s
			}
		}
	}
	return ""
}

// validationErrors returns the errors in list, "" if it is not a list of them.
func validationErrors(list state.Value) string {
	if !list.Index(0).Get("loc").Exists() {
		return ""
	}
	var b strings.Builder
	for i, v := range list.Elements() {
		one := validationError(v)
		switch {
		case one == "":
		case b.Len()+len(one) > maxDetails:
			fmt.Fprintf(&b, "; and %d more", list.Len()-i)
			return b.String()
		default:
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			b.WriteString(one)
		}
	}
	return b.String()
}

// validationError returns one error as "body.messages.0.id: Field required".
func validationError(v state.Value) string {
	var place []string
	for _, step := range v.Get("loc").Elements() {
		name, ok := step.AsString()
		if !ok {
			name = step.String()
		}
		place = append(place, name)
	}
	msg, _ := v.Get("msg").AsString()
	where := shorten(cleaned(strings.Join(place, ".")), maxDetail)
	if msg = shorten(cleaned(msg), maxDetail); where == "" || msg == "" {
		return where + msg
	}
	return where + ": " + msg
}

// cleaned returns what a server says as one line: without control characters, those of text direction among them, and
// with U+FFFD for what is not UTF-8.
func cleaned(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// shorten cuts s to at most n bytes, between characters.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func quoted(s string) string { return strconv.Quote(shorten(s, 100)) }

// ContentTypeError says that a 2xx answer is not an event stream (P-SSE-1).
type ContentTypeError struct {
	ContentType string // as it came, "" if there was none
	Status      int    // such as 200
	Header      http.Header
	Body        []byte // its beginning, at most 1 KiB, as far as it came in time
}

// Error names the media type and shows the beginning of the body.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("unexpected media type %s, want text/event-stream; the answer begins %q", quoted(e.ContentType), shorten(string(e.Body), 120))
}
