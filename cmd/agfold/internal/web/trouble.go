package web

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// trouble is what went wrong in a log.
type trouble struct{}

func newTrouble() *trouble { return new(trouble) }

func (t *trouble) step(st step) {}

func (t *trouble) warn(w event.Warning, n int) {}

func (t *trouble) entry(e recording.Entry, ordinal int) {}

func (t *trouble) end(th *reducer.Thread, err error) {}

func (t *trouble) appendJSON(dst []byte) []byte { return append(dst, `{}`...) }
