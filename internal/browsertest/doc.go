// Package browsertest drives the page of examples/bff, and agfold.js with it, in a real browser. Its tests need Chromium, by
// the name chromium; they are skipped if there is none.
package browsertest
