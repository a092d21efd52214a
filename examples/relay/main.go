// Command relay stands between browsers that speak AG-UI and an agent: it records each run, folds it, and passes it on.
//
//	go run ./examples/relay AGENT-URL
package main

import (
	"context"
	"iter"
	"log"
	"net/http"
	"os"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

func main() {
	log.Fatal(http.ListenAndServe("localhost:8080", handler(os.Args[1], os.TempDir())))
}

func handler(url, recordings string) http.Handler {
	agent := client.NewHTTP(url, nil)
	relay := client.Chain(agent, keep(recordings, report))
	return serve.Agent(relay, nil)
}

// report is what is done with a run that has ended.
func report(th *reducer.Thread) {
	log.Printf("thread %q: %d messages, %s", th.ID, th.Messages.Len(), th.Status())
}

// keep records each run in a file of its own and folds it into the thread that its client has then.
func keep(dir string, done func(*reducer.Thread)) client.Middleware {
	return func(next client.Agent) client.Agent {
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				file, err := os.CreateTemp(dir, "run-*.agfold")
				if err != nil {
					yield(nil, err)
					return
				}
				defer file.Close()
				fold := reducer.New(&reducer.Options{Input: &in})
				for ev, err := range client.Chain(next, client.Record(recording.NewWriter(file))).Run(ctx, in) {
					if err == nil {
						err = fold.Apply(ev)
					}
					if !yield(ev, err) || err != nil {
						break
					}
				}
				done(fold.End(ctx.Err()))
			}
		})
	}
}
