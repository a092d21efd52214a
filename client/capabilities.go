package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/state"
)

// Declarer is implemented by an [Agent] that can say what it does before it is run (P-CAP-3): by that of [NewHTTP] with
// [HTTPOptions.CapabilitiesURL], that of [Declare], and what [Chain] makes of them.
type Declarer interface {
	// Capabilities returns what the agent declares, nil if it declares nothing. The caller must not change it. It may be
	// called concurrently.
	Capabilities(ctx context.Context) (*event.Capabilities, error)
}

// Capabilities returns what agent declares about itself, nil if it is not a [Declarer] or declares nothing. An error says
// that the declaration cannot be had or used; treat it like one that declares nothing, because no run depends on it
// (P-CAP-2). The caller must not change the declaration.
func Capabilities(ctx context.Context, agent Agent) (*event.Capabilities, error) {
	if d, ok := agent.(Declarer); ok {
		return d.Capabilities(ctx)
	}
	return nil, nil
}

// Declare returns agent as a [Declarer] that declares c. If c is malformed, that is the error of its Capabilities, and runs are
// not affected.
func Declare(agent Agent, c *event.Capabilities) Agent {
	if err := unusableError(agent); err != nil {
		return unusable{err}
	}
	return declaring{agent, declared{c, c.Check()}}
}

// declaring is an agent with a declaration.
type declaring struct {
	Agent
	Declarer
}

type declared struct {
	c   *event.Capabilities
	err error
}

func (d declared) Capabilities(context.Context) (*event.Capabilities, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.c, nil
}

// declaringAs returns outer, which wraps agent, with the declaration of agent, unless it has its own.
func declaringAs(outer, agent Agent) Agent {
	if _, has := outer.(Declarer); has {
		return outer
	}
	if d, ok := agent.(Declarer); ok {
		return declaring{outer, d}
	}
	return outer
}

const (
	opCapabilities  = "reading the capabilities"
	maxCapabilities = 1 << 20
)

// Capabilities asks the server of HTTPOptions.CapabilitiesURL. What AG-UI 1.0 does not describe is left out.
func (h *httpAgent) Capabilities(ctx context.Context) (*event.Capabilities, error) {
	if h.capabilities == "" {
		return nil, nil
	}
	r := &request{httpAgent: h, parent: ctx}
	if ctx.Err() != nil {
		return nil, oneshot.Canceled(ctx)
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	body, err := r.get()
	if err != nil {
		return nil, err
	}
	if len(body) > maxCapabilities {
		return nil, &TransportError{Op: opCapabilities, Err: fmt.Errorf("the answer is larger than %d bytes", maxCapabilities)}
	}
	v, err := state.Parse(body)
	if err != nil {
		return nil, &TransportError{Op: opCapabilities, Err: err}
	}
	c, _, err := event.DecodeCapabilities(v, nil)
	return c, err
}

// get returns the answer to a GET of the capabilities, or more than maxCapabilities bytes of it.
func (r *request) get() ([]byte, error) {
	target, err := url.Parse(r.url)
	if err == nil {
		target, err = target.Parse(r.capabilities)
	}
	if err == nil {
		err = checkURL(target.String())
	}
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, &TransportError{Op: opCapabilities, Err: err}
	}
	req.Header = r.header.Clone()
	if err := r.prepared(req, new(event.RunInput)); err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	get := r.client
	get.CheckRedirect = stripHeader(r.checkRedirect)
	timer := r.watch(opCapabilities, r.headerTimeout, false)
	defer timer.Stop()
	resp, err := get.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, r.failure(opCapabilities, err, false)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		e := &StatusError{Status: resp.StatusCode, Header: resp.Header}
		if resp.StatusCode != http.StatusSwitchingProtocols {
			e.Body, _ = r.beginning(resp.Body, maxErrorBody)
		}
		return nil, e
	}
	body, err := r.beginning(resp.Body, maxCapabilities+1)
	if err != nil {
		return nil, r.failure(opCapabilities, err, false)
	}
	return body, nil
}
