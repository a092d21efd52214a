package chunks_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

func addPlans(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("chunks of a message, a tool call and a reasoning message"))
	pattern := make([]byte, 0, 4000)
	for i := range 4000 {
		pattern = append(pattern, byte(i*i>>3+i*7))
	}
	for _, n := range []int{40, 200, 1000, 4000} {
		f.Add(pattern[:n])
		f.Add(pattern[4000-n:])
	}
}

// FuzzExpand holds that every chunking that the rules allow equals the explicit events. The bytes make
// streams on several lanes, tell them as whole events and as chunks that say of id, tag and opening as
// little or as much as they may, and interleave them with events that close and that do not.
func FuzzExpand(f *testing.F) {
	addPlans(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &plan{data}
		var told, want []event.Event
		var held []*explicit // in opening order
		holder := func(owner messages.Owner) *explicit {
			if i := slices.IndexFunc(held, func(s *explicit) bool { return s.owner == owner }); i >= 0 {
				return held[i]
			}
			return nil
		}
		end := func(s *explicit) {
			want = append(want, s.end())
			held = slices.DeleteFunc(held, func(other *explicit) bool { return other == s })
		}
		for serial := 0; !p.done(); serial++ {
			owner := owners[p.n(len(owners))]
			s := holder(owner)
			switch op := p.n(8); {
			case op == 0:
				ev := p.aside()
				told, want = append(told, ev), append(want, ev)
			case op == 1:
				ev := p.closer(owner)
				if s != nil {
					end(s)
				}
				told, want = append(told, ev), append(want, ev)
			case op == 2 && p.n(4) == 0:
				ev := pick[event.Event](p, &event.RunStarted{}, &event.RunFinished{}, &event.RunError{}, &event.MessagesSnapshot{})
				for len(held) > 0 {
					end(held[0])
				}
				told, want = append(told, ev), append(want, ev)
			case op == 3 || s == nil:
				if s != nil {
					end(s)
				}
				s = p.newExplicit(owner, serial)
				held = append(held, s)
				base, delta := p.base(), maybe(p, "x", "")
				told = append(told, s.chunk(base, delta, true, true, true))
				want = append(want, s.start(base))
				if delta.IsSet() || base.RawEvent.Exists() {
					want = append(want, s.content(base, delta.Or("")))
				}
			default:
				named, tagged, repeats := p.yes(), p.yes(), p.yes()
				if !named && !tagged && !owner.IsParent() {
					// Then it has to be the only one of its kind, and the parent agent's would come first.
					ofKind := 0
					for _, other := range held {
						if other.kind == s.kind {
							ofKind++
						}
					}
					named = ofKind > 1
				}
				base, delta := p.base(), maybe(p, "x", "")
				told = append(told, s.chunk(base, delta, named, tagged, repeats))
				if delta.IsSet() || base.RawEvent.Exists() || base.Metadata.Exists() {
					want = append(want, s.content(base, delta.Or("")))
				}
			}
		}
		x := new(chunks.Expander)
		got, err := expand(x, told)
		require.NoError(t, err)
		require.Equal(t, wire(want), wire(got))
		var stillOpen []string
		for _, s := range held {
			stillOpen = append(stillOpen, s.owner.String()+" "+s.id)
		}
		assert.Equal(t, stillOpen, open(x))
	})
}

// bracket is what an event says about a stream under assembly: it opens, continues or closes one.
type bracket struct {
	family rune // of the messages and calls: t, c or r
	id     string
	part   byte // 's', 'c', 'e', or 0 if it says nothing
}

func bracketOf(ev event.Event) bracket {
	switch e := ev.(type) {
	case *event.TextMessageStart:
		return bracket{'t', e.MessageID, 's'}
	case *event.TextMessageContent:
		return bracket{'t', e.MessageID, 'c'}
	case *event.TextMessageEnd:
		return bracket{'t', e.MessageID, 'e'}
	case *event.ToolCallStart:
		return bracket{'c', e.ToolCallID, 's'}
	case *event.ToolCallArgs:
		return bracket{'c', e.ToolCallID, 'c'}
	case *event.ToolCallEnd:
		return bracket{'c', e.ToolCallID, 'e'}
	case *event.ReasoningMessageStart:
		return bracket{'r', e.MessageID, 's'}
	case *event.ReasoningMessageContent:
		return bracket{'r', e.MessageID, 'c'}
	case *event.ReasoningMessageEnd:
		return bracket{'r', e.MessageID, 'e'}
	}
	return bracket{}
}

// FuzzBrackets holds that whatever chunks come, the events that come out are well bracketed: a lane opens
// only what nobody holds and holds one stream at most, only what is held is continued and closed, by its
// owner, and a rejected chunk changes nothing.
func FuzzBrackets(f *testing.F) {
	addPlans(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &plan{data}
		x := new(chunks.Expander)
		holds := make(map[messages.Owner]bracket)
		for !p.done() {
			var ev event.Event
			switch p.n(8) {
			case 0:
				ev = p.aside()
			case 1:
				ev = p.closer(owners[p.n(len(owners))])
			default:
				ev = p.anyChunk()
			}
			before := open(x)
			out, err := x.Expand(nil, ev)
			if err != nil {
				var e *chunks.Error
				require.ErrorAs(t, err, &e)
				require.Contains(t, []string{"P-CHK-2", "P-CHK-5", "P-CHK-6"}, e.Rule)
				require.Equal(t, ev.Type(), e.Type)
				require.Zero(t, e.Ordinal)
				require.Empty(t, out)
				require.Equal(t, before, open(x))
				continue
			}
			for _, made := range out {
				require.False(t, made.Type().IsChunk())
				b, owner := bracketOf(made), made.Owner()
				held, holding := holds[owner]
				switch b.part {
				case 's':
					require.False(t, holding, "%v opens beside %v", b, held)
					for other, theirs := range holds {
						require.False(t, theirs.family == b.family && theirs.id == b.id, "%v of %v is also opened by %v", b, other, owner)
					}
					holds[owner] = b
				case 'c':
					require.Equal(t, bracket{b.family, b.id, 's'}, held)
				case 'e':
					require.Equal(t, bracket{b.family, b.id, 's'}, held)
					delete(holds, owner)
				}
			}
			require.Len(t, open(x), len(holds))
		}
	})
}
