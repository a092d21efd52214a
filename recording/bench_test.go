package recording

import (
	"bytes"
	"testing"
)

// BenchmarkEvents reads 10,000 events in each form, in one run.
func BenchmarkEvents(b *testing.B) {
	content := `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-1","delta":"some words of text"}`
	const n = 10_000
	for _, f := range []struct{ name, head, unit, tail string }{
		{"sse", "", "data: " + content + "\n\n", ""},
		{"lines", "", content + "\n", ""},
		{"array", "[" + content, "," + content, "]"},
		{"agfold", "", `{"at":12.5,"event":` + content + "}\n", ""},
	} {
		b.Run(f.name, func(b *testing.B) {
			text := []byte(f.head)
			text = append(text, bytes.Repeat([]byte(f.unit), n)...)
			text = append(text, f.tail...)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				rec, err := Open(bytes.NewReader(text), nil)
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range rec.Events() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}
