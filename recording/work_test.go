package recording

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a run costs, with what its client said before, does not depend on the messages before it.
func TestARunCostsTheSameAfterManyMessages(t *testing.T) {
	measure := func(n int) (allocs, bytes float64) {
		var said, runs strings.Builder
		for i := range n {
			fmt.Fprintf(&said, `,{"id":"m%d","role":"user","content":"hello"}`, i)
		}
		const heads = 200
		for i := range heads {
			runs.WriteString(head("r", fmt.Sprintf(`{"id":"u%d","role":"user","content":"hello"},{"id":"t%d","role":"tool","toolCallId":"c%d","content":""}`, i, i, i-1), fmt.Sprintf(`{"n":%d}`, i)))
			runs.WriteString(timed(started, fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"f"}`, i),
				fmt.Sprintf(`{"type":"TOOL_CALL_END","toolCallId":"c%d"}`, i), finished))
		}
		f, _ := fold(t, head("r", said.String()[1:], "{}")+timed(started, finished)+runs.String(), false)
		read := 0
		var before, after runtime.MemStats
		for _, err := range f.Deliveries() {
			require.NoError(t, err)
			if read++; read == 3 { // in the first of the small runs
				runtime.ReadMemStats(&before)
			}
		}
		th := f.End(nil)
		runtime.ReadMemStats(&after)
		require.NoError(t, f.Err())
		require.Equal(t, n+3*heads, th.Messages.Len())
		return float64(after.Mallocs-before.Mallocs) / heads, float64(after.TotalAlloc-before.TotalAlloc) / heads
	}
	fewAllocs, fewBytes := measure(1000)
	manyAllocs, manyBytes := measure(20_000)
	t.Logf("1,000 messages: %.0f allocs, %.0f bytes; 20,000: %.0f allocs, %.0f bytes", fewAllocs, fewBytes, manyAllocs, manyBytes)
	assert.Less(t, manyAllocs, fewAllocs+50)
	assert.Less(t, manyBytes, 1.5*fewBytes+4000)
}
