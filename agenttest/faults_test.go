package agenttest_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// body returns what a server with these faults sends, as far as it comes.
func body(t *testing.T, fs *agenttest.Faults, agent client.Agent) string {
	t.Helper()
	server := agenttest.NewServer(t, agent, fs.Handler)
	resp, err := http.Post(server.URL, "application/json",
		strings.NewReader(`{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"state":{}}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

func TestFaultsAreTheSameForTheSameSeed(t *testing.T) {
	agent := agenttest.Script(agenttest.Pieces(1, agenttest.Say("a text of so many characters that each fault finds one")))
	whole := body(t, agenttest.NewFaults(1), agent)
	bodies := map[string]bool{}
	for seed := range uint64(8) {
		fs := agenttest.NewFaults(seed, agenttest.Drop(agenttest.Somewhere), agenttest.Corrupt(agenttest.Somewhere))
		first := body(t, fs, agent)
		assert.Equal(t, first, body(t, fs, agent))
		assert.NotEqual(t, whole, first, "%v", fs)
		bodies[first] = true
	}
	assert.Greater(t, len(bodies), 4, "other seeds break in other places")
}

func TestFaultsSayHowToMakeThemAgain(t *testing.T) {
	fs := agenttest.NewFaults(7, agenttest.Split(3), agenttest.Cut(2), agenttest.Drop(agenttest.Somewhere), agenttest.Status(503, "busy"), agenttest.ContentType(""))
	assert.Equal(t, `NewFaults(7, Cut(2), Drop(Somewhere), Split(3), Status(503, "busy"), ContentType(""))`, fs.String())
}

func TestCorruptChangesOneByte(t *testing.T) {
	agent := agenttest.Script(agenttest.Say("hello"))
	whole := body(t, agenttest.NewFaults(1), agent)
	for seed := range uint64(20) {
		got := body(t, agenttest.NewFaults(seed, agenttest.Corrupt(3)), agent)
		require.Len(t, got, len(whole))
		different := 0
		for i := range got {
			if got[i] != whole[i] {
				different++
			}
		}
		assert.Equal(t, 1, different)
	}
}

// Whatever byte changes, the run ends, and what came before is there.
func TestARunWithACorruptEventEnds(t *testing.T) {
	for seed := range uint64(100) {
		fs := agenttest.NewFaults(seed, agenttest.Corrupt(agenttest.Somewhere))
		agent := fs.Middleware()(agenttest.Script(agenttest.Events(matrixStream(false)...)))
		c := agenttest.Start(t, agent, &client.SessionOptions{OnWarning: func(event.Warning) {}, Linger: time.Millisecond})
		_, _ = c.Try(&client.RunOptions{RunID: "r", Messages: []*messages.Message{messages.UserText("Hi")}})
		assert.True(t, c.Thread().Status().Ended(), "%v: %v", fs, c.Thread().Status())
		assert.Equal(t, "Hi", c.Thread().Messages.At(0).Text(), "%v", fs)
	}
}

func TestAnswersThatAreNoStreams(t *testing.T) {
	agent := agenttest.Script(agenttest.Say("never"))
	t.Run("a status", func(t *testing.T) {
		for _, agent := range []client.Agent{
			agenttest.NewFaults(1, agenttest.Status(503, "busy")).Middleware()(agent),
			agenttest.NewServer(t, agent, agenttest.NewFaults(1, agenttest.Status(503, "busy")).Handler).Agent(nil),
		} {
			_, err := agenttest.Start(t, agent, nil).Try(nil)
			var status *client.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, 503, status.Status)
			assert.Equal(t, "busy", string(status.Body))
		}
	})
	t.Run("a media type", func(t *testing.T) {
		_, err := agenttest.Start(t, agenttest.NewFaults(1, agenttest.ContentType("text/html")).Middleware()(agent), nil).Try(nil)
		var media *client.ContentTypeError
		require.ErrorAs(t, err, &media)
		assert.Equal(t, "text/html", media.ContentType)
	})
	t.Run("no media type, which is an event stream all the same", func(t *testing.T) {
		var warned []event.Warning
		c := agenttest.Start(t, agenttest.NewFaults(1, agenttest.ContentType("")).Middleware()(agent),
			&client.SessionOptions{OnWarning: func(w event.Warning) { warned = append(warned, w) }})
		c.Say("Hi").Said("never")
		assert.NotEmpty(t, warned)
	})
}

func TestFaultsAroundAnAgentKeepItsOwnError(t *testing.T) {
	own := errors.New("no connection to the model")
	_, err := agenttest.Start(t, agenttest.NewFaults(1, agenttest.Split(2)).Middleware()(agenttest.Script(agenttest.Say("Hel"), agenttest.Break(own))), nil).Try(nil)
	assert.ErrorIs(t, err, own)
}

// careless is an agent that panics, which those of package client do not.
type careless struct{}

func (careless) Run(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
	return func(func(event.Event, error) bool) { panic("careless") }
}

func TestFaultsAroundAnAgentThatPanics(t *testing.T) {
	_, err := agenttest.Start(t, agenttest.NewFaults(1, agenttest.Split(2)).Middleware()(careless{}), nil).Try(nil)
	failed, ok := errors.AsType[*client.PanicError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "careless", failed.Value)
}

func TestFaultsAroundAnAgentTakeNoRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		fs := agenttest.NewFaults(1, agenttest.Delay(2, time.Hour), agenttest.Split(4))
		agenttest.Run(t, fs.Middleware()(agenttest.Script(agenttest.Say("Late."))), "Hi").Said("Late.")
		assert.Equal(t, time.Hour, time.Since(begin))
	})
}

func TestAServerCountsItsRequests(t *testing.T) {
	agenttest.NoLeaks(t)
	server := agenttest.NewServer(t, agenttest.Script(agenttest.Say("Hello.")))
	c := agenttest.Run(t, server.Agent(nil), "Hi", "Again")
	assert.Equal(t, 2, server.Requests())
	require.Len(t, server.Inputs(), 2)
	assert.Equal(t, c.Session().ID(), server.Inputs()[0].ThreadID)
	assert.Len(t, server.Inputs()[1].Messages, 3)
	server.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	_, err := c.Try(&client.RunOptions{Messages: []*messages.Message{messages.UserText("Gone?")}})
	assert.Error(t, err)
	c.Said()
	assert.NotEqual(t, reducer.Succeeded, c.Thread().Status())
}

func TestClosingAServerStopsItsRuns(t *testing.T) {
	agenttest.NoLeaks(t)
	never := make(chan struct{})
	server := agenttest.NewServer(t, agenttest.Script(agenttest.Say("Wait."), agenttest.Await(never)))
	s := client.NewSession(server.Agent(nil), nil)
	defer s.Close()
	done := make(chan error)
	go func() {
		_, err := s.Send(t.Context(), messages.UserText("Hi"))
		done <- err
	}()
	agenttest.WaitFor(t, s, func(now client.Snapshot) bool {
		return now.Messages.Len() == 2 && now.Messages.At(1).Text() == "Wait."
	})
	server.Close()
	assert.Error(t, <-done)
}
