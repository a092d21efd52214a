package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ClockTool is the name of the client's tool that the agent calls if the input offers it. It is called with
// {"zone": "Local"} and should answer {"time": "15:04", ...}.
const ClockTool = "local_time"

// DefaultMessage is a user's message that fits the story.
const DefaultMessage = "Plan a weekend in Lisbon for me, please."

// bookTool is the agent's own tool that it asks the user about.
const bookTool = "book_hotel"

// tell returns the beats of the run that in asks for.
func tell(in *event.RunInput) []beat {
	s := &script{run: in.RunID}
	s.emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID, ProtocolVersion: messages.Some(event.ProtocolVersion)})
	s.pause(thinking)
	var end ending
	switch {
	case len(in.Resume) > 0:
		end = s.decided(in)
	case answered(in.Messages, ClockTool) != nil:
		end = s.propose(answered(in.Messages, ClockTool).Text())
	case continues(in.Messages):
		end = s.chat(in.Messages)
	default:
		end = s.plan(in)
	}
	s.end(in, end)
	return s.beats
}

// ending is how a run ends.
type ending struct {
	outcome event.Outcome
	result  state.Value
	failed  string // with RUN_ERROR, if it is not ""
	tokens  int64
}

func (s *script) end(in *event.RunInput, end ending) {
	usage := []event.TokenUsage{{
		Provider: messages.Some("agfold"), Model: messages.Some("demo-1"),
		InputTokens: messages.Some(200 + 40*int64(len(in.Messages))), OutputTokens: messages.Some(end.tokens),
	}}
	if end.failed != "" {
		s.emit(&event.RunError{Message: end.failed, Code: messages.Some("demo"), Usage: usage})
		return
	}
	s.emit(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Result: end.result, Outcome: end.outcome, Usage: usage})
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
func (s *script) plan(in *event.RunInput) ending {
	s.step("understand", func() {
		s.reason("thoughts", "A weekend means two nights. Lisbon is hilly, so the hotel should be central. "+
			"First a plan, then a search, and my helpers can look at flights and sights at the same time.")
		s.pause(breath)
	})
	s.sayInChunks("hello", "A weekend in Lisbon, lovely. I will make a plan, look for hotels, "+
		"and have two helpers look into flights and sights meanwhile.")
	s.pause(thinking)
	s.step("plan", func() { s.makePlan(in.State) })
	s.step("research", func() {
		s.search()
		s.hotels()
		s.helpers()
	})
	s.patch(replace("/plan/2/done", state.Bool(true)))
	s.pause(working)
	if !offers(in, ClockTool) {
		end := s.propose("")
		end.tokens += 412
		return end
	}
	s.say("ask", "One moment, I check what time it is for you.")
	s.pause(working)
	id := s.call("clock", ClockTool, "ask", `{"zone":"Local"}`)
	return ending{
		outcome: event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: []string{id}},
		tokens:  412,
	}
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
func (s *script) makePlan(was state.Value) {
	if was.Kind() != state.KindObject {
		was = state.Object()
	}
	s.emit(&event.StateSnapshot{Snapshot: was.
		With("plan", state.Array()).
		With("trip", state.Object(member("city", text("Lisbon")), member("nights", state.Int(2))))})
	for _, title := range []string{"find a hotel", "find flights and sights", "settle the details", "book"} {
		s.pause(working / 2)
		s.patch(add("/plan/-", state.Object(member("title", text(title)), member("done", state.Bool(false)))))
	}
	s.pause(working)
}

// search shows the progress of a search as an activity.
func (s *script) search() {
	const kind = "search"
	id := s.id("search")
	s.emit(&event.ActivitySnapshot{MessageID: id, ActivityType: kind, Content: state.Object(
		member("query", text("hotels in Lisbon, central, 2 nights")),
		member("progress", state.Int(0)),
		member("found", state.Array()),
	)})
	for i, hotel := range []string{"Casa do Bairro", "Hotel Alfama Patio", "Solar do Castelo", "Lisboa Rooftop"} {
		s.pause(working)
		s.emit(&event.ActivityDelta{MessageID: id, ActivityType: kind, Patch: state.Patch{
			add("/found/-", text(hotel)), replace("/progress", state.Int(int64(i+1)*25)),
		}})
	}
	s.pause(breath)
}

// hotels calls one of the agent's own tools.
func (s *script) hotels() {
	id := s.call("prices", "hotel_prices", "", `{"city":"Lisbon","nights":2,"hotels":["Casa do Bairro","Solar do Castelo"]}`)
	s.pause(2 * working)
	s.result(id, `{"currency":"EUR","prices":{"Casa do Bairro":214,"Solar do Castelo":298}}`)
	s.pause(breath)
	s.patch(
		add("/trip/hotel", text("Casa do Bairro")),
		add("/trip/price", state.Int(214)),
		replace("/plan/0/done", state.Bool(true)),
	)
	s.pause(breath)
}

