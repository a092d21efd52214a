package reducer

import (
	"sync"

	"github.com/agfold/agfold/messages"
)

// fewMessages are found faster by looking at each.
const fewMessages = 32

// finder finds the messages of a thread by their ids. All snapshots of one history share it. It knows the list that it was
// asked about last and, asked about another one, looks only at what differs from there on, so that it is right about
// any list, and quick about the next one of the same history.
type finder struct {
	mu   sync.Mutex
	list messages.List[*messages.Message]

	last       map[string]int32 // the last message with an id
	before     []int32          // for each message, the one before it with its id, -1 if there is none
	lastResult map[string]int32 // the last tool message that answers a call
	beforeIt   []int32          // for each tool message, the one before it that answers its call; -1 for others too
	firstCall  map[string]int32 // the first message that holds a call with an id
}

// message returns the place of the last message with this id, -1 if there is none.
func (f *finder) message(list messages.List[*messages.Message], id string) int {
	return f.find(list, func() (int32, bool) { i, ok := f.last[id]; return i, ok })
}

// result returns the place of the last tool message that answers a call, -1 if there is none.
func (f *finder) result(list messages.List[*messages.Message], callID string) int {
	return f.find(list, func() (int32, bool) { i, ok := f.lastResult[callID]; return i, ok })
}

// holder returns the place of the first message that holds a call with this id, -1 if there is none.
func (f *finder) holder(list messages.List[*messages.Message], callID string) int {
	return f.find(list, func() (int32, bool) { i, ok := f.firstCall[callID]; return i, ok })
}

func (f *finder) find(list messages.List[*messages.Message], look func() (int32, bool)) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follow(list)
	if i, ok := look(); ok {
		return int(i)
	}
	return -1
}

// follow makes the index that of list.
func (f *finder) follow(list messages.List[*messages.Message]) {
	if messages.Same(f.list, list) && f.last != nil {
		return
	}
	if f.last == nil {
		f.last, f.lastResult, f.firstCall = make(map[string]int32, list.Len()), map[string]int32{}, map[string]int32{}
	}
	same := min(f.list.Len(), list.Len())
	for i := range messages.Diff(f.list, list) {
		if !sameKeys(f.list.At(i), list.At(i)) {
			same = i
			break
		}
	}
	for i := f.list.Len() - 1; i >= same; i-- {
		f.forget(int32(i), f.list.At(i))
	}
	for i, m := range list.From(same) {
		f.note(int32(i), m)
	}
	f.list = list
}

// note adds the message at the end of the index.
func (f *finder) note(i int32, m *messages.Message) {
	f.before = append(f.before, chain(f.last, m.ID, i))
	result := int32(-1)
	if m.Role == messages.RoleTool {
		result = chain(f.lastResult, m.ToolCallID, i)
	}
	f.beforeIt = append(f.beforeIt, result)
	for _, tc := range m.ToolCalls.All() {
		if _, known := f.firstCall[tc.ID]; !known {
			f.firstCall[tc.ID] = i
		}
	}
}

// forget removes the message at the end of the index.
func (f *finder) forget(i int32, m *messages.Message) {
	unchain(f.last, m.ID, f.before[i])
	if m.Role == messages.RoleTool {
		unchain(f.lastResult, m.ToolCallID, f.beforeIt[i])
	}
	f.before, f.beforeIt = f.before[:i], f.beforeIt[:i]
	for _, tc := range m.ToolCalls.All() {
		if f.firstCall[tc.ID] == i {
			delete(f.firstCall, tc.ID)
		}
	}
}

// chain makes i the last of an id and returns the one before it.
func chain(last map[string]int32, id string, i int32) int32 {
	before, known := last[id]
	last[id] = i
	if !known {
		return -1
	}
	return before
}

func unchain(last map[string]int32, id string, before int32) {
	if before < 0 {
		delete(last, id)
	} else {
		last[id] = before
	}
}

// sameKeys reports whether a and b are found by the same ids.
func sameKeys(a, b *messages.Message) bool {
	if a.ID != b.ID || a.Role != b.Role || a.ToolCallID != b.ToolCallID || a.ToolCalls.Len() != b.ToolCalls.Len() {
		return false
	}
	for i := range messages.Diff(a.ToolCalls, b.ToolCalls) {
		if a.ToolCalls.At(i).ID != b.ToolCalls.At(i).ID {
			return false
		}
	}
	return true
}
