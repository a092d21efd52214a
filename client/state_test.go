package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

type plan struct {
	City  string   `json:"city"`
	Days  int      `json:"days,omitempty"`
	Stops []stop   `json:"stops"`
	Hotel *hotel   `json:"hotel,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Inner inner    `json:"inner"`
}

type stop struct {
	Name string `json:"name"`
	Done bool   `json:"done"`
}

type hotel struct {
	Stars int `json:"stars"`
}

type inner struct {
	N int `json:"n"`
}

func TestStateGet(t *testing.T) {
	th := &reducer.Thread{State: parsed(t, `{"plan":{"city":"Oslo","unknown":1,"days":2},"n":1.0}`)}
	got, err := client.State[plan]{Path: "/plan"}.Get(th)
	require.NoError(t, err)
	assert.Equal(t, plan{City: "Oslo", Days: 2}, got)
	n, err := client.State[int]{Path: "/n"}.Get(th)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	all, err := client.State[map[string]any]{}.Get(th)
	require.NoError(t, err)
	assert.Len(t, all, 2)
	_, err = client.State[int]{Path: "/m"}.Get(th)
	require.ErrorIs(t, err, state.ErrPath)
	_, err = client.State[int]{Path: "/plan"}.Get(th)
	require.Error(t, err)
	assert.NotErrorIs(t, err, state.ErrPath)

	s := client.NewSession(script(), quiet(client.SessionOptions{State: parsed(t, `{"n":7}`)}))
	n, err = client.State[int]{Path: "/n"}.Get(s.Snapshot().Thread)
	require.NoError(t, err)
	assert.Equal(t, 7, n)
}

func TestStatePatch(t *testing.T) {
	const held = `{"plan":{"city":"Oslo","x":{"y":1},"stops":[{"name":"a","done":false,"id":1},{"name":"b","done":false,"id":2},{"name":"c","done":true,"id":3}]},"other":[1,2]}`
	for _, tt := range []struct {
		name, state, path string
		change            func(*plan)
		want              string
		ops               int
	}{
		{"nothing", held, "/plan", func(*plan) {}, held, 0},
		{"one member, and unknown ones stay", held, "/plan", func(p *plan) { p.City = "Rome" },
			`{"plan":{"city":"Rome","x":{"y":1},"stops":[{"name":"a","done":false,"id":1},{"name":"b","done":false,"id":2},{"name":"c","done":true,"id":3}]},"other":[1,2]}`, 1},
		{"an element, which keeps what T does not know", held, "/plan", func(p *plan) { p.Stops[1].Done = true },
			`{"plan":{"city":"Oslo","x":{"y":1},"stops":[{"name":"a","done":false,"id":1},{"name":"b","done":true,"id":2},{"name":"c","done":true,"id":3}]},"other":[1,2]}`, 1},
		{"an element is removed, and the others keep theirs", held, "/plan", func(p *plan) { p.Stops = append(p.Stops[:1:1], p.Stops[2]) },
			`{"plan":{"city":"Oslo","x":{"y":1},"stops":[{"name":"a","done":false,"id":1},{"name":"c","done":true,"id":3}]},"other":[1,2]}`, 1},
		{"two elements are put in", held, "/plan", func(p *plan) { p.Stops = []stop{{Name: "z"}, p.Stops[0], {Name: "y"}, p.Stops[1], p.Stops[2]} },
			`{"plan":{"city":"Oslo","x":{"y":1},"stops":[{"name":"z","done":false},{"name":"a","done":false,"id":1},{"name":"y","done":false},{"name":"b","done":false,"id":2},{"name":"c","done":true,"id":3}]},"other":[1,2]}`, 2},
		{"a member that the state did not have", held, "/plan", func(p *plan) { p.Days = 3; p.Hotel = &hotel{4}; p.Inner.N = 5 },
			`{"plan":{"city":"Oslo","days":3,"hotel":{"stars":4},"inner":{"n":5},"x":{"y":1},"stops":[{"name":"a","done":false,"id":1},{"name":"b","done":false,"id":2},{"name":"c","done":true,"id":3}]},"other":[1,2]}`, 3},
		{"a member goes", `{"plan":{"city":"x","days":3,"tags":["a"],"z":null}}`, "/plan", func(p *plan) { p.Days = 0; p.Tags = nil }, `{"plan":{"city":"x","z":null}}`, 2},
		{"a number keeps its digits", `{"city":"x","days":1,"inner":{"n":2,"f":1.50},"big":9007199254740993}`, "", func(p *plan) { p.Inner.N = 3 }, `{"city":"x","days":1,"inner":{"n":3,"f":1.50},"big":9007199254740993}`, 1},
		{"a list that was null", `{"city":"x","stops":null}`, "", func(p *plan) { p.Stops = []stop{{Name: "a"}} }, `{"city":"x","stops":[{"name":"a","done":false}]}`, 1},
		{"a place that is not there", `{}`, "/a/b~1c", func(p *plan) { p.City = "x" }, `{"a":{"b/c":{"city":"x","stops":null,"inner":{"n":0}}}}`, 1},
		{"an absent state", ``, "/a", func(p *plan) { p.City = "x" }, `{"a":{"city":"x","stops":null,"inner":{"n":0}}}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before state.Value
			if tt.state != "" {
				before = parsed(t, tt.state)
			}
			patch, err := client.State[plan]{Path: tt.path}.Patch(before, func(p *plan) error {
				tt.change(p)
				return nil
			})
			require.NoError(t, err)
			assert.Len(t, patch, tt.ops)
			if !before.Exists() {
				before = state.Object()
			}
			after, err := before.Apply(patch)
			require.NoError(t, err)
			assert.True(t, parsed(t, tt.want).Equal(after), "%s", after)
		})
	}
	t.Run("errors change nothing", func(t *testing.T) {
		no := errors.New("no")
		_, err := client.State[plan]{}.Patch(parsed(t, `{}`), func(*plan) error { return no })
		require.ErrorIs(t, err, no)
		_, err = client.State[plan]{Path: "/n"}.Patch(parsed(t, `{"n":1}`), func(*plan) error { t.Error("called"); return nil })
		require.Error(t, err)
		_, err = client.State[plan]{Path: "/n/m"}.Patch(parsed(t, `{"n":1}`), func(*plan) error { return nil })
		require.ErrorAs(t, err, new(*state.PatchError))
		_, err = client.State[func()]{}.Patch(parsed(t, `null`), func(f *func()) error { return nil })
		require.Error(t, err, "what cannot be encoded")
	})
	t.Run("a long list that is shuffled costs a bounded time", func(t *testing.T) {
		list := make([]int, 20_000)
		for i := range list {
			list[i] = i
		}
		before, err := state.Of(list)
		require.NoError(t, err)
		patch, err := client.State[[]int]{}.Patch(before, func(l *[]int) error {
			for i := range *l {
				(*l)[i] = len(*l) - i + 7
			}
			*l = append(*l, -1)
			return nil
		})
		require.NoError(t, err)
		after, err := before.Apply(patch)
		require.NoError(t, err)
		assert.Equal(t, 20_001, after.Len())
		v, _ := after.Index(0).AsInt()
		assert.EqualValues(t, 20_007, v)
	})
}

