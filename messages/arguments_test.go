package messages_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/messages"
)

func TestPartialArgsOfGrowingArguments(t *testing.T) {
	text := `{"city":"Lisboa","days":[1,2],"more":{"k":"v"}}`
	latest := &messages.ToolCall{ID: "c", Status: messages.ToolCallStreaming}
	latest.Grow(true)
	var versions []*messages.ToolCall
	for i := range len(text) + 1 {
		next := *latest
		next.Arguments = text[:i]
		latest = &next
		versions = append(versions, latest)
	}
	var wg sync.WaitGroup
	for reader := range 4 { // any goroutine may ask any version
		wg.Go(func() {
			for i := range versions {
				c := versions[(i*(reader+1))%len(versions)]
				plain := messages.ToolCall{Arguments: c.Arguments}
				assert.Equal(t, plain.PartialArgs().String(), c.PartialArgs().String())
			}
		})
	}
	wg.Wait()
	edited := *latest
	edited.Arguments = strings.ToUpper(text)
	assert.Equal(t, strings.ToUpper(text), edited.PartialArgs().String(), "other arguments are parsed anew")
	latest.Grow(false)
	assert.Equal(t, &messages.ToolCall{ID: "c", Status: messages.ToolCallStreaming, Arguments: text}, latest)
}
