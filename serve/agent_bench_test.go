package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
)

// A request whose messages are all unrecognized costs in proportion to its size, and about what one costs whose messages are
// in order (P-ENF-3).
func BenchmarkRequest(b *testing.B) {
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	handler := serve.Agent(agent, &serve.AgentOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	for _, role := range []string{"user", "narrator"} {
		for _, size := range []int{1, 3, 12} {
			body := []byte(`{"threadId":"t","runId":"r","messages":[`)
			for i := 0; len(body) < size<<20; i++ {
				body = fmt.Appendf(body, `{"id":"m%d","role":%q,"content":"x"},`, i, role)
			}
			body = append(body[:len(body)-1], "]}"...)
			b.Run(fmt.Sprintf("%s/%dMB", role, size), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					w := httptest.NewRecorder()
					if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}
