package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// ClockTool is the name of the client's tool that the agent calls if the input offers it. It is called with
// {"zone": "Local"} and should answer {"time": "15:04", ...}.
const ClockTool = "local_time"

// DefaultMessage is a user's message that fits the story.
const DefaultMessage = "Plan a weekend in Lisbon for me, please."

// bookTool is the agent's own tool that it asks the user about.
const bookTool = "book_hotel"

// tell plays the run that its input asks for.
func (s *script) tell(run *emit.Run) error {
	s.pause(thinking)
	in := run.Input()
	var tokens int64
	var err error
	switch {
	case len(in.Resume) > 0:
		tokens, err = s.decided(run)
	case answered(in.Messages, ClockTool) != nil:
		tokens = s.propose(run, answered(in.Messages, ClockTool).Text())
	case continues(in.Messages):
		tokens = s.chat(in.Messages)
	default:
		tokens = s.plan(run)
	}
	_ = run.AddUsage(event.TokenUsage{
		Provider: messages.Some("agfold"), Model: messages.Some("demo-1"),
		InputTokens: messages.Some(200 + 40*int64(len(in.Messages))), OutputTokens: messages.Some(tokens),
	})
	return err
}

// answered returns the tool message that answers the last call of a tool, if nothing has happened since.
func answered(msgs []*messages.Message, tool string) *messages.Message {
	if len(msgs) == 0 || msgs[len(msgs)-1].Role != messages.RoleTool {
		return nil
	}
	last := msgs[len(msgs)-1]
	if call := find(msgs, func(c *messages.ToolCall) bool { return c.ID == last.ToolCallID }); call == nil || call.Name != tool {
		return nil
	}
	return last
}

// find returns the last matching tool call.
func find(msgs []*messages.Message, fits func(*messages.ToolCall) bool) *messages.ToolCall {
	for i := len(msgs) - 1; i >= 0; i-- {
		for _, call := range msgs[i].ToolCalls.Backward() {
			if fits(call) {
				return call
			}
		}
	}
	return nil
}

// continues reports whether the agent has spoken before.
func continues(msgs []*messages.Message) bool {
	for _, m := range msgs {
		if m.Role == messages.RoleAssistant {
			return true
		}
	}
	return false
}

// plan is the first run: the agent understands, plans, searches, asks its helpers, and then asks the client
// for the time.
func (s *script) plan(run *emit.Run) (tokens int64) {
	in := run.Input()
	s.step("understand", func() {
		s.reason("thoughts", "A weekend means two nights. Lisbon is hilly, so the hotel should be central. "+
			"First a plan, then a search, and my helpers can look at flights and sights at the same time.")
		s.pause(breath)
	})
	s.stream(s.Text(&emit.TextOptions{ID: s.id("hello"), Chunks: true}), "A weekend in Lisbon, lovely. I will make a plan, "+
		"look for hotels, and have two helpers look into flights and sights meanwhile.")
	s.pause(thinking)
	s.step("plan", s.makePlan)
	s.step("research", func() {
		s.search()
		s.hotels()
		s.helpers()
	})
	s.set("/plan/2/done", true)
	s.pause(working)
	if !offers(&in, ClockTool) {
		return 412 + s.propose(run, "")
	}
	ask := s.say("ask", "One moment, I check what time it is for you.")
	s.pause(working)
	s.stream(ask.Call(ClockTool, s.callID("clock")), `{"zone":"Local"}`)
	return 412
}

