package web

import (
	"strconv"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
)

// appendJSON appends what the timeline needs of the rows from one on, and of the spans that they changed. The members of
// rows and spans are columns:
//
//	{"from":1,"length":2,"clock":"recorded","types":["RUN_STARTED"],
//	 "lanes":[{"id":"s1","name":"travel","parent":0,"rows":[1,0,1,0,0]}],
//	 "at":[0,45000],"type":[0,3],"lane":[0,0],
//	 "spans":{"i":[],"kind":[],"lane":[],"row":[],"from":[],"mid":[],"to":[],"id":[],"label":[],"status":[]},
//	 "kinds":["run"],"pauses":[{"lane":0,"from":1,"to":2,"long":45000,"who":"start","label":""}]}
//
// at holds the microseconds since the row before. What names an agent gives is cut.
func (s *shape) appendJSON(dst []byte, from int) []byte {
	from = max(1, min(from, len(s.at)+1))
	dst = append(dst, '{')
	dst = codec.AppendInteger(dst, "from", int64(from))
	dst = codec.AppendInteger(dst, "length", int64(len(s.at)))
	dst = codec.AppendString(dst, "clock", s.clock.source)
	dst = appendStrings(codec.AppendKey(dst, "types"), s.types)
	dst = appendStrings(codec.AppendKey(dst, "kinds"), spanNames[:])
	dst = codec.AppendList(dst, "lanes", s.lanes, appendLane)
	before := int64(0)
	if from > 1 {
		before = s.at[from-2]
	}
	dst = appendColumn(dst, "at", s.at[from-1:], func(at int64) int64 {
		since := at - before
		before = at
		return since
	})
	dst = appendColumn(dst, "type", s.typ[from-1:], func(t uint8) int64 { return int64(t) })
	dst = appendColumn(dst, "lane", s.owner[from-1:], func(o uint16) int64 { return int64(o) })
	dst = s.appendSpans(codec.AppendKey(dst, "spans"), from)
	var pauses []pause
	for _, p := range s.pauses.list {
		if p.to >= from {
			pauses = append(pauses, p)
		}
	}
	dst = codec.AppendList(dst, "pauses", pauses, appendPause)
	return append(dst, '}')
}

func appendLane(dst []byte, l lane) []byte {
	dst = codec.AppendString(append(dst, '{'), "id", l.id)
	dst = codec.AppendString(dst, "name", l.name)
	dst = codec.AppendInteger(dst, "parent", int64(l.parent))
	dst = appendColumn(dst, "rows", l.rows[:], func(n int) int64 { return int64(n) })
	return append(dst, '}')
}

func appendPause(dst []byte, p pause) []byte {
	dst = codec.AppendInteger(append(dst, '{'), "lane", int64(p.lane))
	dst = codec.AppendInteger(dst, "from", int64(p.from))
	dst = codec.AppendInteger(dst, "to", int64(p.to))
	dst = codec.AppendInteger(dst, "long", p.long)
	dst = codec.AppendString(dst, "who", p.who)
	return append(codec.AppendString(dst, "label", p.label), '}')
}

// appendSpans appends the spans that a row from one on has changed.
func (s *shape) appendSpans(dst []byte, from int) []byte {
	var which []int
	for i := range s.spans {
		if s.spans[i].touched >= from {
			which = append(which, i)
		}
	}
	number := func(key string, of func(*span) int) {
		dst = appendColumn(dst, key, which, func(i int) int64 { return int64(of(&s.spans[i])) })
	}
	text := func(key string, of func(*span) string) {
		texts := make([]string, len(which))
		for at, i := range which {
			texts[at] = of(&s.spans[i])
		}
		dst = appendStrings(codec.AppendKey(dst, key), texts)
	}
	dst = appendColumn(append(dst, '{'), "i", which, func(i int) int64 { return int64(i) })
	number("kind", func(sp *span) int { return int(sp.kind) })
	number("lane", func(sp *span) int { return sp.lane })
	number("row", func(sp *span) int { return sp.row })
	number("from", func(sp *span) int { return sp.from })
	number("mid", func(sp *span) int { return sp.mid })
	number("to", func(sp *span) int { return sp.to })
	text("id", func(sp *span) string { return sp.id })
	text("label", func(sp *span) string { return sp.label })
	text("status", func(sp *span) string { return sp.status })
	return append(dst, '}')
}

// appendColumn appends a member that is a list of integers.
func appendColumn[T any](dst []byte, key string, items []T, of func(T) int64) []byte {
	return codec.AppendList(dst, key, items, func(dst []byte, item T) []byte { return strconv.AppendInt(dst, of(item), 10) })
}

func appendStrings(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontext.AppendString(dst, text)
	}
	return append(dst, ']')
}
