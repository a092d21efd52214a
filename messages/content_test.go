package messages

import (
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
)

func TestContentForms(t *testing.T) {
	image := MediaPart(PartImage, Source{Type: SourceURL, Value: "u"})
	for _, tc := range []struct {
		name            string
		content         Content
		exists, isParts bool
		text, lastText  string
		json            string
	}{
		{"absent", Content{}, false, false, "", "", `null`},
		{"empty text", Text(""), true, false, "", "", `""`},
		{"text", Text("a\n"), true, false, "a\n", "a\n", `"a\n"`},
		{"no parts", Parts(), true, true, "", "", `[]`},
		{"one text part", Parts(TextPart("a")), true, true, "a", "a", `[{"type":"text","text":"a"}]`},
		{"texts are joined by newlines", Parts(TextPart("a"), image, TextPart("b")), true, true, "a\nb", "b",
			`[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","text":"b"}]`},
		{"a list that does not end in text", Parts(TextPart("a"), image), true, true, "a", "", `[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.exists, tc.content.Exists())
			assert.Equal(t, tc.isParts, tc.content.IsParts())
			assert.Equal(t, tc.text, tc.content.Text())
			assert.Equal(t, tc.lastText, tc.content.LastText())
			assert.Equal(t, tc.json, string(jsonOf(tc.content)))
			if !tc.isParts {
				assert.Nil(t, tc.content.Parts())
			}
		})
	}
}

func TestWithLastText(t *testing.T) {
	image := MediaPart(PartImage, Source{Type: SourceURL, Value: "u"})
	noted := Part{Type: PartText, ID: Some("p"), Text: "a", Metadata: MetadataOf(state.Member{Key: "k", Value: state.Int(1)})}
	for _, tc := range []struct {
		name      string
		from, got Content
	}{
		{"P-TXT-1 absent content becomes text", Content{}.WithLastText("x"), Text("x")},
		{"P-TXT-1 text is replaced", Text("a").WithLastText("x"), Text("x")},
		{"D-5 an empty list gets a text part", Parts().WithLastText("x"), Parts(TextPart("x"))},
		{"D-5 a list that ends in a medium gets a text part", Parts(image).WithLastText("x"), Parts(image, TextPart("x"))},
		{"D-5 a trailing text part keeps its id and metadata", Parts(image, noted).WithLastText("x"),
			Parts(image, Part{Type: PartText, ID: noted.ID, Text: "x", Metadata: noted.Metadata})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.True(t, tc.got.Equal(tc.from))
			assert.False(t, tc.got.Equal(tc.from.WithLastText("y")))
			assert.Equal(t, tc.got.IsParts(), tc.from.IsParts())
			assert.Equal(t, tc.got.Parts(), tc.from.Parts())
			assert.Equal(t, tc.got.Text(), tc.from.Text())
			assert.Equal(t, tc.got.LastText(), tc.from.LastText())
			assert.Equal(t, string(jsonOf(tc.got)), string(jsonOf(tc.from)))
		})
	}

	old := Parts(image, TextPart("a"))
	old.WithLastText("x")
	assert.Equal(t, "a", old.LastText(), "the old content stays as it is")
	short := []Part{image, TextPart("a")}
	first := Parts(short[:1]...)
	first.WithLastText("x")
	assert.Equal(t, "a", short[1].Text, "appending does not write past the list")
}
