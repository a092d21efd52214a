package reducer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func TestDataThatIsNotAnEvent(t *testing.T) {
	done := new(event.Framer).Frame([]byte("[DONE]"))
	for _, row := range []struct {
		name, before, after string
		rejected            int // its ordinal, 0 if it is dropped
		status              reducer.Status
	}{
		{"P-PIPE-2 before a run it rejects the stream", "", "run | done", 1, reducer.Rejected},
		{"P-PIPE-2 in a run it rejects the stream", "run | text m", "done", 3, reducer.Rejected},
		{"P-PIPE-2 in a later run it rejects the stream", "run | done | run r2", "done r2", 4, reducer.Rejected},
		{"P-PIPE-2 after a run it is dropped with a warning", "run | done", "", 0, reducer.Succeeded},
		{"P-PIPE-2 after a run that failed it is dropped with a warning", `run | {"type":"RUN_ERROR","message":"no"}`, "", 0, reducer.Failed},
		{"P-PIPE-2 after a run the next one may follow", "run | done", "run r2 | done r2", 0, reducer.Succeeded},
	} {
		t.Run(row.name, func(t *testing.T) {
			var warnings []event.Warning
			r := reducer.New(&reducer.Options{OnWarning: func(w event.Warning) { warnings = append(warnings, w) }})
			before := parse(t, row.before)
			var err error
			for _, ev := range append(append(before, done), parse(t, row.after)...) {
				if err = r.Apply(ev); err != nil {
					break
				}
			}
			assert.Equal(t, row.status, r.End(nil).Status())
			if row.rejected == 0 {
				require.NoError(t, err)
				require.Len(t, warnings, 1)
				assert.Equal(t, "P-PIPE-2", warnings[0].Rule)
				assert.Equal(t, len(before)+1, warnings[0].Ordinal)
				assert.Contains(t, warnings[0].Text, "[DONE]")
				return
			}
			var malformed *messages.MalformedError
			require.ErrorAs(t, err, &malformed)
			assert.Equal(t, "P-PIPE-2", malformed.Rule)
			assert.Equal(t, row.rejected, malformed.Ordinal)
			assert.Contains(t, malformed.Found, "[DONE]")
		})
	}
}
