package otel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/agfold/agfold/adapters/otel"
	"github.com/agfold/agfold/spans"
)

// TestNamesAreThoseOfTheConventions holds that each name that looks like one of the conventions is one.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	assert.Equal(t, semconv.SchemaURL, spans.SchemaURL)
	known := map[string]bool{}
	for _, key := range []attribute.Key{
		semconv.ErrorTypeKey, semconv.GenAIAgentNameKey, semconv.GenAIConversationIDKey, semconv.GenAIInputMessagesKey, semconv.GenAIOperationNameKey,
		semconv.GenAIProviderNameKey, semconv.GenAIResponseModelKey, semconv.GenAIResponseTimeToFirstChunkKey, semconv.GenAITokenTypeKey,
		semconv.GenAIToolCallArgumentsKey, semconv.GenAIToolCallIDKey, semconv.GenAIToolCallResultKey, semconv.GenAIToolNameKey,
		semconv.GenAIUsageCacheCreationInputTokensKey, semconv.GenAIUsageCacheReadInputTokensKey, semconv.GenAIUsageInputTokensKey,
		semconv.GenAIUsageOutputTokensKey, semconv.GenAIUsageReasoningOutputTokensKey,
	} {
		known[string(key)] = true
	}
	for _, name := range []string{
		genaiconv.ClientOperationDuration{}.Name(), genaiconv.ClientOperationTimePerOutputChunk{}.Name(), genaiconv.ClientOperationTimeToFirstChunk{}.Name(), genaiconv.ClientTokenUsage{}.Name(),
	} {
		known[name] = true
	}
	used := map[string]bool{}
	for _, folder := range []string{".", "../../spans"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if regexp.MustCompile(`_test\.go$`).MatchString(file) {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`"((?:gen_ai|error|server)\.[a-z_.]+)"`).FindAllStringSubmatch(string(text), -1) {
				used[m[1]] = true
			}
		}
	}
	for name := range used {
		assert.True(t, known[name], "%s is no name of the conventions", name)
	}
	for name := range known {
		assert.True(t, used[name], "%s is not used any more", name)
	}
	assert.Equal(t, string(genaiconv.OperationNameInvokeAgent), "invoke_agent")
	assert.Equal(t, string(genaiconv.OperationNameExecuteTool), "execute_tool")
	m := inMemory(t, otel.Options{})
	m.replay(t, "../../testdata/subagents.sse")
	for _, s := range m.spans.GetSpans() {
		for _, a := range s.Attributes {
			assert.True(t, known[string(a.Key)] || regexp.MustCompile(`^agfold\.`).MatchString(string(a.Key)), a.Key)
		}
	}
}
