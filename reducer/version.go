package reducer

import (
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/version"
	"github.com/agfold/agfold/messages"
)

// checkVersion warns of a peer that speaks a newer protocol than ours, or whose version cannot be read (P-VRS-1).
func (d *draft) checkVersion(declared messages.Opt[string]) {
	v, ok := declared.Get()
	switch {
	case !ok:
	case !version.Valid(v) || strings.Count(v, ".") != 1:
		d.in.warn("P-VRS-1", "/protocolVersion", "the version "+quote(v)+" is not of the form digits.digits")
	case version.Compare(v, event.ProtocolVersion) > 0:
		d.in.warn("P-VRS-1", "/protocolVersion", "the producer speaks version "+v+", newer than "+
			event.ProtocolVersion+"; what is new in it is dropped")
	}
}
