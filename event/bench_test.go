package event

import (
	"encoding/json"
	"testing"
)

// BenchmarkContentEvent measures a content event of usual size in one run: what the standard library needs
// to validate it and to decode it into a struct, and what the steps of this package need.
func BenchmarkContentEvent(b *testing.B) {
	data := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg_01H8XGJWBWBAQ4Z7","delta":" the quick brown"}`)
	f, err := NewFrame(data)
	if err != nil {
		b.Fatal(err)
	}
	d := NewDecoder(nil)
	ev, _, err := d.Decode(f)
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, step func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				step()
			}
		})
	}
	run("floor json.Valid", func() { json.Valid(data) })
	run("floor json.Unmarshal", func() {
		var into struct{ Type, MessageID, Delta string }
		_ = json.Unmarshal(data, &into)
	})
	run("frame", func() { _, _ = NewFrame(data) })
	var fr Framer
	run("frame in blocks", func() { fr.Frame(data) })
	var framed Event = f
	u := new(Upgrader)
	run("upgrade", func() { u.Upgrade(framed) })
	run("decode hot", func() { d.decodeHot(f.p) })
	run("decode general", func() { _, _, _ = d.decodeAny(f) })
	run("frame upgrade decode", func() {
		f := fr.Frame(data)
		_, _, _ = d.Decode(u.Upgrade(f).(Frame))
	})
	run("check", func() { _ = Check(ev) })
	var buf []byte
	run("encode", func() { buf = Append(buf[:0], ev) })
}
