package recording

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/state"
)

// maxDocument bounds what is read completely into memory: an object with a stream, JSON that is spread over lines, or a
// head with its run input.
const maxDocument = 256 << 20

// sniff recognizes the form of the recording by its first bytes, its first line, or the first object in it.
func sniff(l *lines, limit int) (*Recording, error) {
	c, indented, err := firstByte(l)
	switch {
	case err == io.EOF:
		return &Recording{form: FormEmpty, err: io.EOF}, nil
	case err != nil:
		return nil, readError(err)
	case c == '[':
		return &Recording{form: FormArray, src: &values{r: l.r, limit: limit, array: true, line: l.line + 1}}, nil
	case c == '{':
		return sniffObject(l, limit)
	case !indented && isField(l.r):
		return &Recording{form: FormSSE, src: &stream{r: sse.NewReader(l.r, limit), before: l.line}}, nil
	}
	if l.showsHead(false) { // its first line is torn
		return openHeads(&heads{lines: eventLines{lines: l, limit: limit}})
	}
	return nil, &FormatError{Line: l.line + 1, Err: errors.New("want server-sent events or JSON")}
}

// firstByte skips a byte order mark and white space and returns the byte after them, which stays to be
// read. l.line counts the lines skipped.
func firstByte(l *lines) (c byte, indented bool, err error) {
	if mark, _ := l.r.Peek(3); string(mark) == "\uFEFF" {
		l.r.Discard(3)
	}
	for {
		c, err := l.r.ReadByte()
		switch {
		case err != nil:
			return 0, false, err
		case c == '\n':
			l.line++
			indented = false
		case c == ' ' || c == '\t':
			indented = true
		case c != '\r':
			return c, indented, l.r.UnreadByte()
		}
	}
}

// showsHead reports whether a later line that can be seen from here begins a head. atStart says that the reader is at
// the beginning of a line.
func (l *lines) showsHead(atStart bool) bool {
	text, _ := l.r.Peek(peekSize)
	return atStart && bytes.HasPrefix(text, []byte(headMark)) || bytes.Contains(text, []byte("\n"+headMark))
}

// isField reports whether what comes is a line of the server-sent event format.
func isField(r *bufio.Reader) bool {
	head, _ := r.Peek(len("event:"))
	for _, field := range []string{":", "data", "event", "id", "retry"} {
		rest, ok := bytes.CutPrefix(head, []byte(field))
		if ok && (field == ":" || len(rest) == 0 || bytes.IndexByte([]byte(":\r\n"), rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// sniffObject recognizes a text that begins with an object.
func sniffObject(l *lines, limit int) (*Recording, error) {
	first, whole, err := l.next(limit)
	_, large := errors.AsType[*event.TooLargeError](err)
	if err != nil && !large {
		return nil, err
	}
	first = bytes.Clone(first)
	members, end, fault := parseObject(nil, first)
	document := func() (*Recording, error) {
		if whole {
			first = append(first, '\n')
		}
		return sniffDocument(l, first, limit)
	}
	line := eventLines{lines: l, limit: limit, first: first, whole: whole, err: err}
	switch {
	case isHead(members) || (fault != nil || end < len(first)) && l.showsHead(whole):
		return openHeads(&heads{lines: line})
	case isStream(members) && (fault != nil || end == len(first)):
		return document()
	case large:
		return nil, err
	case fault != nil:
		return document()
	case members.get("type") == nil:
		return nil, notEvents(members, l.line)
	}
	return &Recording{form: FormLines, src: &line}, nil
}

// isHead reports whether a line with these members is one that Writer writes.
func isHead(members object) bool {
	return members.get("type") == nil &&
		(members.get("agfold") != nil || members.get("at") != nil && (members.get("event") != nil || members.get("data") != nil))
}

// isStream reports whether an object with these members holds a recording.
func isStream(members object) bool { return members.get("type") == nil && members.get("stream") != nil }

// notEvents returns the error about an object with these members, which is not the beginning of a recording.
func notEvents(members object, line int) error {
	if members.get("threadId") != nil && members.get("revision") != nil && members.get("messages") != nil {
		return &FormatError{Line: line, Err: ErrThread}
	}
	return &FormatError{Line: line, Err: errors.New("want events, but the object has neither a type nor a stream")}
}

// openHeads reads up to the first head or event, so that the first run's input is known.
func openHeads(s *heads) (*Recording, error) {
	r := &Recording{form: FormAgfold, src: s, timed: true}
	var read []Entry
	for {
		e, err := s.next()
		if err != nil && len(read) == 0 && err != io.EOF {
			return nil, err
		}
		if err != nil {
			s.err = err
			break
		}
		if read = append(read, e); e.Err == nil {
			break
		}
	}
	s.queue = read
	if n := len(read); n > 0 && read[n-1].Head != nil {
		r.input, r.warnings = read[n-1].Head.Input, read[n-1].Head.Warnings
	}
	return r, nil
}

// sniffDocument reads the rest and distinguishes an object with a stream from events that are spread over lines. text is
// what was read of its first line.
func sniffDocument(l *lines, text []byte, limit int) (*Recording, error) {
	line := l.line
	rest, err := io.ReadAll(io.LimitReader(l.r, max(0, maxDocument+1-int64(len(text)))))
	if err != nil {
		return nil, readError(err)
	}
	text = append(text, rest...)
	if err := tooLarge(len(text), maxDocument, line); err != nil {
		return nil, err
	}
	members, end, err := parseObject(nil, text)
	if !isStream(members) {
		fault, _ := errors.AsType[*jsontext.SyntaxError](err)
		if members.get("type") == nil && (fault == nil || !fault.IsCut(text)) {
			return nil, notEvents(members, line)
		}
		return &Recording{form: FormValues, src: &values{r: bytes.NewReader(text), limit: limit, line: line}}, nil
	}
	if i := jsontext.Space(text, end); err == nil && i < len(text) {
		err = jsontext.Unexpected(text, i, "nothing after the object")
	}
	return openObject(members, err, text, limit, line)
}

// openObject makes a recording of an object with a stream, which begins at a line. An error says where
// text is not a complete object; the events before that are still read.
func openObject(members object, err error, text []byte, limit, line int) (*Recording, error) {
	at := func(i int) int { return line + bytes.Count(text[:i], []byte("\n")) }
	events, _ := members.find("stream")
	if len(events.text) > 0 && events.text[0] != '[' {
		return nil, &FormatError{Line: at(events.start), Err: errors.New("stream is not an array of events")}
	}
	src := &values{r: bytes.NewReader(events.text), limit: limit, array: true, line: at(events.start), after: io.EOF}
	r := &Recording{form: FormObject, src: src}
	var fault *jsontext.SyntaxError
	if errors.As(err, &fault) {
		src.after = &FormatError{Line: at(fault.Offset), Err: err}
		if fault.IsCut(text) {
			src.after = &CutError{Line: at(fault.Offset)}
		}
	}
	if input, ok := members.find("input"); ok && !input.broken {
		if r.input, r.warnings, err = parseInput(input.text); err != nil {
			return nil, &FormatError{Line: at(input.start), Err: err}
		}
	}
	if client, ok := members.find("client"); ok && !client.broken {
		if v, err := state.Parse(client.text); err == nil {
			r.peer, _ = v.Get("maxProtocolVersion").AsString()
		}
	}
	return r, nil
}
