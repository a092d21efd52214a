package messages

import (
	"slices"
	"strings"
)

// Content is what a message says: absent (the zero Content), a text, or a list of parts. It is
// immutable and safe for concurrent use.
type Content struct {
	form  contentForm
	text  string // of formText, and of the last part of formGrown
	parts []Part
}

type contentForm uint8

const (
	formAbsent contentForm = iota
	formText
	formParts
	formGrown // parts, the last of which is a text part whose text is Content.text instead of its own
)

// Text returns content that is the text s, which may be empty.
func Text(s string) Content { return Content{form: formText, text: s} }

// Parts returns content that is a list of parts, which may be empty. It keeps parts: the caller must not
// change the slice afterwards.
func Parts(parts ...Part) Content {
	return Content{form: formParts, parts: parts[:len(parts):len(parts)]}
}

// Exists reports whether there is content at all, even if it is an empty text or list. Only an assistant
// message may be without.
func (c Content) Exists() bool { return c.form != formAbsent }

// IsParts reports whether the content is a list of parts.
func (c Content) IsParts() bool { return c.form >= formParts }

// Parts returns the parts, which the caller must not change; nil if the content is not a list of parts. It costs a
// copy of the list if text has been streamed to the last part.
func (c Content) Parts() []Part {
	if c.form != formGrown {
		return c.parts
	}
	parts := slices.Clone(c.parts)
	parts[len(parts)-1].Text = c.text
	return parts
}

// Text returns the text whatever the form: the text itself, or the texts of the text parts joined by
// newlines, or "" when there is none.
func (c Content) Text() string {
	if c.form < formParts {
		return c.text
	}
	var texts []string
	for _, p := range c.Parts() {
		if p.Type == PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// WithLastText returns content whose text, or whose trailing text part, is s. A list that does not end
// in a text part gets one. The fold uses it to append streamed text to whatever form a message has, so
// that no part is lost (P-TXT-1, D-5). For a list that ends in a text part it takes constant time.
func (c Content) WithLastText(s string) Content {
	if c.form < formParts {
		return Text(s)
	}
	if n := len(c.parts); n == 0 || c.parts[n-1].Type != PartText {
		c.parts = append(c.parts, Part{Type: PartText}) // a copy: Parts leaves no room
	}
	c.form, c.text = formGrown, s
	return c
}

// LastText returns the text, or the text of the trailing text part; "" if the list does not end in one.
// It is what WithLastText replaces.
func (c Content) LastText() string {
	if c.form != formParts {
		return c.text
	}
	if n := len(c.parts); n > 0 && c.parts[n-1].Type == PartText {
		return c.parts[n-1].Text
	}
	return ""
}

// PartType is the kind of a content part, a closed set: another kind is an unrecognized union member
// (P-ENF-3).
type PartType string

// The kinds of content part.
const (
	PartText     PartType = "text"
	PartImage    PartType = "image"
	PartAudio    PartType = "audio"
	PartVideo    PartType = "video"
	PartDocument PartType = "document"
)

// Part is one part of a message's content: a text, or a medium with its source.
type Part struct {
	Type     PartType
	ID       Opt[string]
	Text     string   // of a text part
	Source   Source   // of the other parts
	Metadata Metadata // any JSON value but null, or absent
}

// TextPart returns a text part.
func TextPart(text string) Part { return Part{Type: PartText, Text: text} }

// MediaPart returns an image, audio, video or document part.
func MediaPart(kind PartType, source Source) Part { return Part{Type: kind, Source: source} }

// SourceType is the kind of a medium's source, a closed set (P-ENF-3).
type SourceType string

// The kinds of source.
const (
	SourceData SourceType = "data" // Value is base64, MIMEType is required
	SourceURL  SourceType = "url"  // Value is a URL
	SourceFile SourceType = "file" // Value is a provider's opaque handle, never fetched or parsed
)

// Source says where a medium's bytes are.
type Source struct {
	Type     SourceType
	Value    string
	MIMEType Opt[string]
	Provider Opt[string] // of a file source only
}
