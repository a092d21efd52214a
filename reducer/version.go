package reducer

import (
	"cmp"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// checkVersion warns of a peer that speaks a newer protocol than ours, or says so unintelligibly
// (P-VRS-1).
func (d *draft) checkVersion(declared messages.Opt[string]) {
	version, ok := declared.Get()
	if !ok {
		return
	}
	order, ok := compareVersions(version, event.ProtocolVersion)
	switch {
	case !ok:
		d.in.warn("P-VRS-1", "/protocolVersion", "the version "+quote(version)+" is not of the form digits.digits")
	case order > 0:
		d.in.warn("P-VRS-1", "/protocolVersion", "the producer speaks version "+version+", newer than "+
			event.ProtocolVersion+"; what is new in it is dropped")
	}
}

// compareVersions compares two versions numerically by component, and reports whether both are of the form
// digits.digits.
func compareVersions(a, b string) (order int, ok bool) {
	aMajor, aMinor, _ := strings.Cut(a, ".")
	bMajor, bMinor, _ := strings.Cut(b, ".")
	if !isDigits(aMajor) || !isDigits(aMinor) || !isDigits(bMajor) || !isDigits(bMinor) {
		return 0, false
	}
	return cmp.Or(compareDigits(aMajor, bMajor), compareDigits(aMinor, bMinor)), true
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
