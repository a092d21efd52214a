package serve

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// entry is a loaded thread.
type entry struct {
	id      string
	loaded  chan struct{} // closed once the fields below are set
	failed  *problem      // why it could not be loaded
	session *client.Session
	stored  Stored
	feed    *feed
	held    *HeldError // by another process: session and stored are nil
	// functions are the names of the tools that the session itself answers.
	functions map[string]bool

	acting sync.Mutex // one change at a time
	saving sync.Mutex
	saved  *reducer.Thread // as the store has it
	lost   bool            // another process may have taken it; guarded by saving
	closed chan struct{}   // ends what watches for that; nil if nothing does

	// Guarded by Threads.mu.
	users   int           // requests and runs
	tabs    int           // requests among them that are feeds
	place   *list.Element // in Threads.idle, if there are no users
	timer   *time.Timer   // runs then
	unsaved error         // with which it was dropped; read after gone was closed
	expired bool          // lost, so that it goes as soon as it has no users
	gone    chan struct{} // not nil while it is being stored and dropped, closed after that
}

// use returns the thread's entry, which is loaded if need be, for the caller to release.
func (t *Threads) use(ctx context.Context, id string) (*entry, *problem) {
	for {
		e, load, wait, no := t.take(id)
		switch {
		case no != nil:
			return nil, no
		case e == nil:
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, refuse(http.StatusServiceUnavailable, "the request has ended")
			}
		case load:
			t.load(e)
		}
		select {
		case <-e.loaded:
		case <-ctx.Done():
			t.release(e)
			return nil, refuse(http.StatusServiceUnavailable, "the request has ended")
		}
		if e.failed != nil {
			t.release(e)
			return nil, e.failed
		}
		return e, nil
	}
}

// take returns the thread's entry, with one user more, and whether the caller must load it. Without an entry the caller
// waits and tries again.
func (t *Threads) take(id string) (e *entry, load bool, wait <-chan struct{}, no *problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopping {
		return nil, false, nil, &problem{status: http.StatusServiceUnavailable, detail: errStopping.Error(), retry: true}
	}
	e = t.entries[id]
	switch {
	case e == nil:
	case e.gone != nil:
		return nil, false, e.gone, nil
	case e.expired:
		return nil, false, nil, &problem{status: http.StatusServiceUnavailable, detail: "the thread was lost to another process", retry: true}
	}
	if e == nil {
		if len(t.entries) >= t.o.MaxThreads {
			front := t.idle.Front()
			if front == nil {
				return nil, false, nil, &problem{status: http.StatusServiceUnavailable, detail: "too many threads are in use", retry: true}
			}
			old := front.Value.(*entry)
			t.leaving(old)
			go t.drop(old)
			return nil, false, old.gone, nil
		}
		e, load = &entry{id: id, loaded: make(chan struct{})}, true
		t.entries[id] = e
	}
	t.using(e)
	return e, load, nil, nil
}

// using counts one user more. mu is held.
func (t *Threads) using(e *entry) {
	e.users++
	t.users++
	t.awake(e)
}

// awake takes e off the idle ones. mu is held.
func (t *Threads) awake(e *entry) {
	if e.place != nil {
		t.idle.Remove(e.place)
		e.timer.Stop()
		e.place, e.timer = nil, nil
	}
}

// leaving makes e one that is being dropped. mu is held.
func (t *Threads) leaving(e *entry) {
	t.awake(e)
	e.gone = make(chan struct{})
}

// release gives back what use returned.
func (t *Threads) release(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users--
	e.users--
	switch {
	case e.users > 0:
	case e.failed != nil || e.held != nil: // another attempt begins anew
		delete(t.entries, e.id)
	case e.expired:
		t.leaving(e)
		go t.drop(e)
	default:
		t.rest(e)
	}
	if t.stopping && t.users == 0 {
		close(t.quiet)
	}
}

// rest makes e idle. mu is held.
func (t *Threads) rest(e *entry) {
	e.place = t.idle.PushBack(e)
	place := e.place
	e.timer = time.AfterFunc(t.o.IdleTimeout, func() {
		t.mu.Lock()
		if e.place != place || t.stopping {
			t.mu.Unlock()
			return
		}
		t.leaving(e)
		t.mu.Unlock()
		t.drop(e)
	})
}

