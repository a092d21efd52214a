package serve

import (
	"context"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/reducer"
)

// NewMemory returns a store that keeps threads in memory, as long as the process lives. It has no bound of its own: what
// Authorize lets through decides how many threads there are.
func NewMemory() Store { return &memory{threads: make(map[string]*reducer.Thread)} }

type memory struct {
	mu      sync.Mutex
	threads map[string]*reducer.Thread
}

func (m *memory) Open(_ context.Context, threadID string) (Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &remembered{m, threadID, m.threads[threadID]}, nil
}

type remembered struct {
	memory *memory
	id     string
	thread *reducer.Thread
}

func (r *remembered) Thread() *reducer.Thread   { return r.thread }
func (r *remembered) Record() client.Middleware { return nil }
func (r *remembered) Lost() <-chan struct{}     { return nil }
func (r *remembered) Close() error              { return nil }

func (r *remembered) Save(_ context.Context, thread func() *reducer.Thread) error {
	th := thread()
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.memory.threads[r.id] = th
	return nil
}
