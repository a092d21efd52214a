package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/client"
)

// The header of a feed's request is for its first server alone, as that of a run is.
func TestFollowSendsNoHeaderToAnotherServer(t *testing.T) {
	got := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r.Header:
		default:
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	first := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusTemporaryRedirect))
	defer first.Close()
	f := client.Follow(t.Context(), first.URL, &client.FollowOptions{Header: http.Header{"X-Api-Key": {"secret"}, "Authorization": {"Bearer secret"}}})
	<-f.Done()
	header := <-got
	assert.Empty(t, header.Get("X-Api-Key"))
	assert.Empty(t, header.Get("Authorization"))
	assert.Empty(t, header.Get("Referer"))
}

// An error of the feed is not one of the caller's context.
func TestFollowEndsWithWhatEndedIt(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	f := client.Follow(t.Context(), server.URL, nil)
	<-f.Done()
	assert.Error(t, f.Err())
	assert.NotErrorIs(t, f.Err(), context.Canceled)
	assert.NotContains(t, f.Err().Error(), "context canceled")
}