// load loads the thread.
func (t *Threads) load(e *entry) {
	defer close(e.loaded)
	var stored Stored
	var err error
	defer func() {
		if v := recover(); v != nil { // the store's, or of ThreadsOptions.Session
			if stored != nil {
				_ = stored.Close()
			}
			t.log().Error("a thread cannot be loaded", "thread", e.id, "panic", v)
			e.failed = refuse(http.StatusInternalServerError, "the thread cannot be loaded")
		}
	}()
	stored, err = t.o.Store.Open(t.ctx, e.id)
	if held, ok := errors.AsType[*HeldError](err); ok {
		e.held, e.feed = held, nil
		if source := t.followed(e.id); source != nil {
			e.feed = t.newFeed(source)
		}
		return
	}
	if err != nil {
		t.log().Error("a thread cannot be loaded", "thread", e.id, "error", err)
		e.failed = refuse(http.StatusInternalServerError, "the thread cannot be loaded")
		return
	}
	var o client.SessionOptions
	if t.o.Session != nil {
		if given := t.o.Session(e.id); given != nil {
			o = *given
		}
	}
	o.ThreadID, o.Thread = e.id, stored.Thread()
	if o.OnWarning == nil {
		log := t.log().With("thread", e.id)
		o.OnWarning = func(w event.Warning) { logWarning(log, w) }
	}
	o.Middleware = append([]client.Middleware{t.discreet(e.id)}, o.Middleware...)
	if record := stored.Record(); record != nil {
		o.Middleware = append([]client.Middleware{record}, o.Middleware...)
	}
	e.functions = make(map[string]bool)
	for _, tool := range o.Tools {
		if tool.Call != nil && o.MaxRounds >= 0 {
			e.functions[tool.Name] = true
		}
	}
	e.stored, e.session = stored, client.NewSession(t.agent, &o)
	e.saved, e.feed = e.session.Thread(), t.newFeed(e.session.Subscribe)
	if a, ok := stored.(Attacher); ok {
		a.Attach(e.session)
	}
	if lost := stored.Lost(); lost != nil {
		e.closed = make(chan struct{})
		go t.await(e, lost)
	}
}

// await ends the entry if the thread is lost to another process.
func (t *Threads) await(e *entry, lost <-chan struct{}) {
	select {
	case <-e.closed:
		return
	case <-lost:
	}
	t.log().Warn("a thread was lost to another process", "thread", e.id)
	e.saving.Lock()
	e.lost = true
	e.saving.Unlock()
	e.session.Close()
	e.endTabs()
	t.mu.Lock()
	defer t.mu.Unlock()
	e.expired = true
	if e.place != nil {
		t.leaving(e)
		go t.drop(e)
	}
}

// save stores the thread, if it has changed.
func (t *Threads) save(e *entry) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	th := e.session.Thread()
	if e.lost || e.saved != nil && th.Revision == e.saved.Revision {
		return nil
	}
	now := func() *reducer.Thread {
		th = e.session.Thread()
		return th
	}
	if err := e.stored.Save(context.WithoutCancel(t.ctx), now); err != nil {
		t.log().Error("a thread cannot be stored", "thread", e.id, "error", err)
		return err
	}
	e.saved = th
	return nil
}

// drop stores a thread that leaving has taken, and forgets it. If it cannot be stored it stays, unless the server stops.
func (t *Threads) drop(e *entry) {
	// A stream that outlives its run changes the thread no more. An agent that does not heed its context is not waited for.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), time.Second)
	_ = e.session.Stop(ctx)
	cancel()
	err := t.save(e)
	t.mu.Lock()
	stay := err != nil && !t.stopping
	gone := e.gone
	if stay {
		e.gone = nil
		t.rest(e)
	}
	t.mu.Unlock()
	if !stay {
		e.endTabs()
		e.session.Close()
		if e.closed != nil {
			close(e.closed)
		}
		if failed := e.stored.Close(); failed != nil {
			t.log().Error("a thread cannot be closed", "thread", e.id, "error", failed)
			err = errors.Join(err, failed)
		}
		t.mu.Lock()
		e.unsaved = err
		delete(t.entries, e.id)
		t.mu.Unlock()
	}
	close(gone)
}

// newFeed returns the feed of a thread.
func (t *Threads) newFeed(source func(context.Context) <-chan client.Snapshot) *feed {
	return newFeed(source, &feedOptions{keepAlive: t.o.KeepAlive, writeTimeout: t.o.WriteTimeout})
}

// followed returns what a thread that another process holds is watched by; nil if the store cannot.
func (t *Threads) followed(id string) func(context.Context) <-chan client.Snapshot {
	follower, ok := t.o.Store.(Follower)
	if !ok {
		return nil
	}
	return func(ctx context.Context) <-chan client.Snapshot {
		snapshots, err := follower.Follow(ctx, id)
		if err != nil {
			t.log().Error("a thread cannot be followed", "thread", id, "error", err)
			none := make(chan client.Snapshot)
			close(none)
			return none
		}
		return snapshots
	}
}

// openTab counts a tab of the thread, or refuses it.
func (t *Threads) openTab(e *entry) *problem {
	if e.feed == nil {
		return e.heldProblem()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.tabs >= t.o.MaxTabs {
		return &problem{status: http.StatusTooManyRequests, detail: fmt.Sprintf("the thread has %d tabs already", e.tabs), retry: true}
	}
	e.tabs++
	return nil
}

func (t *Threads) closeTab(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.tabs--
}

// heldProblem is why the thread cannot be changed here.
func (e *entry) heldProblem() *problem {
	return &problem{status: http.StatusConflict, detail: e.held.Error(), holder: e.held.Holder, retry: true}
}

// endTabs ends the feeds of the thread.
func (e *entry) endTabs() {
	if e.feed != nil {
		e.feed.close()
	}
}
