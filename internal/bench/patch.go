package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// items is a state with a list of n things to do.
func items(n int) string {
	var b strings.Builder
	b.WriteString(`{"title":"plan","items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"text":"something to do","done":false}`, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

// onePatch replaces a member of the item in the middle of n.
func onePatch(n int) []byte {
	return fmt.Appendf(nil, `[{"op":"replace","path":"/items/%d/done","value":true}]`, n/2)
}

func patchRow(n int) row {
	return row{name: fmt.Sprintf("ours, %d items", n), count: 1, bench: func(b *testing.B) {
		doc, err := state.Parse([]byte(items(n)))
		if err != nil {
			b.Fatal(err)
		}
		var patch state.Patch
		if err := json.Unmarshal(onePatch(n), &patch); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := doc.Apply(patch); err != nil {
				b.Fatal(err)
			}
		}
	}}
}

// deltaRow folds STATE_DELTA events, as they arrive.
func deltaRow(n int) row {
	return row{name: fmt.Sprintf("%d items", n), count: streamed, bench: func(b *testing.B) {
		var frames [2]event.Frame
		for i, value := range []string{"true", "false"} {
			text := fmt.Appendf(nil, `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/items/%d/done","value":%s}]}`, n/2, value)
			frame, err := event.NewFrame(text)
			if err != nil {
				b.Fatal(err)
			}
			frames[i] = frame
		}
		r := reducer.New(nil)
		for _, ev := range begun(&event.StateSnapshot{Snapshot: mustParse(items(n))}) {
			if err := r.Apply(ev); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			for i := range streamed {
				if err := r.Apply(frames[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}}
}

func jsonPatchRow(n int) row {
	return row{name: fmt.Sprintf("json-patch/v5, %d items", n), count: 1, bench: func(b *testing.B) {
		doc := []byte(items(n))
		patch, err := jsonpatch.DecodePatch(onePatch(n))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := patch.Apply(doc); err != nil {
				b.Fatal(err)
			}
		}
	}}
}
