package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

// script is an agent that does what its seed says: it talks, calls tools, changes the state, asks, fails, breaks rules, breaks off.
func script(seed uint64) client.Agent {
	var mu sync.Mutex
	run := uint64(0)
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		mu.Lock()
		run++
		r := rand.New(rand.NewPCG(seed, run))
		mu.Unlock()
		if r.IntN(20) == 0 {
			return errors.New("it does not begin")
		}
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return err
		}
		id := func(kind string) string { return fmt.Sprint(kind, in.RunID, r.IntN(3)) }
		for range r.IntN(30) {
			var list []event.Event
			switch r.IntN(12) {
			case 0, 1, 2:
				m := id("m")
				list = append(list, &event.TextMessageStart{MessageID: m, Role: messages.RoleAssistant},
					&event.TextMessageContent{MessageID: m, Delta: "é \n\u2028"}, &event.TextMessageContent{MessageID: m, Delta: "more"}, &event.TextMessageEnd{MessageID: m})
			case 3, 4:
				list = append(list, &event.TextMessageChunk{MessageID: messages.Some(id("k")), Delta: messages.Some("chunk")})
			case 5:
				c := id("c")
				list = append(list, &event.ToolCallStart{ToolCallID: c, ToolCallName: []string{"own", "theirs"}[r.IntN(2)]},
					&event.ToolCallArgs{ToolCallID: c, Delta: `{"a":`}, &event.ToolCallArgs{ToolCallID: c, Delta: `1}`}, &event.ToolCallEnd{ToolCallID: c})
			case 6:
				list = append(list, &event.StateSnapshot{Snapshot: state.Object(state.Member{Key: "n", Value: state.Int(int64(r.IntN(9)))})})
			case 7:
				list = append(list, &event.StateDelta{Delta: state.Patch{{Kind: state.OpAdd, Path: "/x", Value: state.Int(int64(r.IntN(9)))}}})
			case 8:
				list = append(list, &event.StepStarted{StepName: "s"}, &event.StepFinished{StepName: "s"})
			case 9:
				if f, err := event.NewFrame([]byte("{\"type\":\"CUSTOM\",\n \"name\":\"n\",\"value\":[1,\n2]}")); err == nil {
					list = append(list, f)
				}
			case 10:
				if r.IntN(8) == 0 {
					list = append(list, &event.TextMessageContent{MessageID: "never opened", Delta: "x"})
				}
			case 11:
				if r.IntN(8) == 0 {
					return errors.New("it breaks off")
				}
				time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
			}
			if err := emit(list...); err != nil {
				return err
			}
		}
		switch r.IntN(8) {
		case 0:
			return emit(&event.RunError{Message: "it failed"})
		case 1:
			return emit(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: id("i"), Reason: "ask"}}}})
		case 2:
			return nil
		}
		err := emit(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
		if r.IntN(3) == 0 && err == nil { // the stream lingers, and another run may begin on it
			time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
			if r.IntN(2) == 0 {
				return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID + "+"}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID + "+"})
			}
		}
		return err
	})
}

// act does something with a session.
func act(ctx context.Context, r *rand.Rand, s *client.Session) {
	switch r.IntN(10) {
	case 0:
		_ = s.AddMessages(messages.UserText("added"))
	case 1:
		_ = s.SetState(state.Object(state.Member{Key: "set", Value: state.Int(int64(r.IntN(9)))}))
	case 2:
		if list := s.Thread().Messages.Slice(); len(list) > 0 {
			_ = s.SetMessages(list[:r.IntN(len(list))]...)
		}
	case 3:
		if turn, err := s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("stop me")}}); err == nil {
			time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
			_ = turn.Stop(ctx)
		}
	case 4:
		_, _ = s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("queued")}, WhenBusy: client.Queue})
		_, _ = s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("queued too")}, WhenBusy: client.Queue})
	case 5:
		for c := range s.Thread().PendingToolCalls() {
			_ = s.AddMessages(&messages.Message{Role: messages.RoleTool, ToolCallID: c.ID, Content: messages.Text("answered")})
		}
	default:
		o := &client.RunOptions{Messages: []*messages.Message{messages.UserText("say")}}
		o.Resume = client.AnswerAll(s.Thread().Interrupts, func(in event.Interrupt) client.Answer { return client.Decline(in.ID) })
		if turn, err := s.Start(ctx, o); err == nil {
			_, _ = turn.Wait(ctx)
		}
	}
}

// Whatever agent and client do: a follower has, at each revision, the thread that the writer had there, byte for byte, from
// wherever it has begun; so has the next writer.
func TestFollowersHaveTheThreadOfTheWriterAtEachRevision(t *testing.T) {
	url := serverOf(t, nil).URL()
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	here := logOf(t, url, Options{CheckpointBytes: 3000})
	there := logOf(t, url, Options{})
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { story(t, seed, here, there) })
	}
}

func story(t *testing.T, seed uint64, here, there *Log) {
	id := fmt.Sprint("story/", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	written := map[uint64]string{}
	var followers []*Follower
	var revisions []*subscribe.Revisions[client.Snapshot]
	join := func() {
		f := there.Watch(t.Context(), id, nil)
		<-f.Ready()
		followers = append(followers, f)
		revisions = append(revisions, f.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1 << 16}))
	}
	join()
	for life := range 3 {
		h, err := here.Hold(t.Context(), id)
		require.NoError(t, err)
		tools := []client.Tool{{Tool: event.Tool{Name: "theirs"}}, client.NewTool("own", "", func(context.Context, struct{ A int }) (any, error) { return "ok", nil })}
		s := h.Session(script(seed*10+uint64(life)), &client.SessionOptions{Tools: tools, OnWarning: func(event.Warning) {}})
		own := s.Revisions(context.Background(), &subscribe.EveryOptions{Buffer: 1 << 16})
		for range 12 {
			act(t.Context(), r, s)
			if r.IntN(6) == 0 {
				join()
			}
		}
		require.NoError(t, s.Wait(t.Context()))
		last := string(s.Thread().AppendJSON(nil))
		s.Close()
		for snapshot := range own.C {
			written[snapshot.Revision] = string(snapshot.AppendJSON(nil))
		}
		require.NoError(t, h.Save(t.Context(), s.Thread))
		for _, f := range followers {
			same(t, s, f)
		}
		require.Equal(t, last, string(s.Thread().AppendJSON(nil)))
		require.NoError(t, h.Close())
	}
	for i, f := range followers {
		want := string(f.Snapshot().AppendJSON(nil))
		seen := 0
		for snapshot := range revisions[i].C {
			text := string(snapshot.AppendJSON(nil))
			if snapshot.Revision > 0 {
				require.Equal(t, written[snapshot.Revision], text, "follower %d at revision %d", i, snapshot.Revision)
				seen++
			}
			if text == want && len(revisions[i].C) == 0 {
				break
			}
		}
		require.Positive(t, seen)
	}
}