// helpers runs two subagents in parallel.
func (s *script) helpers() {
	id := s.call("delegate", "ask_helpers", "", `{"helpers":["flights","sights"]}`)
	s.pause(breath)
	flights, sights := s.helper("flights"), s.helper("sights")
	started := func(helper *script, name, description string) {
		helper.emit(&event.SubagentStarted{
			Attribution: event.By(helper.owner), Name: name, Description: messages.Some(description), ParentToolCallID: messages.Some(id),
		})
		helper.pause(working)
	}
	started(flights, "flights", "looks for flights")
	call := flights.call("search", "flight_search", "", `{"to":"LIS","leave":"Friday","return":"Sunday"}`)
	flights.pause(3 * working)
	flights.result(call, `[{"leave":"Fri 18:40","return":"Sun 20:15","price":139}]`)
	flights.pause(breath)
	flights.say("answer", "There is one flight that fits: Friday 18:40, back on Sunday 20:15, for 139 EUR.")
	flights.patch(add("/trip/flight", text("Fri 18:40, back Sun 20:15")))
	flights.emit(&event.SubagentFinished{Attribution: event.By(flights.owner), Result: state.Object(member("price", state.Int(139)))})

	started(sights, "sights", "picks what to see")
	sights.reason("thoughts", "Two days only: the old town, the river, and a place to eat.")
	sights.pause(breath)
	sights.say("answer", "My three picks: the Alfama quarter in the morning, tram 28 before the crowds, and sunset at Cais das Colunas.")
	sights.patch(add("/trip/sights", state.Array(text("Alfama"), text("tram 28"), text("Cais das Colunas"))))
	sights.emit(&event.SubagentFinished{Attribution: event.By(sights.owner)})

	s.together(flights, sights)
	s.pause(breath)
	s.result(id, "flights and sights have answered")
	s.patch(replace("/plan/1/done", state.Bool(true)))
	s.pause(working)
}

// helper returns an empty script of a subagent.
func (s *script) helper(name string) *script {
	id := s.id(name)
	return &script{owner: messages.SubagentOwner(id), run: id}
}

// propose is what follows the client's time: the agent sums up and asks whether it may book.
func (s *script) propose(clock string) ending {
	var when string
	if now, err := state.Parse([]byte(clock)); err == nil {
		if at, ok := now.Get("time").AsString(); ok && len(at) <= 40 {
			when = fmt.Sprintf("It is %s where you are, and the desk in Lisbon answers round the clock. ", at)
		}
	}
	s.say("proposal", when+"Here is what I have:\n\n"+
		"- Casa do Bairro, two nights, 214 EUR\n"+
		"- flight on Friday 18:40, back on Sunday 20:15, 139 EUR\n"+
		"- Alfama, tram 28, and sunset at Cais das Colunas\n\n"+
		"The room is free. I would book it now.")
	call := s.call("book", bookTool, "proposal", `{"hotel":"Casa do Bairro","nights":2,"price":214}`)
	s.pause(breath)
	return ending{tokens: 96, outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{
		ID:         s.id("approve"),
		Reason:     "tool_call",
		Message:    messages.Some("Book Casa do Bairro for two nights, 214 EUR?"),
		ToolCallID: messages.Some(call),
		ResponseSchema: state.Object(
			member("type", text("object")),
			member("properties", state.Object(member("approved", state.Object(member("type", text("boolean")))))),
			member("required", state.Array(text("approved"))),
		),
	}}}}
}

// decided is the run after the answer to the interrupt.
func (s *script) decided(in *event.RunInput) ending {
	call := find(in.Messages, func(c *messages.ToolCall) bool { return c.Name == bookTool })
	if len(in.Resume) != 1 || call == nil || in.Resume[0].InterruptID != strings.TrimSuffix(call.ID, "-book")+"-approve" {
		return ending{failed: "this does not answer an interrupt of mine"}
	}
	approved := in.Resume[0].Status == event.ResumeResolved
	if approved {
		yes, known := in.Resume[0].Payload.Get("approved").AsBool()
		approved = yes || !known
	}
	planned := in.State.Get("plan").Len() == 4 && in.State.Get("trip").Kind() == state.KindObject
	if !approved {
		s.result(call.ID, `{"booked":false,"reason":"the user declined"}`)
		s.pause(breath)
		if planned {
			s.patch(add("/trip/booked", state.Bool(false)))
		}
		s.say("goodbye", "All right, nothing is booked. The plan stays as it is, should you change your mind. Goodbye!")
		return ending{result: state.Object(member("booked", state.Bool(false))), tokens: 24}
	}
	s.pause(2 * working)
	s.result(call.ID, `{"booked":true,"confirmation":"LX-2140"}`)
	s.pause(breath)
	if planned {
		s.patch(
			add("/trip/booked", state.Bool(true)),
			add("/trip/confirmation", text("LX-2140")),
			replace("/plan/3/done", state.Bool(true)),
		)
	}
	s.say("goodbye", "Done: Casa do Bairro is yours, confirmation LX-2140. Have a wonderful weekend, and goodbye!")
	return ending{
		result: state.Object(member("booked", state.Bool(true)), member("confirmation", text("LX-2140"))),
		tokens: 31,
	}
}

// chat answers what the user says later.
func (s *script) chat(msgs []*messages.Message) ending {
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
	return ending{tokens: 40}
}
