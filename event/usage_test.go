package event

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
)

func TestSumUsage(t *testing.T) {
	count := messages.Some[int64]
	a, b := messages.Some("a"), messages.Some("b")
	for _, tc := range []struct {
		name     string
		in, want []TokenUsage
	}{
		{"nothing has no sum", nil, nil},
		{"one is its own sum", []TokenUsage{{Provider: a}}, []TokenUsage{{Provider: a}}},
		{"one sum for each provider and model, in the order in which they first come",
			[]TokenUsage{{Provider: b, InputTokens: count(1)}, {Provider: a, Model: a, InputTokens: count(2)}, {Provider: b, InputTokens: count(3)}, {Provider: a, Model: b}},
			[]TokenUsage{{Provider: b, InputTokens: count(4)}, {Provider: a, Model: a, InputTokens: count(2)}, {Provider: a, Model: b}}},
		{"an absent provider differs from an empty one",
			[]TokenUsage{{OutputTokens: count(1)}, {Provider: messages.Some(""), OutputTokens: count(2)}},
			[]TokenUsage{{OutputTokens: count(1)}, {Provider: messages.Some(""), OutputTokens: count(2)}}},
		{"absent and absent is absent, absent and zero is zero",
			[]TokenUsage{{TotalTokens: count(0)}, {ReasoningTokens: count(5)}, {}},
			[]TokenUsage{{TotalTokens: count(0), ReasoningTokens: count(5)}}},
		{"all six are added",
			[]TokenUsage{
				{InputTokens: count(1), OutputTokens: count(2), TotalTokens: count(3), ReasoningTokens: count(4), CachedInputTokens: count(5), CacheWriteInputTokens: count(6)},
				{InputTokens: count(10), OutputTokens: count(20), TotalTokens: count(30), ReasoningTokens: count(40), CachedInputTokens: count(50), CacheWriteInputTokens: count(60)}},
			[]TokenUsage{{InputTokens: count(11), OutputTokens: count(22), TotalTokens: count(33), ReasoningTokens: count(44), CachedInputTokens: count(55), CacheWriteInputTokens: count(66)}}},
		{"sums stop at the greatest number",
			[]TokenUsage{{InputTokens: count(math.MaxInt64)}, {InputTokens: count(1)}},
			[]TokenUsage{{InputTokens: count(math.MaxInt64)}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, SumUsage(tc.in...))
		})
	}
}

func TestSumUsageLeavesItsArgumentsAlone(t *testing.T) {
	in := []TokenUsage{{InputTokens: messages.Some[int64](1)}, {InputTokens: messages.Some[int64](2)}}
	SumUsage(in...)
	assert.Equal(t, []TokenUsage{{InputTokens: messages.Some[int64](1)}, {InputTokens: messages.Some[int64](2)}}, in)
}

func TestUsageJSON(t *testing.T) {
	const text = `{"provider":"p","model":"m","inputTokens":0,"outputTokens":1,"totalTokens":2,"reasoningTokens":3,"cachedInputTokens":4,"cacheWriteInputTokens":5}`
	var u TokenUsage
	require.NoError(t, u.UnmarshalJSON([]byte(text)))
	assert.Equal(t, messages.Some[int64](3), u.ReasoningTokens)
	assert.Equal(t, text, string(jsonOf(u)))
	assert.Equal(t, `{}`, string(jsonOf(TokenUsage{})))
}
