package form

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agfold/agfold/state"
)

// kind says how a form is filled in.
type kind uint8

const (
	anything kind = iota // yes or no, JSON, or a text
	yesNo
	choice
	text
	number
	asJSON // JSON; the schema is shown
)

// Form asks for one JSON value. It is immutable and safe for concurrent use.
type Form struct {
	kind    kind
	member  string // the value becomes this member of an object
	wrapped bool
	choices []state.Value
	cost    int                         // of checking one byte of an answer
	check   func() *jsonschema.Resolved // compiles the schema when an answer is checked; nil, like its result, accepts everything
}

// New returns the form for a response schema. A schema for one boolean, text, number or choice, alone or as the
// only member of an object, is answered with a word. Any other schema is answered with JSON; so is a schema
// that refers to itself, is too large, or refers to something outside. An absent or empty schema accepts
// everything.
func New(schema state.Value) *Form {
	if schema.Len() == 0 {
		return &Form{kind: anything}
	}
	schema, cost, ok := inline(schema)
	if !ok {
		return &Form{kind: asJSON}
	}
	f := &Form{cost: cost, check: sync.OnceValue(func() *jsonschema.Resolved { return compile(schema) })}
	f.kind, f.choices = scalar(schema)
	if members := schema.Get("properties"); f.kind == asJSON && members.Len() == 1 && typeOf(schema) == "object" {
		for name, inner := range members.Members() {
			f.kind, f.choices = scalar(inner)
			f.member, f.wrapped = name, f.kind != asJSON
		}
	}
	return f
}

// scalar returns how a person enters the value that a schema describes: as JSON if one word is not enough.
func scalar(schema state.Value) (kind, []state.Value) {
	for schema.Get("allOf").Len() == 1 && !schema.Get("type").Exists() && !schema.Get("enum").Exists() {
		schema = schema.Get("allOf").Index(0)
	}
	if v := schema.Get("const"); v.Exists() {
		return choice, []state.Value{v}
	}
	if values := schema.Get("enum"); values.Len() > 0 {
		var choices []state.Value
		for _, v := range values.Elements() {
			choices = append(choices, v)
		}
		return choice, choices
	}
	switch typeOf(schema) {
	case "boolean":
		return yesNo, nil
	case "string":
		return text, nil
	case "number", "integer":
		return number, nil
	}
	return asJSON, nil
}

func typeOf(schema state.Value) string {
	name, _ := schema.Get("type").AsString()
	return name
}

// compile returns what checks values against an inlined schema, nil if it is not a valid schema.
func compile(schema state.Value) *jsonschema.Resolved {
	var s jsonschema.Schema
	if err := schema.Unmarshal(&s); err != nil {
		return nil
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved
}

// Limits on what a prompt shows.
const (
	maxChoices    = 20
	maxChoiceText = 60  // runes of one choice
	maxErrorText  = 300 // runes of what is wrong with an answer
)

// Prompt says how the form is filled in, such as "y or n".
func (f *Form) Prompt() string {
	switch f.kind {
	case yesNo:
		return "y or n"
	case choice:
		var names []string
		for i, v := range f.choices {
			if i == maxChoices {
				names = append(names, fmt.Sprintf("and %d more", len(f.choices)-i))
				break
			}
			names = append(names, fmt.Sprintf("%d = %s", i+1, shorten(word(v), maxChoiceText)))
		}
		return strings.Join(names, ", ")
	case text:
		return "your answer"
	case number:
		return "a number"
	case asJSON:
		return "JSON that fits the schema"
	}
	return "y, n, JSON or a text"
}

// word returns what a person types for a choice.
func word(v state.Value) string {
	if s, ok := v.AsString(); ok {
		return s
	}
	return v.String()
}

// shorten cuts a text to a number of runes.
func shorten(s string, longest int) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + "…"
		}
	}
	return s
}

