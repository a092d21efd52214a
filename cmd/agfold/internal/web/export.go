package web

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/agfold/agfold/internal/feed"
)

// maxExport bounds what is exported: a browser does not read a larger file.
const maxExport = 256 << 20

// export answers with the page and the log in one file, once a recording has been read.
func (l *log) export(w http.ResponseWriter, r *http.Request) {
	for now, grown := l.about(); now.Mode == modeRecording && !now.Done; now, grown = l.about() { // all of it
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
	}
	parts, err := single()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var size int64
	l.read(func() { size = l.size() })
	if size > maxExport {
		http.Error(w, fmt.Sprintf("the recording takes %d MiB; a file may have %d", size>>20, maxExport>>20), http.StatusRequestEntityTooLarge)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": l.fileName()}))
	if _, err := io.WriteString(w, parts[0]); err != nil {
		return // the client is gone
	}
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	packed := gzip.NewWriter(encoder)
	if l.writeData(packed) != nil || packed.Close() != nil || encoder.Close() != nil {
		return
	}
	_, _ = io.WriteString(w, parts[1])
}

// fileName is a name for the exported file.
func (l *log) fileName() string {
	name := strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '-'
		}
		return c
	}, l.name)
	return short(name) + ".html"
}

// writeData writes what page/source.js reads of an exported file, as JSON.
func (l *log) writeData(w io.Writer) error {
	var shape, trouble []byte
	var first feed.Snapshot
	about, _ := l.about()
	l.read(func() {
		about.Length = len(l.entries)
		if len(l.checkpoints) > 0 {
			first = l.checkpoints[0]
		}
		shape, trouble = l.shape.appendJSON(nil, 0), l.trouble.appendJSON(nil)
	})
	about.Mode, about.Done = modeExport, true
	head, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"about":%s,"view":%s,"shape":%s,"trouble":%s,"rules":{}`, head, feed.AppendView(nil, first), shape, trouble); err != nil {
		return err
	}
	err = list(w, "rows", about.Length, func(from, to int) (any, error) { return l.rows(from, to), nil })
	if err != nil {
		return err
	}
	err = list(w, "events", about.Length, func(from, to int) (any, error) {
		events := make([]eventOf, 0, to-from+1)
		for n := from; n <= to; n++ {
			e, _ := l.event(n)
			if e.plain {
				e.Delivered = nil // the text as it came is the same
			}
			events = append(events, e)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	n := 0
	return list(w, "changes", about.Length, func(from, to int) (any, error) { // fewer than asked for if they are large
		var all []json.RawMessage
		for n = from - 1; n < to; {
			var some []json.RawMessage
			if err := json.Unmarshal(l.appendChanges(nil, n, to), &some); err != nil {
				return nil, err
			}
			all = append(all, some...)
			n += len(some)
		}
		return all, nil
	}, "}")
}

// list writes a member with a list of n elements, which get returns in blocks, and what follows it.
func list(w io.Writer, name string, n int, get func(from, to int) (any, error), after ...string) error {
	if _, err := fmt.Fprintf(w, `,"%s":[`, name); err != nil {
		return err
	}
	const block = 1024
	for from := 1; from <= n; from += block {
		some, err := get(from, min(from+block-1, n))
		if err != nil {
			return err
		}
		text, err := json.Marshal(some)
		if err != nil {
			return err
		}
		text = text[1 : len(text)-1]
		if from > 1 {
			text = append([]byte{','}, text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]"+strings.Join(after, ""))
	return err
}
