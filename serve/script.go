package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the script
	"encoding/hex"
	"net/http"
	"time"
)

//go:embed agfold.js
var scriptText []byte

var scriptTag = func() string {
	sum := sha256.Sum256(scriptText)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}()

// serveScript answers with agfold.js, which a page imports.
func serveScript(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "no-cache") // ask each time whether the tag still holds
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", scriptTag)
	http.ServeContent(w, r, scriptName, time.Time{}, bytes.NewReader(scriptText))
}
