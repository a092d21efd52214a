package client

import (
	"bufio"
	"bytes"
	"errors"
	"mime"
	"strings"

	"github.com/agfold/agfold/event"
)

// isEventStream reports whether a media type is that of server-sent events, whatever its parameters.
func isEventStream(contentType string) bool { return mediaType(contentType) == eventStreamType }

// mediaType returns a media type without parameters, "" if it is not one.
func mediaType(contentType string) string {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return name
}

// namesEventStream reports whether a list of media types names that of server-sent events.
func namesEventStream(list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if isEventStream(name) {
			return true
		}
	}
	return false
}

// namedEventStream reports whether a Content-Type says that the body is an event stream, with a warning if it is a list,
// as some servers answer with the Accept of the request.
func namedEventStream(contentType string) (bool, []event.Warning) {
	switch {
	case isEventStream(contentType):
		return true, nil
	case namesEventStream(contentType):
		return true, mediaTypeWarning("the answer's media type names several, " + quoted(contentType) + ": read as an event stream")
	}
	return false, nil
}

// mayBeUnnamed reports whether the body of a Content-Type may be an event stream that its server did not name: there is
// no type, or one that stands for unknown text or bytes.
func mayBeUnnamed(contentType string) bool {
	if contentType == "" {
		return true
	}
	name := mediaType(contentType)
	return name == "text/plain" || name == "application/octet-stream"
}

func unnamedEventStream(contentType string) []event.Warning {
	what := "no media type"
	if contentType != "" {
		what = "the media type " + quoted(contentType)
	}
	return mediaTypeWarning("the answer has " + what + ", but begins as an event stream: read as one")
}

func mediaTypeWarning(text string) []event.Warning {
	return []event.Warning{{Rule: "P-SSE-1", Text: text}}
}

// beginsAsEventStream reports whether what r holds begins with a field or a comment of server-sent events. It reads no
// more than it takes to know, and nothing is lost.
func beginsAsEventStream(r *bufio.Reader) bool {
	for n := 1; ; n++ {
		begin, err := r.Peek(n)
		if err != nil {
			return false
		}
		begin = bytes.TrimLeft(bytes.TrimPrefix(begin, []byte("\uFEFF")), "\r\n")
		open := len(begin) == 0 || bytes.HasPrefix([]byte("\uFEFF"), begin)
		for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
			if bytes.HasPrefix(begin, []byte(field)) {
				return true
			}
			open = open || strings.HasPrefix(field, string(begin))
		}
		if !open {
			return false
		}
	}
}
