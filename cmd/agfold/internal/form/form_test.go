package form

import (
	"errors"
	"fmt"
	"io"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func parse(t testing.TB, text string) state.Value {
	t.Helper()
	if text == "" {
		return state.Value{}
	}
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestParse(t *testing.T) {
	const pydantic = `{"$defs":{"Size":{"enum":["small","large"],"type":"string"},"Ok":{"type":"boolean"}},"type":"object",`
	for _, row := range []struct {
		name, schema, typed, want string // want "" for an answer that does not fit
	}{
		{"no schema: yes", ``, "y", "true"},
		{"no schema: JSON", ``, `{"a":1}`, `{"a":1}`},
		{"no schema: a text", ``, "as you like", `"as you like"`},
		{"a boolean: no", `{"type":"boolean"}`, "No", "false"},
		{"a boolean: neither", `{"type":"boolean"}`, "perhaps", ""},
		{"a string", `{"type":"string"}`, "y", `"y"`},
		{"a string that is too short", `{"type":"string","minLength":3}`, "y", ""},
		{"a choice by name", `{"enum":["Red","blue"]}`, "red", `"Red"`},
		{"a choice by number", `{"enum":["red","blue"]}`, "2", `"blue"`},
		{"a choice of numbers by value", `{"enum":[2,1]}`, "1", `1`},
		{"no such choice", `{"enum":["red","blue"]}`, "3", ""},
		{"a constant is a choice of one", `{"const":"agreed"}`, "1", `"agreed"`},
		{"a number", `{"type":"integer"}`, "12", "12"},
		{"no number", `{"type":"number"}`, "twelve", ""},
		{"no whole number", `{"type":"integer"}`, "1.5", ""},
		{"an object of one member", `{"type":"object","properties":{"ok":{"type":"boolean"}}}`, "y", `{"ok":true}`},
		{"an object with several members", `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`, `{"a":"x"}`, `{"a":"x"}`},
		{"an object that does not fit", `{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`, `{"a":1}`, ""},
		{"an object that is not JSON", `{"type":"object","properties":{"a":{},"b":{}}}`, `yes`, ""},
		{"objects in objects are JSON", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean"}}}}}`, `{"a":{"b":true}}`, `{"a":{"b":true}}`},
		{"an invalid schema checks nothing", `{"type":"boolean","minimum":"x"}`, "y", "true"},
		{"a reference to a definition", pydantic + `"properties":{"ok":{"$ref":"#/$defs/Ok"}}}`, "y", `{"ok":true}`},
		{"a reference to a choice", pydantic + `"properties":{"size":{"$ref":"#/$defs/Size"}}}`, "2", `{"size":"large"}`},
		{"a reference in an allOf of one", pydantic + `"properties":{"size":{"allOf":[{"$ref":"#/$defs/Size"}]}}}`, "small", `{"size":"small"}`},
		{"a reference is checked", pydantic + `"properties":{"a":{"$ref":"#/$defs/Size"},"b":{}}}`, `{"a":"huge"}`, ""},
		{"keywords next to a reference are checked", pydantic + `"properties":{"a":{"$ref":"#/$defs/Size","maxLength":2},"b":{}}}`, `{"a":"small"}`, ""},
		{"keywords in capitals are none", `{"type":"boolean","$REF":"#","ALLOF":[{"$Ref":"#"}],"Const":1,"PATTERN":"("}`, "y", "true"},
		{"a long description does not count", `{"type":"boolean","description":"` + strings.Repeat("a", 200_000) + `"}`, "y", "true"},
		{"an escaped reference", `{"$defs":{"a b~/":{"type":"boolean"}},"$ref":"#/$defs/a%20b~0~1"}`, "n", "false"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := New(parse(t, row.schema))
			got, err := f.Parse(row.typed)
			if row.want == "" {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got.String())
			assert.NotEmpty(t, f.Prompt())
			assert.NotEmpty(t, f.Example())
		})
	}
}

// doubled is a schema of n levels, each of which refers to the next twice: 2ⁿ references in all.
func doubled(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"type":"boolean"}}}`, n)
	return b.String()
}

// TestSchemasThatCannotBeShown: each falls back to JSON that nothing checks, in a bounded time.
func TestSchemasThatCannotBeShown(t *testing.T) {
	for name, schema := range map[string]string{
		"refers to itself":                       `{"type":"boolean","$ref":"#"}`,
		"refers to itself in allOf":              `{"type":"boolean","allOf":[{"$ref":"#"}]}`,
		"refers to itself in $defs":              `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`,
		"refers to itself by a member":           `{"type":"object","properties":{"child":{"$ref":"#"}}}`,
		"refers dynamically":                     `{"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"}]}`,
		"doubles 30 times":                       doubled(30),
		"doubles 400 times":                      doubled(400),
		"refers to an anchor":                    `{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"boolean"}}}`,
		"refers to another document":             `{"$ref":"https://example.com/schema"}`,
		"refers to nothing":                      `{"$ref":"#/$defs/none"}`,
		"refers by what is not a text":           `{"$ref":1}`,
		"is deep":                                strings.Repeat(`{"not":`, 400) + `{}` + strings.Repeat(`}`, 400),
		"has many members":                       `{"type":"object","properties":{` + manyMembers(5000) + `}}`,
		"has a long text":                        `{"type":"string","pattern":"` + strings.Repeat("a", 200_000) + `"}`,
		"has a pattern that repeats":             `{"type":"string","pattern":"` + strings.Repeat("a{1000}", 11) + `"}`,
		"has a pattern that repeats groups":      `{"pattern":"^(` + strings.Repeat("(a?){999}", 10) + `)b"}`,
		"has many patterns that repeat":          `{"anyOf":[` + strings.Repeat(`{"contains":{"pattern":"a{500}"}},`, 30) + `{}]}`,
		"has names with patterns that repeat":    `{"patternProperties":{"` + strings.Repeat("b{1000}", 11) + `":{}}}`,
		"has patterns of large classes":          `{"pattern":"` + strings.Repeat(`\\pL`, 300) + `"}`,
		"has a long choice":                      `{"enum":["` + strings.Repeat("a", 200_000) + `"]}`,
		"repeats a long text by many references": `{"$defs":{"a":{"pattern":"` + strings.Repeat("a", 10_000) + `"}},"allOf":[` + strings.Repeat(`{"$ref":"#/$defs/a"},`, 100) + `{}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := New(parse(t, schema))
			assert.Equal(t, asJSON, f.kind)
			got, err := f.Parse(`{"any":["JSON"]}`)
			require.NoError(t, err)
			assert.Equal(t, `{"any":["JSON"]}`, got.String())
			_, err = f.Parse("not JSON")
			assert.Error(t, err)
			_, yes := f.Yes()
			_, no := f.No()
			assert.False(t, yes || no, "neither yes nor no is JSON that fits")
		})
	}
}

