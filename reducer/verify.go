package reducer

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

func quote(s string) string { return strconv.Quote(s) }

// violation makes the error of the event that is being judged.
func (r *Reducer) violation(rule, id, reason string) error {
	return &Violation{Rule: rule, Ordinal: r.ordinal, Type: r.typ, ID: id, Reason: reason}
}

// admissible carries out P-VER-1: which events the stream may go on with.
func (r *Reducer) admissible(t event.Type) error {
	if r.run.phase == phaseActive || t == event.TypeRunStarted {
		return nil
	}
	switch {
	case r.run.phase == phaseErrored:
		return r.violation("P-VER-1", r.currentRunID(), "the run has failed; only RUN_STARTED may follow")
	case t == event.TypeRunError:
		return nil
	case r.run.phase == phaseFinished:
		return r.violation("P-VER-1", r.currentRunID(), "the run has finished; only RUN_STARTED or RUN_ERROR may follow")
	}
	return r.violation("P-VER-1", "", "the first event must be RUN_STARTED or RUN_ERROR")
}

// sameOwner carries out P-VER-5: a tag must name the entity's owner if this run knows it; no tag is fine.
func (r *Reducer) sameOwner(l *lifetime, id string, tag messages.Owner) error {
	if tag.IsParent() || l.ownedIn != r.run.seq || l.owner == tag {
		return nil
	}
	return r.violation("P-VER-5", id, "it is tagged "+ownerName(tag)+" but belongs to "+ownerName(l.owner))
}

// open carries out P-VER-2 and 5 for a START.
func (r *Reducer) open(ns namespace, l *lifetime, id string, tag messages.Owner) error {
	if l.openIn == r.run.seq {
		return r.violation("P-VER-2", id, "a "+namespaceNames[ns]+" with that id is already open")
	}
	if err := r.sameOwner(l, id, tag); err != nil {
		return err
	}
	r.openings++
	l.openIn, l.opened = r.run.seq, r.openings
	if l.ownedIn != r.run.seq {
		l.own(r.run.seq, tag)
	}
	r.run.open[ns]++
	return nil
}

// goOn carries out P-VER-2 and 5 for what continues or closes; l is nil if the id is unknown.
func (r *Reducer) goOn(ns namespace, l *lifetime, id string, tag messages.Owner) error {
	if l == nil || l.openIn != r.run.seq {
		return r.violation("P-VER-2", id, "no "+namespaceNames[ns]+" with that id is open")
	}
	return r.sameOwner(l, id, tag)
}

// shut is goOn for an END.
func (r *Reducer) shut(ns namespace, l *lifetime, id string, tag messages.Owner) error {
	if err := r.goOn(ns, l, id, tag); err != nil {
		return err
	}
	l.openIn = 0
	r.run.open[ns]--
	return nil
}

// nothingOpen carries out P-VER-3.
func (r *Reducer) nothingOpen(runID string) error {
	if len(r.run.steps) > 0 {
		for _, s := range r.runs.At(r.runs.Len() - 1).Steps.All() {
			if !s.Finished {
				return r.violation("P-VER-3", runID, "the step "+quote(s.Name)+" of "+ownerName(s.Owner)+" is still open")
			}
		}
	}
	for ns := range numNamespaces {
		if r.run.open[ns] > 0 {
			return r.violation("P-VER-3", runID, "the "+namespaceNames[ns]+" "+quote(r.firstOpen(ns))+" is still open")
		}
	}
	if len(r.run.active) > 0 {
		first := r.nodes.Len()
		for _, i := range r.run.active {
			first = min(first, i)
		}
		return r.violation("P-VER-3", runID, ownerName(r.nodes.At(first).RunID)+" is still active")
	}
	return nil
}

// firstOpen returns the id that was opened first among those still open. It runs once a stream at most.
func (r *Reducer) firstOpen(ns namespace) string {
	var first string
	opened := r.openings + 1
	look := func(id string, l *lifetime) {
		if l.openIn == r.run.seq && l.opened < opened {
			first, opened = id, l.opened
		}
	}
	switch ns {
	case reasoningSpans:
		for id, l := range r.run.spans {
			look(id, l)
		}
	case toolCalls:
		for id, c := range r.calls {
			look(id, &c.lifetime)
		}
	default:
		for id, e := range r.entries[kindOf[ns]] {
			look(id, &e.lifetime)
		}
		for k, e := range r.gone {
			if k.kind == kindOf[ns] {
				look(k.id, &e.lifetime)
			}
		}
	}
	return first
}
