package weather

import (
	"testing"
	"time"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func TestWeather(t *testing.T) {
	c := agenttest.Run(t, emit.Agent(Weather, nil), "How warm is it in Oslo?")
	c.Call("weather").Arg("/city", "Oslo").ResultAt("/celsius", 4)
	c.Said("It is 4 °C in Oslo.")
}

func TestWeatherOverALineThatBreaks(t *testing.T) {
	faults := agenttest.NewFaults(1, agenttest.Cut(4), agenttest.Split(5))
	server := agenttest.NewServer(t, emit.Agent(Weather, nil), faults.Handler)
	c := agenttest.Start(t, server.Agent(nil), nil)
	c.Try(&client.RunOptions{Messages: []*messages.Message{messages.UserText("How warm is it in Oslo?")}})
	c.Ended(reducer.Truncated).Call("weather")
}

// A program that talks to an agent is tested with a script in the agent's place.
func TestTheAnswerShows(t *testing.T) {
	agent := agenttest.Script(
		agenttest.Think("A question about the weather."),
		agenttest.Call("weather", map[string]string{"city": "Oslo"}),
		agenttest.Pause(20*time.Millisecond),
		agenttest.Result(map[string]int{"celsius": 4}),
		agenttest.Chunked(agenttest.Say("It is 4 °C in Oslo.")),
	)
	s := client.NewSession(agent, nil)
	defer s.Close()
	go s.Send(t.Context(), messages.UserText("How warm is it in Oslo?"))
	agenttest.WaitFor(t, s, func(now client.Snapshot) bool {
		return now.Phase == client.PhaseIdle && now.Messages.Len() == 5
	})
}