func offers(in *event.RunInput, tool string) bool {
	for _, t := range in.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// makePlan puts the plan into the shared state, which keeps what the client had in it.
func (s *script) makePlan() {
	_ = s.State().Replace(s.State().Value().
		With("plan", state.Array()).
		With("trip", state.Object(member("city", text("Lisbon")), member("nights", state.Int(2)))))
	for _, title := range []string{"find a hotel", "find flights and sights", "settle the details", "book"} {
		s.pause(working / 2)
		s.set("/plan/-", state.Object(member("title", text(title)), member("done", state.Bool(false))))
	}
	s.pause(working)
}

// search shows the progress of a search as an activity.
func (s *script) search() {
	activity, err := s.Activity("search", state.Object(
		member("query", text("hotels in Lisbon, central, 2 nights")),
		member("progress", state.Int(0)),
		member("found", state.Array()),
	), &emit.ActivityOptions{ID: s.id("search")})
	if err != nil {
		return
	}
	for i, hotel := range []string{"Casa do Bairro", "Hotel Alfama Patio", "Solar do Castelo", "Lisboa Rooftop"} {
		s.pause(working)
		_ = activity.Apply(state.Patch{add("/found/-", text(hotel)), replace("/progress", state.Int(int64(i+1)*25))})
	}
	s.pause(breath)
}

// hotels calls one of the agent's own tools.
func (s *script) hotels() {
	call := s.call("prices", "hotel_prices", `{"city":"Lisbon","nights":2,"hotels":["Casa do Bairro","Solar do Castelo"]}`)
	s.pause(2 * working)
	_ = call.Result(`{"currency":"EUR","prices":{"Casa do Bairro":214,"Solar do Castelo":298}}`)
	s.pause(breath)
	s.patch(add("/trip/hotel", text("Casa do Bairro")), add("/trip/price", state.Int(214)), replace("/plan/0/done", state.Bool(true)))
	s.pause(breath)
}

// helpers runs two subagents in parallel.
func (s *script) helpers() {
	delegate := s.call("delegate", "ask_helpers", `{"helpers":["flights","sights"]}`)
	s.pause(breath)
	s.together(func(s *script) {
		s, flights := s.helper("flights", "looks for flights", delegate)
		call := s.call("search", "flight_search", `{"to":"LIS","leave":"Friday","return":"Sunday"}`)
		s.pause(3 * working)
		_ = call.Result(`[{"leave":"Fri 18:40","return":"Sun 20:15","price":139}]`)
		s.pause(breath)
		s.say("answer", "There is one flight that fits: Friday 18:40, back on Sunday 20:15, for 139 EUR.")
		s.set("/trip/flight", "Fri 18:40, back Sun 20:15")
		_ = flights.Finish(object{"price": 139})
	}, func(s *script) {
		s, sights := s.helper("sights", "picks what to see", delegate)
		s.reason("thoughts", "Two days only: the old town, the river, and a place to eat.")
		s.pause(breath)
		s.say("answer", "My three picks: the Alfama quarter in the morning, tram 28 before the crowds, and sunset at Cais das Colunas.")
		s.set("/trip/sights", []string{"Alfama", "tram 28", "Cais das Colunas"})
		_ = sights.Close()
	})
	s.pause(breath)
	_ = delegate.Result("flights and sights have answered")
	s.set("/plan/1/done", true)
	s.pause(working)
}

// helper begins a subagent, and returns the script that plays it.
func (s *script) helper(name, description string, call *emit.Call) (*script, *emit.Subagent) {
	sub := s.Subagent(name, &emit.SubagentOptions{ID: s.id(name), Description: description, Call: call})
	s.pause(working)
	return &script{Scope: &sub.Scope, ids: sub.ID(), pause: s.pause}, sub
}

// propose is what follows the client's time: the agent sums up and asks whether it may book.
func (s *script) propose(run *emit.Run, clock string) (tokens int64) {
	var when string
	if now, err := state.Parse([]byte(clock)); err == nil {
		if at, ok := now.Get("time").AsString(); ok && len(at) <= 40 {
			when = fmt.Sprintf("It is %s where you are, and the desk in Lisbon answers round the clock. ", at)
		}
	}
	proposal := s.say("proposal", when+"Here is what I have:\n\n"+
		"- Casa do Bairro, two nights, 214 EUR\n"+
		"- flight on Friday 18:40, back on Sunday 20:15, 139 EUR\n"+
		"- Alfama, tram 28, and sunset at Cais das Colunas\n\n"+
		"The room is free. I would book it now.")
	call := proposal.Call(bookTool, s.callID("book"))
	s.stream(call, `{"hotel":"Casa do Bairro","nights":2,"price":214}`)
	s.pause(breath)
	_, _ = run.Interrupt(event.Interrupt{
		ID:         s.id("approve"),
		Reason:     "tool_call",
		Message:    messages.Some("Book Casa do Bairro for two nights, 214 EUR?"),
		ToolCallID: messages.Some(call.ID()),
		ResponseSchema: state.Object(
			member("type", text("object")),
			member("properties", state.Object(member("approved", state.Object(member("type", text("boolean")))))),
			member("required", state.Array(text("approved"))),
		),
	})
	return 96
}

// decided is the run after the answer to the interrupt.
func (s *script) decided(run *emit.Run) (tokens int64, err error) {
	in := run.Input()
	call := find(in.Messages, func(c *messages.ToolCall) bool { return c.Name == bookTool })
	if len(in.Resume) != 1 || call == nil || in.Resume[0].InterruptID != strings.TrimSuffix(call.ID, "-book")+"-approve" {
		return 0, &reducer.AgentError{Message: "this does not answer an interrupt of mine", Code: messages.Some("demo")}
	}
	approved := in.Resume[0].Status == event.ResumeResolved
	if approved {
		yes, known := in.Resume[0].Payload.Get("approved").AsBool()
		approved = yes || !known
	}
	planned := in.State.Get("plan").Len() == 4 && in.State.Get("trip").Kind() == state.KindObject
	if !approved {
		_ = run.Result(call.ID, `{"booked":false,"reason":"the user declined"}`)
		s.pause(breath)
		if planned {
			s.set("/trip/booked", false)
		}
		s.say("goodbye", "All right, nothing is booked. The plan stays as it is, should you change your mind. Goodbye!")
		return 24, run.SetResult(object{"booked": false})
	}
	s.pause(2 * working)
	_ = run.Result(call.ID, `{"booked":true,"confirmation":"LX-2140"}`)
	s.pause(breath)
	if planned {
		s.patch(add("/trip/booked", state.Bool(true)), add("/trip/confirmation", text("LX-2140")), replace("/plan/3/done", state.Bool(true)))
	}
	s.say("goodbye", "Done: Casa do Bairro is yours, confirmation LX-2140. Have a wonderful weekend, and goodbye!")
	return 31, run.SetResult(object{"booked": true, "confirmation": "LX-2140"})
}

// chat answers what the user says later.
func (s *script) chat(msgs []*messages.Message) (tokens int64) {
	said := ""
	for _, m := range msgs {
		if m.Role == messages.RoleUser {
			said = m.Text()
		}
	}
	const longest = 120
	if runes := []rune(said); len(runes) > longest {
		said = string(runes[:longest]) + "…"
	}
	s.pause(time.Duration(min(len(said), 20)) * perPiece)
	s.say("answer", fmt.Sprintf("You said %q. I am only a demo and know no more than one weekend in Lisbon; "+
		"start a new thread and I will plan it again.", said))
	return 40
}
