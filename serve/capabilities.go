package serve

import (
	"net/http"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// declares reports whether there is a declaration, or may be.
func (h *agentHandler) declares() bool {
	_, is := h.agent.(client.Declarer)
	return is || h.o.Capabilities != nil
}

func (h *agentHandler) allow() string {
	if h.declares() {
		return "GET, HEAD, POST"
	}
	return http.MethodPost
}

// postOnly is the problem of a request that is not a POST.
func (h *agentHandler) postOnly(allow string) *problem {
	no := refuse(http.StatusMethodNotAllowed, "this is an AG-UI agent: POST a RunAgentInput")
	no.allow = allow
	return no
}

// declare answers with the agent's capabilities (P-CAP-3).
func (h *agentHandler) declare(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "application/json") {
		refuse(http.StatusNotAcceptable, "the answer is application/json, which Accept rules out").answer(w)
		return
	}
	c, err := h.capabilities(r)
	switch {
	case err != nil:
		h.log().ErrorContext(r.Context(), "the agent's capabilities cannot be had", "error", err)
		refuse(http.StatusBadGateway, "the agent's capabilities cannot be had").answer(w)
		return
	case c == nil:
		h.postOnly(http.MethodPost).answer(w)
		return
	}
	v, _ := state.Parse(c.AppendJSON(nil))
	reply(w, http.StatusOK, "application/json", v)
}

func (h *agentHandler) capabilities(r *http.Request) (*event.Capabilities, error) {
	if h.o.Capabilities != nil {
		return h.o.Capabilities, h.o.Capabilities.Check()
	}
	return client.Capabilities(r.Context(), h.agent)
}