// TestInstructions: what is charged for a pattern is at least what it compiles to.
func TestInstructions(t *testing.T) {
	for _, pattern := range []string{``, `a`, `^abc$`, `a{1000}`, `(a?){999}b`, `(a|bc|[d-f]){2,50}`, `(?i)straße{3,}`, `\pL+(x*){0}`, `((a{10}){10}){10}`, `(ab){,5}|(|a)+?`} {
		re, err := syntax.Parse(pattern, syntax.Perl)
		require.NoError(t, err)
		charged := instructions(re)
		program, err := syntax.Compile(re.Simplify())
		require.NoError(t, err)
		const overhead = 2 // the program's own
		assert.GreaterOrEqual(t, overhead+2*charged, len(program.Inst), pattern)
	}
}

// TestLongAnswersAreNotChecked: the length of an answer times the cost of the schema is bounded.
func TestLongAnswersAreNotChecked(t *testing.T) {
	cheap := New(parse(t, `{"type":"string","pattern":"^b"}`))
	_, err := cheap.Parse(strings.Repeat("a", 70_000))
	assert.Error(t, err)
	costly := New(parse(t, `{"type":"string","pattern":"^((a?){999}){1}b"}`))
	_, err = costly.Parse("aaa")
	assert.Error(t, err)
	_, err = costly.Parse(strings.Repeat("a", 70_000))
	assert.NoError(t, err)
}

