package entry

import (
	"bytes"
	"errors"

	"github.com/agfold/agfold/internal/feed"
)

// Checkpoint is a replica at one moment, to be stored. It is immutable.
type Checkpoint struct {
	Header Header
	base   feed.Snapshot
	lines  []byte
	holder string
	closed bool
}

// Checkpoint returns the replica as it is now, false if it cannot be stored: it does not have all entries of the open
// stream, or the log has a gap.
func (r *Replica) Checkpoint() (*Checkpoint, bool) {
	if r.Gap != "" || r.open && (r.excess || !r.KeepOpen) {
		return nil, false
	}
	c := &Checkpoint{Header: Header{Form: checkpointForm, Token: r.Token, First: r.Next}, base: r.Snapshot(), holder: r.Holder, closed: r.Closed}
	if r.open {
		c.base, c.lines = r.base, r.lines[:len(r.lines):len(r.lines)]
	}
	return c, true
}

// Append appends the entries that make the replica: the thread as it was before the open stream, and what that has brought.
func (c *Checkpoint) Append(dst []byte) []byte {
	dst = AppendOpen(dst, c.holder)
	dst = AppendThread(dst, c.base)
	dst = append(dst, c.lines...)
	if c.closed {
		dst = AppendClose(dst)
	}
	return dst
}

// Restore returns the replica that a checkpoint was made of.
func Restore(h Header, entries []byte) (*Replica, error) {
	if !h.Checkpoint() {
		return nil, errors.New("it is not a checkpoint")
	}
	r := new(Replica)
	for line := range bytes.Lines(entries) {
		if err := r.Apply(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
			return nil, err
		}
	}
	r.Token, r.Next = h.Token, h.First
	return r, nil
}
