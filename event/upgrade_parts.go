package event

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// message converts a message, or a tool result, by converting its content parts. A binary part that mirrors a
// modern part is removed, since the two are one attachment, and the modern part takes over its filename (P-CMP-3).
func (c *conversion) message(v state.Value, path string) state.Value {
	content := v.Get("content")
	mirrored := mirroredParts(content)
	if len(mirrored) == 0 {
		return c.each(v, "content", path, c.part)
	}
	parts := make([]state.Value, 0, content.Len())
	for i, part := range content.Elements() {
		at := fmt.Sprintf("%s/content/%d", path, i)
		twin, ok := mirrored[i]
		switch {
		case ok && isBinary(part):
			c.warn("P-CMP-3", at, fmt.Sprintf("binary parts are retired: removed, because part %d is the same attachment", twin))
			continue
		case part.Kind() == state.KindObject:
			part = c.part(part, at)
		}
		if ok {
			part = withMetadata(part, binaryMetadata(content.Index(twin)))
		}
		parts = append(parts, part)
	}
	return v.With("content", state.Array(parts...))
}

// mirroredParts pairs the binary parts of a content with modern parts that have the same data or URL, in either
// order. Each index of a pair leads to the other. A part belongs to one pair at most.
func mirroredParts(content state.Value) map[int]int {
	if content.Kind() != state.KindArray {
		return nil
	}
	type medium struct{ kind, value string }
	modern := map[medium][]int{}
	binaries := 0
	for i, part := range content.Elements() {
		if isBinary(part) {
			binaries++
			continue
		}
		source := part.Get("source")
		kind, _ := source.Get("type").AsString()
		if value, _ := source.Get("value").AsString(); value != "" {
			modern[medium{kind, value}] = append(modern[medium{kind, value}], i)
		}
	}
	if binaries == 0 || len(modern) == 0 {
		return nil
	}
	pairs := map[int]int{}
	for i, part := range content.Elements() {
		if !isBinary(part) {
			continue
		}
		for _, kind := range []messages.SourceType{messages.SourceData, messages.SourceURL} {
			value, _ := part.Get(string(kind)).AsString()
			m := medium{string(kind), value}
			if twins := modern[m]; value != "" && len(twins) > 0 {
				pairs[i], pairs[twins[0]] = twins[0], i
				modern[m] = twins[1:]
				break
			}
		}
	}
	return pairs
}

func isBinary(part state.Value) bool {
	kind, _ := part.Get("type").AsString()
	return kind == "binary"
}

// binaryMetadata returns the metadata that a modern part has in place of the metadata and the filename of a binary
// part, absent if there is none.
func binaryMetadata(binary state.Value) state.Value {
	metadata := binary.Get("metadata")
	if metadata.Kind() == state.KindNull {
		metadata = state.Value{}
	}
	if name, _ := binary.Get("filename").AsString(); name != "" {
		if metadata.Kind() != state.KindObject {
			metadata = state.Object()
		}
		metadata = metadata.With("filename", state.String(name))
	}
	return metadata
}

// withMetadata returns part with those members of more that its metadata lacks. Metadata that is not an object
// stays as it is.
func withMetadata(part, more state.Value) state.Value {
	metadata := part.Get("metadata")
	switch {
	case more.Kind() != state.KindObject || metadata.Exists() && metadata.Kind() != state.KindObject:
		return part
	case !metadata.Exists():
		return part.With("metadata", more)
	}
	for key, value := range more.Members() {
		if !metadata.Get(key).Exists() {
			metadata = metadata.With(key, value)
		}
	}
	return part.With("metadata", metadata)
}

func (c *conversion) part(v state.Value, path string) state.Value {
	kind, _ := v.Get("type").AsString()
	switch messages.PartType(kind) {
	case messages.PartImage, messages.PartAudio, messages.PartVideo, messages.PartDocument:
		return c.omitNull(v, "metadata", path)
	case "binary":
		return c.binary(v, path)
	}
	return v
}

// binary converts a legacy binary part (P-CMP-3).
func (c *conversion) binary(v state.Value, path string) state.Value {
	mime, ok := v.Get("mimeType").AsString()
	if !ok {
		return v
	}
	source := state.Value{}
	for _, kind := range []messages.SourceType{messages.SourceData, messages.SourceURL} {
		if s, _ := v.Get(string(kind)).AsString(); s != "" {
			source = state.Object(
				state.Member{Key: "type", Value: state.String(string(kind))},
				state.Member{Key: "value", Value: state.String(s)},
				state.Member{Key: "mimeType", Value: state.String(mime)})
			break
		}
	}
	if !source.Exists() {
		c.warn("P-CMP-3", path, "a binary part with neither data nor url cannot be converted")
		return v
	}
	kind := partTypeOf(mime)
	c.warn("P-CMP-3", path, "binary parts are retired: converted to "+string(kind))
	part := state.Object(
		state.Member{Key: "type", Value: state.String(string(kind))},
		state.Member{Key: "source", Value: source})
	if metadata := binaryMetadata(v); metadata.Exists() {
		part = part.With("metadata", metadata)
	}
	if id, ok := v.Get("id").AsString(); ok {
		part = part.With("id", state.String(id))
	}
	return part
}

// partTypeOf returns the kind of part that carries a medium of this type, whatever its case (RFC 2045,
// section 5.1).
func partTypeOf(mime string) messages.PartType {
	for _, kind := range []messages.PartType{messages.PartImage, messages.PartAudio, messages.PartVideo} {
		if prefix := string(kind) + "/"; len(mime) >= len(prefix) && strings.EqualFold(mime[:len(prefix)], prefix) {
			return kind
		}
	}
	return messages.PartDocument
}
