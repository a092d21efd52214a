package state_test

import (
	"fmt"

	"github.com/agfold/agfold/state"
)

func Example() {
	doc, err := state.Parse([]byte(`{"city":"Oslo","days":[{"high":4},{"high":6}]}`))
	if err != nil {
		panic(err)
	}
	delta, err := state.Parse([]byte(`[{"op":"replace","path":"/days/1/high","value":7.5}]`))
	if err != nil {
		panic(err)
	}
	patch, err := state.ParsePatch(delta)
	if err != nil {
		panic(err)
	}
	next, err := doc.Apply(patch)
	if err != nil {
		panic(err)
	}
	fmt.Println(doc)
	fmt.Println(next)
	fmt.Println(state.Same(doc.Get("days").Index(0), next.Get("days").Index(0)))
	// Output:
	// {"city":"Oslo","days":[{"high":4},{"high":6}]}
	// {"city":"Oslo","days":[{"high":4},{"high":7.5}]}
	// true
}

func ExampleAt() {
	doc, _ := state.Parse([]byte(`{"weather":{"city":"Oslo","days":[{"high":4}]}}`))
	city, err := state.At[string](doc, "/weather/city")
	fmt.Println(city, err)
	_, err = state.At[int](doc, "/weather/days/1/high")
	fmt.Println(err)
	// Output:
	// Oslo <nil>
	// pointer "/weather/days/1/high": no element 1 in an array of 1
}

func ExampleDiff() {
	before, _ := state.Parse([]byte(`{"todo":["write","test"],"done":0}`))
	after, _ := state.Parse([]byte(`{"todo":["write","review","test"],"done":1}`))
	for _, op := range state.Diff(before, after) {
		fmt.Println(op.Kind, op.Path, op.Value)
	}
	// Output:
	// add /todo/1 "review"
	// replace /done 1
}

func ExampleParsePartial() {
	fmt.Println(state.ParsePartial(`{"city":"Os`))
	fmt.Println(state.ParsePartial(`{"city":"Oslo","days":[1,2`))
	fmt.Println(state.ParsePartial(`{"city":"Oslo","days":[1,2],"uni`))
	// Output:
	// {"city":"Os"}
	// {"city":"Oslo","days":[1,2]}
	// {"city":"Oslo","days":[1,2]}
}