func manyMembers(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"m%d":{}`, i))
	}
	return strings.Join(names, ",")
}

func TestYesAndNo(t *testing.T) {
	for _, row := range []struct{ name, schema, yes, no string }{ // "" for no such answer
		{"no schema", ``, `true`, ``},
		{"a boolean", `{"type":"boolean"}`, `true`, `false`},
		{"an object with a boolean", `{"type":"object","properties":{"ok":{"type":"boolean"}}}`, `{"ok":true}`, `{"ok":false}`},
		{"an object that wants more", `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok","why"]}`, ``, ``},
		{"a text", `{"type":"string"}`, ``, ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := New(parse(t, row.schema))
			yes, ok := f.Yes()
			assert.Equal(t, row.yes != "", ok)
			if ok {
				assert.Equal(t, row.yes, yes.String())
			}
			no, ok := f.No()
			assert.Equal(t, row.no != "", ok)
			if ok {
				assert.Equal(t, row.no, no.String())
			}
		})
	}
}

func TestPromptIsShort(t *testing.T) {
	choices := strings.Repeat(`"`+strings.Repeat("é", 100)+`",`, 30)
	f := New(parse(t, `{"enum":[`+choices+`"last"]}`))
	assert.Contains(t, f.Prompt(), "1 = "+strings.Repeat("é", maxChoiceText)+"…, 2 = ")
	assert.True(t, strings.HasSuffix(f.Prompt(), ", and 11 more"))
	got, err := f.Parse("LAST")
	require.NoError(t, err)
	assert.Equal(t, `"last"`, got.String())
}

func TestAsk(t *testing.T) {
	ask := func(typed ...string) (payload state.Value, ok bool, said []string, err error) {
		f := New(parse(t, `{"type":"boolean"}`))
		payload, ok, err = f.Ask(func(text string) { said = append(said, text) }, func(prompt string) (string, error) {
			assert.Equal(t, "y or n (empty declines): ", prompt)
			if len(typed) == 0 {
				return "", io.EOF
			}
			line := typed[0]
			typed = typed[1:]
			return line, nil
		})
		return payload, ok, said, err
	}
	t.Run("again until an answer fits", func(t *testing.T) {
		payload, ok, said, err := ask("maybe", "Y")
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, "true", payload.String())
		assert.Equal(t, []string{"answer y or n"}, said)
	})
	t.Run("an empty line declines", func(t *testing.T) {
		_, ok, _, err := ask(" ")
		assert.NoError(t, err)
		assert.False(t, ok)
	})
	t.Run("the end of the input is an error", func(t *testing.T) {
		_, ok, _, err := ask("maybe")
		assert.True(t, errors.Is(err, io.EOF))
		assert.False(t, ok)
	})
}

// FuzzForm answers hostile schemas: whatever fits is a value that the schema, if it can be used, accepts.
func FuzzForm(f *testing.F) {
	for _, schema := range []string{
		`{}`, `true`, `{"type":"boolean","$ref":"#"}`, doubled(12), `{"enum":[1,"a",null,{"b":[]}]}`, `{"const":null}`,
		`{"type":["string","null"],"minLength":2}`, `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`,
		`{"anyOf":[{"type":"integer"},{"not":{}}],"if":{},"then":{"multipleOf":0}}`, `{"pattern":"("}`, `{"items":[{"$ref":"#/items/0"}]}`,
		`{"type":"object","patternProperties":{"^a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"dependentSchemas":{"x":true}}}}`,
		`{"uniqueItems":true,"contains":{},"minContains":1e99,"unevaluatedProperties":false,"dependencies":{"a":["b"]}}`,
	} {
		f.Add(schema, "y")
		f.Add(schema, `{"ok":[1,"x"]}`)
	}
	f.Fuzz(func(t *testing.T, schema, typed string) {
		v, err := state.Parse([]byte(schema))
		if err != nil {
			return
		}
		form := New(v)
		require.NotEmpty(t, form.Prompt())
		require.NotEmpty(t, form.Example())
		if yes, ok := form.Yes(); ok {
			require.NoError(t, form.validate(yes))
		}
		if got, err := form.Parse(typed); err == nil {
			require.True(t, got.Exists())
			require.NoError(t, form.validate(got))
		}
	})
}
