// Package drift compares what agfold knows of the protocol with the schemas of the newest published @ag-ui/core: the event
// types, their members, and closed sets of strings. Its test installs the package with npm into a temporary folder, and runs if
// AGFOLD_DRIFT is set:
//
//	AGFOLD_DRIFT=1 go test -C internal/drift .
package drift
