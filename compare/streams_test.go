package compare_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/compare"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

// What a stream ended with counts as an event.
func TestStreamsThatEndWithDifferentErrors(t *testing.T) {
	recorded := func(err error) *recording.Recording {
		var b bytes.Buffer
		w := recording.NewWriter(&b)
		agent := client.Chain(client.AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				_ = yield(&event.RunStarted{ThreadID: "t", RunID: "r"}, nil) && yield(nil, err)
			}
		}), client.Record(w))
		for range agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
		}
		require.NoError(t, w.Close())
		rec, err := recording.Open(&b, nil)
		require.NoError(t, err)
		return rec
	}
	same, err := compare.Streams(recorded(errors.New("cut")), recorded(errors.New("cut")), nil)
	require.NoError(t, err)
	assert.Nil(t, same)
	d, err := compare.Streams(recorded(errors.New("cut")), recorded(errors.New("no connection")), nil)
	require.NoError(t, err)
	require.NotNil(t, d)
	assert.Equal(t, "/error", d.Path)
}
