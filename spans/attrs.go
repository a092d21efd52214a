package spans

import (
	"encoding/json"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// The names of the attributes are written where they are set. What agents say may have this many bytes in them.
const (
	maxAttr  = 256
	maxName  = 128
	maxError = 1 << 10
)

// clip returns valid UTF-8 of at most max bytes.
func clip(s string, max int) string {
	if len(s) > max {
		for max > 0 && !utf8.RuneStart(s[max]) {
			max--
		}
		s = s[:max]
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD")) // it may be lent
}

// str is an attribute with something that the agent said.
func str(key, value string) slog.Attr { return slog.String(key, clip(value, maxAttr)) }

// named is the name of a span: what is done, and to what.
func named(what, to string) string {
	if to == "" {
		return what
	}
	return clip(what+" "+to, maxName)
}

// opt adds an attribute if it is there.
func opt(attrs []slog.Attr, key string, value messages.Opt[string]) []slog.Attr {
	if v, ok := value.Get(); ok {
		attrs = append(attrs, str(key, v))
	}
	return attrs
}

// usageAttrs are the token counts of one usage.
func usageAttrs(u event.TokenUsage) []slog.Attr {
	var attrs []slog.Attr
	attrs = opt(attrs, "gen_ai.provider.name", u.Provider)
	attrs = opt(attrs, "gen_ai.response.model", u.Model)
	for _, c := range []struct {
		key   string
		count messages.Opt[int64]
	}{
		{"gen_ai.usage.input_tokens", u.InputTokens},
		{"gen_ai.usage.output_tokens", u.OutputTokens},
		{"agfold.usage.total_tokens", u.TotalTokens},
		{"gen_ai.usage.reasoning.output_tokens", u.ReasoningTokens},
		{"gen_ai.usage.cache_read.input_tokens", u.CachedInputTokens},
		{"gen_ai.usage.cache_creation.input_tokens", u.CacheWriteInputTokens},
	} {
		if n, ok := c.count.Get(); ok {
			attrs = append(attrs, slog.Int64(c.key, n))
		}
	}
	return attrs
}

// total adds up usages of whatever provider and model. What they have in common stays.
func total(usages []event.TokenUsage) event.TokenUsage {
	provider, model := usages[0].Provider, usages[0].Model
	plain := make([]event.TokenUsage, len(usages))
	for i, u := range usages {
		if u.Provider != provider {
			provider = messages.Opt[string]{}
		}
		if u.Model != model {
			model = messages.Opt[string]{}
		}
		u.Provider, u.Model = messages.Opt[string]{}, messages.Opt[string]{}
		plain[i] = u
	}
	sum := event.SumUsage(plain...)[0]
	sum.Provider, sum.Model = provider, model
	return sum
}

// inputMessages is gen_ai.input.messages: what the user said last, in the shape of the conventions.
func inputMessages(in *event.RunInput, max int) []slog.Attr {
	for i := len(in.Messages) - 1; i >= 0; i-- {
		if m := in.Messages[i]; m.Role == messages.RoleUser {
			text, _ := json.Marshal(clip(m.Text(), max))
			return []slog.Attr{slog.String("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":`+string(text)+`}]}]`)}
		}
	}
	return nil
}
