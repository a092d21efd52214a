package form

import (
	"net/url"
	"regexp/syntax"
	"strings"

	"github.com/agfold/agfold/state"
)

// Limits on a schema with its references replaced. A JSON value costs one, and one more for each bytesPerCost
// bytes of its text.
const (
	budget       = 4096
	bytesPerCost = 32
	maxDepth     = 64 // schemas inside each other
)

// Limits on the regular expressions of a schema. A short one can stand for a large program: a{1000} repeats.
const (
	maxPattern      = 1000   // bytes of one
	maxInstructions = 10_000 // of the programs that all of them compile to
	runesPerCost    = 8      // of a class of characters
)

// inline returns a schema with each reference replaced by what it refers to, so that checking a value against
// it visits a tree once. It returns false if the tree is larger or deeper than the limits, which includes
// every schema that refers to itself, or if a reference does not name a part of the schema. The cost is what
// checking one byte of an answer takes at most.
func inline(schema state.Value) (tree state.Value, cost int, ok bool) {
	x := inliner{root: schema, left: budget}
	tree = x.schema(schema)
	return tree, budget - x.left + x.instructions, x.left >= 0
}

type inliner struct {
	root         state.Value
	left         int // of the budget; negative once inlining has failed
	depth        int
	instructions int // of all regular expressions
}

// schema inlines one schema.
func (x *inliner) schema(v state.Value) state.Value {
	if v.Kind() != state.KindObject {
		x.data(v)
		return v
	}
	x.depth++
	defer func() { x.depth-- }()
	if x.left--; x.depth > maxDepth {
		x.left = -1
	}
	var members []state.Member
	var target state.Value
	for key, value := range v.Members() {
		if x.left -= len(key) / bytesPerCost; x.left < 0 {
			return v
		}
		switch key {
		case "$ref":
			target = x.target(value)
			continue
		case "$dynamicRef", "$recursiveRef":
			x.left = -1
		case "$defs", "definitions", "$id", "id", "$anchor", "$dynamicAnchor": // only references need them
			continue
		case "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
			"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties":
			value = x.schema(value)
		case "allOf", "anyOf", "items", "oneOf", "prefixItems":
			value = x.list(value)
		case "patternProperties":
			for pattern := range value.Members() {
				x.pattern(pattern)
			}
			value = x.members(value)
		case "dependencies", "dependentSchemas", "properties":
			value = x.members(value)
		case "pattern":
			if text, ok := value.AsString(); ok {
				x.pattern(text)
			}
			x.data(value)
		case "$schema", "const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems",
			"maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum",
			"multipleOf", "required", "type", "uniqueItems":
			x.data(value)
		default: // checks nothing, even if it looks like a keyword in capitals, which a Go struct would accept
			continue
		}
		members = append(members, state.Member{Key: key, Value: value})
	}
	switch {
	case !target.Exists():
		return state.Object(members...)
	case len(members) == 0:
		return target
	}
	return state.Object(state.Member{Key: "allOf", Value: state.Array(target, state.Object(members...))})
}

// target inlines the target of a reference.
func (x *inliner) target(ref state.Value) state.Value {
	text, _ := ref.AsString()
	fragment, local := strings.CutPrefix(text, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil {
		x.left = -1
		return ref
	}
	target, err := x.root.Lookup(pointer)
	if err != nil {
		x.left = -1
		return ref
	}
	return x.schema(target)
}

// list inlines an array of schemas, or one schema in place of an array.
func (x *inliner) list(v state.Value) state.Value {
	if v.Kind() != state.KindArray {
		return x.schema(v)
	}
	x.left--
	var items []state.Value
	for _, item := range v.Elements() {
		if x.left < 0 {
			return v
		}
		items = append(items, x.schema(item))
	}
	return state.Array(items...)
}

// members inlines an object of schemas.
func (x *inliner) members(v state.Value) state.Value {
	if v.Kind() != state.KindObject {
		x.data(v)
		return v
	}
	x.left--
	var members []state.Member
	for key, value := range v.Members() {
		if x.left -= len(key) / bytesPerCost; x.left < 0 {
			return v
		}
		members = append(members, state.Member{Key: key, Value: x.schema(value)})
	}
	return state.Object(members...)
}

// pattern charges for a regular expression without compiling it, since compiling is what costs.
func (x *inliner) pattern(text string) {
	if x.left < 0 || len(text) > maxPattern {
		x.left = -1
		return
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return // the schema is invalid
	}
	if x.instructions += instructions(re); x.instructions > maxInstructions {
		x.left = -1
	}
}

// instructions returns about how many instructions re compiles to.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/runesPerCost
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// data charges for a value that is not a schema.
func (x *inliner) data(v state.Value) {
	x.left--
	switch v.Kind() {
	case state.KindString:
		text, _ := v.AsString()
		x.left -= len(text) / bytesPerCost
	case state.KindNumber:
		literal, _ := v.AsNumber()
		x.left -= len(literal) / bytesPerCost
	case state.KindArray:
		for _, item := range v.Elements() {
			if x.left < 0 {
				break
			}
			x.data(item)
		}
	case state.KindObject:
		for key, value := range v.Members() {
			if x.left -= len(key) / bytesPerCost; x.left < 0 {
				break
			}
			x.data(value)
		}
	}
}
