package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramerIsNewFrame(t *testing.T) {
	var fr Framer
	var made []Frame
	var texts []string
	for i := range 3 * framesPerBlock {
		text := fmt.Sprintf(`{"type":"CUSTOM","name":"%d","value":null}`, i)
		switch i % 10 {
		case 3:
			text = `{"type":"FUTURE","x":"` + strings.Repeat("x", maxBlockText) + `"}`
		case 7:
			_, want := NewFrame([]byte(`{"type":7}`))
			require.Equal(t, want, fr.Frame([]byte(`{"type":7}`)).Err())
		}
		f := fr.Frame([]byte(text))
		require.NoError(t, f.Err())
		made, texts = append(made, f), append(texts, text)
	}
	for i, f := range made {
		require.Equal(t, mustFrame(t, texts[i]), f, "frames of one block do not touch each other")
	}
}

func TestFramerAllocations(t *testing.T) {
	var fr Framer
	data := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`)
	d := NewDecoder(nil)
	got := testing.AllocsPerRun(1000, func() {
		f := fr.Frame(data)
		_, _, _ = d.Decode(f)
	})
	assert.Less(t, got, 2.5, "two allocations an event, and a block now and then")
}