func TestStateUpdate(t *testing.T) {
	agent := script(says(begins, succeeds))
	s := client.NewSession(agent, quiet(client.SessionOptions{State: parsed(t, `{"plan":{"city":"Oslo","x":1}}`), MaxPatchedBytes: 200}))
	defer s.Close()
	p := client.State[plan]{Path: "/plan"}
	require.NoError(t, p.Update(s, func(v *plan) error {
		assert.Equal(t, "Oslo", v.City)
		v.City = "Rome"
		return nil
	}))
	assert.Equal(t, `{"plan":{"city":"Rome","x":1}}`, s.Thread().State.String())
	revision := s.Thread().Revision
	require.NoError(t, p.Update(s, func(*plan) error { return nil }))
	assert.Equal(t, revision, s.Thread().Revision, "nothing changed")
	_, err := s.Send(t.Context(), messages.UserText("hi"))
	require.NoError(t, err)
	assert.Equal(t, `{"plan":{"city":"Rome","x":1}}`, agent.inputs[0].State.String(), "the agent gets it")

	err = p.Update(s, func(v *plan) error { v.City = string(make([]byte, 300)); return nil })
	require.ErrorAs(t, err, new(*state.PatchError))
	assert.Equal(t, `{"plan":{"city":"Rome","x":1}}`, s.Thread().State.String())

	s.Close()
	assert.ErrorIs(t, p.Update(s, func(v *plan) error { v.City = "x"; return nil }), client.ErrClosed)
}

func TestStateUpdatesDoNotLoseEachOther(t *testing.T) {
	s := client.NewSession(script(), quiet(client.SessionOptions{}))
	n := client.State[int]{Path: "/n"}
	done := make(chan error)
	for range 8 {
		go func() {
			for range 50 {
				if err := n.Update(s, func(v *int) error { *v++; return nil }); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	got, err := n.Get(s.Thread())
	require.NoError(t, err)
	assert.Equal(t, 400, got)
}

func TestStateWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		decoded = 0
		s := client.NewSession(script(says(begins,
			&event.StateSnapshot{Snapshot: parsed(t, `{"n":1,"x":1}`)}, &event.StateSnapshot{Snapshot: parsed(t, `{"n":1,"x":2}`)},
			&event.StateSnapshot{Snapshot: parsed(t, `{"n":"no"}`)}, &event.StateSnapshot{Snapshot: parsed(t, `{}`)}, &event.StateSnapshot{Snapshot: parsed(t, `{"n":2}`)}, succeeds,
		)), quiet(client.SessionOptions{State: parsed(t, `{"n":0}`)}))
		ctx, cancel := context.WithCancel(t.Context())
		readings := client.State[numeral]{Path: "/n"}.Watch(ctx, s)
		var got []string
		take := func() {
			synctest.Wait()
			select {
			case r := <-readings:
				switch {
				case errors.Is(r.Err, state.ErrPath):
					got = append(got, "none")
				case r.Err != nil:
					got = append(got, "error")
				default:
					got = append(got, string(r.Value))
				}
			default:
			}
		}
		take()
		for _, err := range s.Run(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("hi")}}) {
			require.NoError(t, err)
			take()
		}
		time.Sleep(time.Second)
		take()
		assert.Equal(t, []string{"0", "1", "error", "none", "2"}, got)
		assert.Equal(t, 4, decoded, "each value once")
		cancel()
		synctest.Wait()
		_, ok := <-readings
		assert.False(t, ok)
		s.Close()
	})
}

var decoded int

// numeral is a number that counts how often one is decoded.
type numeral string

func (c *numeral) UnmarshalJSON(data []byte) error {
	decoded++
	if data[0] == '"' {
		return errors.New("not a number")
	}
	*c = numeral(data)
	return nil
}
