package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// TokenUsage counts tokens of one provider and model. An absent count is unknown, not zero.
type TokenUsage struct {
	Provider              messages.Opt[string]
	Model                 messages.Opt[string]
	InputTokens           messages.Opt[int64]
	OutputTokens          messages.Opt[int64]
	TotalTokens           messages.Opt[int64]
	ReasoningTokens       messages.Opt[int64]
	CachedInputTokens     messages.Opt[int64]
	CacheWriteInputTokens messages.Opt[int64]
}

// numCounts is how many counts a TokenUsage has.
const numCounts = 6

var countNames = [numCounts]string{
	"inputTokens", "outputTokens", "totalTokens", "reasoningTokens", "cachedInputTokens", "cacheWriteInputTokens",
}

// counts returns the counts in the order of countNames.
func (u *TokenUsage) counts() [numCounts]*messages.Opt[int64] {
	return [...]*messages.Opt[int64]{
		&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.ReasoningTokens, &u.CachedInputTokens, &u.CacheWriteInputTokens,
	}
}

// SumUsage adds up usages, one sum for each provider and model in the order in which they first come. An
// absent provider or model is a separate one. A count is absent in the sum if it is absent in all that were
// added. Sums stop at 2^63-1. The result is nil if there are no usages.
func SumUsage(usages ...TokenUsage) []TokenUsage {
	type key struct{ provider, model messages.Opt[string] }
	var sums []TokenUsage
	index := map[key]int{}
	for _, u := range usages {
		k := key{u.Provider, u.Model}
		i, ok := index[k]
		if !ok {
			index[k] = len(sums)
			sums = append(sums, u)
			continue
		}
		added := u.counts()
		for j, sum := range sums[i].counts() {
			if n, ok := added[j].Get(); ok {
				*sum = messages.Some(addCapped(sum.Or(0), n))
			}
		}
	}
	return sums
}

// addCapped returns a + b, or the greatest int64 if that is beyond it.
func addCapped(a, b int64) int64 {
	if sum := a + b; a <= 0 || b <= 0 || sum > 0 {
		return sum
	}
	return 1<<63 - 1
}

func (u *TokenUsage) members(c *codec.Codec) {
	opt(c, "provider", &u.Provider)
	opt(c, "model", &u.Model)
	for i, count := range u.counts() {
		optInteger(c, countNames[i], count, 0)
	}
}

// MarshalJSON returns the usage as it looks on the wire. The error is always nil.
func (u TokenUsage) MarshalJSON() ([]byte, error) { return marshal(&u, (*TokenUsage).members) }

// UnmarshalJSON reads a usage in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (u *TokenUsage) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "TokenUsage", (*TokenUsage).members, u)
}
