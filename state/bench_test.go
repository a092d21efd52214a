package state_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// todo returns the text of a state with n items.
func todo(n int) []byte {
	dst := []byte(`{"title":"Launch plan","items":[`)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"id":"item-%d","text":"Write section %d of the \"plan\"","done":false,"weight":%d.5}`, i, i, i%100)
	}
	return append(dst, `],"cursor":17,"user":{"name":"Zoë","admin":true}}`...)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func patchOf(text string) state.Patch {
	return must(state.ParsePatch(must(state.Parse([]byte(text)))))
}

var oneOp = []struct{ name, patch string }{
	{"replace", `[{"op":"replace","path":"/items/17/done","value":true}]`},
	{"add", `[{"op":"add","path":"/items/10","value":{"id":"new","done":false}}]`},
	{"remove", `[{"op":"remove","path":"/items/10"}]`},
	{"append", `[{"op":"add","path":"/items/-","value":{"id":"new","done":false}}]`},
	{"move", `[{"op":"move","from":"/items/5","path":"/items/12"}]`},
}

// BenchmarkApply is one operation on states of 20 and 20,000 items, which should cost the same. Both are
// alive all the time, so that the garbage collector has the same to mark in either case.
func BenchmarkApply(b *testing.B) {
	docs := map[int]state.Value{20: must(state.Parse(todo(20))), 20_000: must(state.Parse(todo(20_000)))}
	for _, op := range oneOp {
		for _, n := range []int{20, 20_000} {
			b.Run(fmt.Sprintf("%s/items=%d", op.name, n), func(b *testing.B) {
				patch := patchOf(op.patch)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := docs[n].Apply(patch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	runtime.KeepAlive(docs)
}

// BenchmarkManyPatches is a chain of small patches; the cost of one should not depend on how many
// went before.
func BenchmarkManyPatches(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("patches=%d", n), func(b *testing.B) {
			text := state.Patch{{Kind: state.OpAdd, Path: "/log/-", Value: state.Int(12)}}
			count := state.Patch{{Kind: state.OpReplace, Path: "/count", Value: state.Int(7)}}
			for b.Loop() {
				doc := must(state.Parse([]byte(`{"log":[],"count":0}`)))
				for range n / 2 {
					doc = must(doc.Apply(text))
					doc = must(doc.Apply(count))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/patch")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{2, 1000} {
		text := todo(n)
		b.Run(fmt.Sprintf("state/items=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				must(state.Parse(text))
			}
		})
		b.Run(fmt.Sprintf("encoding-json/items=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValid(b *testing.B) {
	event := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg_01HZX","delta":"a few words "}`)
	for name, text := range map[string][]byte{"event": event, "state": todo(1000)} {
		b.Run("jsontext/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				must(jsontext.Skip(text, 0, state.DefaultMaxDepth))
			}
		})
		b.Run("encoding-json/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !json.Valid(text) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	text := todo(1000)
	doc := must(state.Parse(text))
	tree := must(unmarshal[any](text))
	b.Run("state", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var dst []byte
		for b.Loop() {
			dst = doc.AppendJSON(dst[:0])
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			must(json.Marshal(tree))
		}
	})
}

func unmarshal[T any](text []byte) (v T, err error) {
	err = json.Unmarshal(text, &v)
	return v, err
}

// BenchmarkDiff is of neighbors: the cost should not depend on the size of the state.
func BenchmarkDiff(b *testing.B) {
	for _, op := range oneOp {
		for _, n := range []int{20, 20_000} {
			b.Run(fmt.Sprintf("%s/items=%d", op.name, n), func(b *testing.B) {
				doc := must(state.Parse(todo(n)))
				next := must(doc.Apply(patchOf(op.patch)))
				b.ReportAllocs()
				for b.Loop() {
					state.Diff(doc, next)
				}
			})
		}
	}
}

// BenchmarkLargeObject builds and changes an object of 100,000 members.
func BenchmarkLargeObject(b *testing.B) {
	const n = 100_000
	members := make([]state.Member, n)
	for i := range members {
		members[i] = state.Member{Key: fmt.Sprintf("key-%d", i), Value: state.Int(int64(i))}
	}
	object := state.Object(members...)
	one := state.Int(1)
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			state.Object(members...)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/member")
	})
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			object.With("key-777", one)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			object.With("another", one)
		}
	})
	b.Run("remove", func(b *testing.B) {
		for b.Loop() {
			object.Without("key-777")
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			object.Get("key-777")
		}
	})
}

func BenchmarkAt(b *testing.B) {
	doc := must(state.Parse(todo(1000)))
	for b.Loop() {
		must(state.At[string](doc, "/items/500/text"))
	}
}
