package emit

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A Scope is a [Run], [Step] or [Subagent], in which the others are opened. What is opened in a scope has the scope's owner,
// the agent itself or a subagent, and is closed with it, the last opened first. If the scope is closed already, what is
// opened in it is closed from the beginning. It may be used from several goroutines.
type Scope struct {
	r      *core
	owner  messages.Owner
	part   part    // its place in the scope around it, none for a run
	inside []*part // what is open in it, in the order of opening; nil for what was closed out of turn
	gaps   int     // how many are nil
	closed bool
}

// part is what is open in a scope.
type part struct {
	scope *Scope
	at    int    // its place in scope.inside
	close func() // sends what closes it, with all in it; needs the mutex
	inner *Scope // of a step or a subagent
	step  *Step
	why   error // it was not opened
}

// isClosed reports whether the part was closed or never opened.
func (p *part) isClosed() bool { return p.scope == nil }

// open begins a part with an event. On an error it is closed.
func (s *Scope) open(p *part, ev event.Event, close func()) error {
	if p.why = s.r.over(nil); !s.closed {
		p.why = s.r.emit(ev)
	}
	if p.why != nil {
		return p.why
	}
	p.scope, p.at, p.close = s, len(s.inside), close
	s.inside = append(s.inside, p)
	return nil
}

// leave takes a part out of its scope.
func (p *part) leave() {
	s := p.scope
	if s == nil {
		return
	}
	p.scope = nil
	s.inside[p.at] = nil
	s.gaps++
	for n := len(s.inside); n > 0 && s.inside[n-1] == nil; n-- {
		s.inside = s.inside[:n-1]
		s.gaps--
	}
	if s.gaps > 16 && s.gaps > len(s.inside)/2 {
		kept := s.inside[:0]
		for _, p := range s.inside {
			if p != nil {
				p.at = len(kept)
				kept = append(kept, p)
			}
		}
		clear(s.inside[len(kept):])
		s.inside, s.gaps = kept, 0
	}
}

// shut closes a part, unless it is closed.
func (p *part) shut() {
	if !p.isClosed() {
		p.close()
		p.leave()
	}
}

// closeAll closes what is open in the scope, the last opened first.
func (s *Scope) closeAll() {
	s.closed = true
	for len(s.inside) > 0 {
		s.inside[len(s.inside)-1].shut()
	}
}

// endSteps ends the steps that are open in the scope, for a run that fails, and nothing else.
func (s *Scope) endSteps() {
	s.closed = true
	for i := len(s.inside) - 1; i >= 0; i-- {
		p := s.inside[i]
		if p == nil {
			continue
		}
		if p.inner != nil {
			p.inner.endSteps()
		}
		if p.step != nil {
			p.step.finish()
		}
	}
}

// closePart closes a part on behalf of its handle. It returns the error of a run that cannot send any more.
func (r *core) closePart(p *part) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.isClosed() {
		return nil
	}
	p.shut()
	return r.stopped
}

func (s *Scope) by() event.Attribution { return event.By(s.owner) }

// Say sends a whole message of the assistant.
func (s *Scope) Say(text string) error {
	t := s.Text(nil)
	_, err := t.WriteString(text)
	if closing := t.Close(); err == nil {
		err = closing
	}
	return err
}

// Think sends a whole reasoning message.
func (s *Scope) Think(text string) error {
	t := s.Reasoning(nil)
	_, err := t.WriteString(text)
	if closing := t.Close(); err == nil {
		err = closing
	}
	return err
}

// Custom sends a CUSTOM event, which agent and client have agreed on. value is any value that can be encoded as JSON.
func (s *Scope) Custom(name string, value any) error {
	v, err := state.Of(value)
	if err != nil {
		return err
	}
	return s.emit(&event.Custom{Attribution: s.by(), Name: name, Value: v})
}

// Raw passes on an event of the agent's own system, any value that can be encoded as JSON. source says where it comes from; "" does not.
func (s *Scope) Raw(ev any, source string) error {
	v, err := state.Of(ev)
	if err != nil {
		return err
	}
	raw := &event.Raw{Attribution: s.by(), Event: v}
	if source != "" {
		raw.Source = messages.Some(source)
	}
	return s.emit(raw)
}

// emit sends an event that opens and closes nothing.
func (s *Scope) emit(ev event.Event) error {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.closed {
		return s.r.over(nil)
	}
	return s.r.emit(ev)
}

// over returns the error of a part that is closed: why the run cannot send any more, or why the part was not opened. It
// needs the mutex.
func (r *core) over(p *part) error {
	switch {
	case r.stopped != nil:
		return r.stopped
	case p != nil && p.why != nil:
		return p.why
	}
	return ErrClosed
}
