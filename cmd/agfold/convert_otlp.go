package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/agfold/agfold/cmd/agfold/internal/otlp"
	"github.com/agfold/agfold/spans"
)

// traces prints a recording as traces.
func (f *convertFlags) traces(ctx context.Context, t *terminal, src *source) int {
	var out io.Writer = &recordingWriter{out: t.stdout}
	if f.JSON {
		out = io.Discard
	}
	w := otlp.NewWriter(out, version())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	times, err := spans.Recording(ctx, src.rec, &checked{w, cancel}, &spans.Options{ContentBytes: f.Content})
	if f.JSON {
		text, _ := json.Marshal(struct {
			Form   string      `json:"form"`
			Traces int         `json:"traces"`
			Spans  int         `json:"spans"`
			Times  spans.Times `json:"times"`
		}{"otlp", w.Traces, w.Spans, times})
		t.stdout.JSON(text)
	}
	if failed := errors.Join(w.Err(), t.stdout.Flush()); failed != nil {
		return t.written(failed)
	}
	if times == spans.TimesInvented && w.Spans > 0 {
		t.say("agfold: %s: it has no times: the spans are in order, but their durations mean nothing", f.File)
	}
	return sourceVerdict(ctx, t, f.File, w.Spans, err)
}

// checked is a sink that stops the reading when nothing more can be written.
type checked struct {
	*otlp.Writer
	stop context.CancelCauseFunc
}

func (c *checked) Ended(s *spans.Span) {
	if c.Writer.Ended(s); c.Err() != nil {
		c.stop(c.Err())
	}
}
