// Command bff is a server between browsers and an agent: it keeps the conversation, starts runs, and streams
// snapshots of the thread, so that the front end needs no protocol but JSON.
//
//	go run ./examples/bff [AGENT-URL]
//	curl -N localhost:8080/thread &
//	curl -d 'Hello' localhost:8080/messages
//	curl -d '{"INTERRUPT-ID": {"approved": true}}' localhost:8080/answers
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/subscribe"
)

func main() {
	var agent client.Agent = client.Emit(greeter)
	if len(os.Args) > 1 {
		agent = client.NewHTTP(os.Args[1], nil)
	}
	s := client.NewSession(agent, nil)
	defer s.Close()
	log.Fatal(http.ListenAndServe("localhost:8080", handler(s)))
}

func handler(s *client.Session) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		// The run continues after this request has ended, and ends with the session.
		res, err := s.Send(context.WithoutCancel(r.Context()), messages.UserText(string(text)))
		reply(w, res, err)
	})
	mux.HandleFunc("POST /answers", func(w http.ResponseWriter, r *http.Request) {
		var payloads map[string]any // by the interrupt's id; null declines
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&payloads); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var answers []client.Answer
		for id, payload := range payloads {
			if payload == nil {
				answers = append(answers, client.Decline(id))
			} else {
				answers = append(answers, client.Resolve(id, payload))
			}
		}
		res, err := s.Resume(context.WithoutCancel(r.Context()), answers...)
		reply(w, res, err)
	})
	mux.HandleFunc("GET /thread", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		// A slow browser gets fewer snapshots, never older ones, and does not delay the run.
		snapshots := s.Subscribe(r.Context())
		for now := range subscribe.Throttle(r.Context(), snapshots, 50*time.Millisecond) {
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", now.Revision, now.AppendJSON(nil))
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
	return mux
}

// reply says how a run ended, or whose fault it is that it did not end well.
func reply(w http.ResponseWriter, res *client.Result, err error) {
	_, unanswered := errors.AsType[*client.InterruptError](err)
	_, pending := errors.AsType[*client.PendingCallError](err)
	switch {
	case errors.Is(err, client.ErrBusy), unanswered, pending: // nothing was sent: the browser must wait or answer first
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		fmt.Fprintln(w, res.Status)
	}
}

// greeter is an agent for when there is none.
func greeter(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
	id := "answer-" + in.RunID
	return emit(
		&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
		&event.TextMessageStart{MessageID: id},
		&event.TextMessageContent{MessageID: id, Delta: "Hello! "},
		&event.TextMessageContent{MessageID: id, Delta: fmt.Sprintf("That was message %d.", len(in.Messages))},
		&event.TextMessageEnd{MessageID: id},
		&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID},
	)
}
