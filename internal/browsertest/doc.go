// Package browsertest drives the pages of examples/bff, and agfold.js with it, and of examples/htmx in a real browser. Its tests
// need Chromium, by the name chromium; they are skipped if there is none.
package browsertest