// Example returns JSON that answers the form, or "JSON" if there is no short example.
func (f *Form) Example() string {
	v := state.Bool(true)
	switch f.kind {
	case choice:
		v = f.choices[0]
	case text:
		v = state.String("...")
	case number:
		v = state.Int(1)
	case asJSON:
		return "JSON"
	}
	return f.wrap(v).String()
}

// Yes returns the payload that means yes. It returns false if the form cannot be answered with yes or no.
func (f *Form) Yes() (state.Value, bool) { return f.say(true) }

// No returns the payload that means no. It returns false if the form does not ask for yes or no; then no means declining.
func (f *Form) No() (state.Value, bool) {
	if f.kind != yesNo {
		return state.Value{}, false
	}
	return f.say(false)
}

func (f *Form) say(yes bool) (state.Value, bool) {
	if f.kind != yesNo && f.kind != anything {
		return state.Value{}, false
	}
	v := f.wrap(state.Bool(yes))
	return v, f.validate(v) == nil
}

// Parse returns the payload for what a person typed. The error says what would fit.
func (f *Form) Parse(typed string) (state.Value, error) {
	v, err := f.read(typed)
	if err != nil {
		return state.Value{}, err
	}
	v = f.wrap(v)
	if err := f.validate(v); err != nil {
		return state.Value{}, err
	}
	return v, nil
}

// read returns the value before it is wrapped and validated.
func (f *Form) read(typed string) (state.Value, error) {
	trimmed := strings.TrimSpace(typed)
	yes, isYesNo := readYesNo(trimmed)
	switch f.kind {
	case yesNo:
		if !isYesNo {
			return state.Value{}, errors.New("answer y or n")
		}
		return state.Bool(yes), nil
	case choice:
		i := slices.IndexFunc(f.choices, func(c state.Value) bool { return strings.EqualFold(word(c), trimmed) })
		if n, err := strconv.Atoi(trimmed); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(f.choices) {
			return state.Value{}, fmt.Errorf("answer with one of %s", f.Prompt())
		}
		return f.choices[i], nil
	case text:
		return state.String(typed), nil
	}
	v, err := state.Parse([]byte(trimmed))
	switch {
	case f.kind == number && v.Kind() != state.KindNumber:
		return state.Value{}, errors.New("answer with a number")
	case f.kind == asJSON && err != nil:
		return state.Value{}, fmt.Errorf("answer with JSON: %w", err)
	case f.kind == anything && isYesNo:
		return state.Bool(yes), nil
	case f.kind == anything && err != nil:
		return state.String(typed), nil
	}
	return v, nil
}

func readYesNo(s string) (yes, ok bool) {
	switch strings.ToLower(s) {
	case "y", "yes", "true":
		return true, true
	case "n", "no", "false":
		return false, true
	}
	return false, false
}

func (f *Form) wrap(v state.Value) state.Value {
	if f.wrapped {
		return state.Object(state.Member{Key: f.member, Value: v})
	}
	return v
}

// maxWork is the most that checking an answer takes: its bytes times the cost of the schema.
const maxWork = 8 << 20

// validate says why a payload does not fit the schema. A payload that takes too long to check fits.
func (f *Form) validate(v state.Value) error {
	if f.check == nil || len(v.String()) > maxWork/max(f.cost, 1) {
		return nil
	}
	check := f.check()
	if check == nil {
		return nil
	}
	var instance any
	if err := v.Unmarshal(&instance); err != nil {
		return err
	}
	if err := check.Validate(instance); err != nil {
		return errors.New("that does not fit the schema: " + shorten(err.Error(), maxErrorText))
	}
	return nil
}

// Ask asks with say and reads answers with read until one fits. An empty answer declines: then ok is false. The
// error is that of read.
func (f *Form) Ask(say func(text string), read func(prompt string) (string, error)) (payload state.Value, ok bool, err error) {
	for {
		typed, err := read(f.Prompt() + " (empty declines): ")
		if err != nil || strings.TrimSpace(typed) == "" {
			return state.Value{}, false, err
		}
		payload, wrong := f.Parse(typed)
		if wrong == nil {
			return payload, true, nil
		}
		say(wrong.Error())
	}
}
