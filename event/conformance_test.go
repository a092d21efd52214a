package event

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConformanceShapes judges the documents of the protocol's corpus, by the definition they are of: a
// valid one decodes without a word and encodes back to an equal document, an invalid one is malformed or
// holds something unrecognized (P-ENF-1 to 5).
func TestConformanceShapes(t *testing.T) {
	root := os.Getenv("AGFOLD_CONFORMANCE")
	if root == "" {
		t.Skip("AGFOLD_CONFORMANCE names no folder")
	}
	files, err := filepath.Glob(filepath.Join(root, "shapes", "*", "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		verdict := filepath.Base(filepath.Dir(file))
		definition := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t.Run(definition+"/"+verdict+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			encoded, warnings, err := judge(definition, data)
			if verdict == "invalid" {
				assert.True(t, err != nil || len(warnings) > 0, "neither an error nor a warning")
				if err != nil {
					assert.ErrorAs(t, err, new(*messages.MalformedError))
				}
				return
			}
			require.Equal(t, "valid", verdict)
			require.NoError(t, err)
			assert.Empty(t, warnings)
			want, err := state.Parse(data)
			require.NoError(t, err)
			got, err := state.Parse(encoded)
			require.NoError(t, err)
			assert.True(t, want.Equal(got), "want %s\ngot  %s", want, got)
		})
	}
}

// judge decodes a document of the definition and encodes it again.
func judge(definition string, data []byte) (encoded []byte, warnings []Warning, err error) {
	document, err := state.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	// What is not an event is put where it belongs in a run input, to see the warnings about it.
	in := state.Object(
		state.Member{Key: "threadId", Value: state.String("t")},
		state.Member{Key: "runId", Value: state.String("r")},
		state.Member{Key: "messages", Value: state.Array()})
	input := func(v state.Value, encode func(*RunInput) []byte) ([]byte, []Warning, error) {
		got, warnings, err := DecodeRunInput(v, nil)
		if err != nil || len(warnings) > 0 {
			return nil, warnings, err
		}
		return encode(got), nil, nil
	}
	switch definition {
	case "RunAgentInput":
		return input(document, func(in *RunInput) []byte { return in.AppendJSON(nil) })
	case "Tool":
		return input(in.With("tools", state.Array(document)), func(in *RunInput) []byte { return jsonOf(in.Tools[0]) })
	case "ResumeEntry":
		return input(in.With("resume", state.Array(document)), func(in *RunInput) []byte { return jsonOf(in.Resume[0]) })
	case "UserMessage", "ToolMessage":
		return input(in.With("messages", state.Array(document)), func(in *RunInput) []byte { return in.Messages[0].AppendJSON(nil) })
	case "Interrupt":
		var got Interrupt
		if err := got.UnmarshalJSON(data); err != nil {
			return nil, nil, err
		}
		return jsonOf(got), nil, nil
	}
	f, err := NewFrame(data)
	if err != nil {
		return nil, nil, err
	}
	ev, warnings, err := NewDecoder(nil).Decode(f)
	if err != nil || ev == nil {
		return nil, warnings, err
	}
	return jsonOf(ev), warnings, nil
}
