package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWarningIsOneLine(t *testing.T) {
	assert.Equal(t, "P-ENF-2 event 7 RAW /x: removed", Warning{"P-ENF-2", 7, "RAW", "/x", "removed"}.String())
	assert.Equal(t, "P-TXT-2: skipped", Warning{Rule: "P-TXT-2", Text: "skipped"}.String())
}

func TestWarningJSON(t *testing.T) {
	assert.Equal(t, `{"rule":"P-ENF-2","ordinal":7,"type":"RAW","path":"/x","text":"a \"word\""}`,
		string(jsonOf(Warning{"P-ENF-2", 7, "RAW", "/x", `a "word"`})))
}
