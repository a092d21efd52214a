package web

import (
	"maps"
	"slices"

	"github.com/agfold/agfold/cmd/agfold/internal/rules"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/lint"
)

// appendJSON appends what went wrong so far:
//
//	{"problems":[{"n":3,"ordinal":3,"kind":"warning","rule":"P-ENF-2","type":"…","path":"/x","text":"…"}],"more":0,
//	 "rules":{"P-ENF-2":{"text":"…","advice":"…"}},
//	 "findings":[{"n":3,"ordinal":3,"level":"note","code":"…","type":"…","id":"…","text":"…","more":0}],
//	 "checks":{"…":{"title":"…","why":"…","mend":"…"}}}
//
// n is the position to look at, 0 of a finding about no event. What an agent gives is cut.
func (t *trouble) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = codec.AppendList(dst, "problems", t.problems, appendProblem)
	dst = codec.AppendInteger(dst, "more", int64(t.more))
	dst = append(codec.AppendKey(dst, "rules"), '{')
	for _, rule := range slices.Sorted(maps.Keys(t.cited)) {
		text := rules.Text(rule)
		if text == "" {
			continue
		}
		dst = append(codec.AppendKey(dst, rule), '{')
		dst = codec.AppendString(dst, "text", text)
		dst = append(codec.AppendNonEmpty(dst, "advice", rules.Advice(rule)), '}')
	}
	dst = append(dst, '}')
	checks := make(map[string]lint.Check)
	dst = codec.AppendList(dst, "findings", t.linter.Findings(), func(dst []byte, f lint.Finding) []byte {
		checks[f.Code], _ = lint.CheckOf(f.Code)
		return t.appendFinding(dst, f)
	})
	dst = append(codec.AppendKey(dst, "checks"), '{')
	for _, code := range slices.Sorted(maps.Keys(checks)) {
		dst = append(codec.AppendKey(dst, code), '{')
		dst = codec.AppendString(dst, "title", checks[code].Title)
		dst = codec.AppendString(dst, "why", checks[code].Why)
		dst = append(codec.AppendString(dst, "mend", checks[code].Mend), '}')
	}
	return append(dst, "}}"...)
}

func appendProblem(dst []byte, p problem) []byte {
	dst = codec.AppendInteger(append(dst, '{'), "n", int64(p.n))
	dst = codec.AppendInteger(dst, "ordinal", int64(p.ordinal))
	dst = codec.AppendString(dst, "kind", p.kind)
	dst = codec.AppendNonEmpty(dst, "rule", p.rule)
	dst = codec.AppendNonEmpty(dst, "type", p.typ)
	dst = codec.AppendNonEmpty(dst, "path", p.path)
	return append(codec.AppendString(dst, "text", p.text), '}')
}

func (t *trouble) appendFinding(dst []byte, f lint.Finding) []byte {
	n := 0
	if f.Ordinal > 0 {
		n = t.places.position(f.Ordinal, t.last)
	}
	dst = codec.AppendInteger(append(dst, '{'), "n", int64(n))
	dst = codec.AppendInteger(dst, "ordinal", int64(f.Ordinal))
	dst = codec.AppendString(dst, "level", string(f.Level))
	dst = codec.AppendString(dst, "code", f.Code)
	dst = codec.AppendNonEmpty(dst, "type", short(f.Type))
	dst = codec.AppendNonEmpty(dst, "id", short(f.ID))
	dst = codec.AppendString(dst, "text", shortText(f.Text))
	return append(codec.AppendInteger(dst, "more", int64(f.More)), '}')
}
