// Package routers mounts the handlers of package serve in other routers than that of net/http. They are http.Handlers, so each
// router has a way; what differs is how a handler is named that serves all paths below one.
package routers

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"
)

// The agent is served at /agent, and the threads below /threads/.

func mountChi(agent, threads http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Handle("/agent", agent)
	r.Mount("/threads/", http.StripPrefix("/threads", threads))
	return r
}

func mountGin(agent, threads http.Handler) http.Handler {
	r := gin.New()
	r.POST("/agent", gin.WrapH(agent))
	r.Any("/threads/*rest", gin.WrapH(http.StripPrefix("/threads", threads)))
	return r
}

func mountEcho(agent, threads http.Handler) http.Handler {
	e := echo.New()
	e.POST("/agent", echo.WrapHandler(agent))
	e.Any("/threads/*", echo.WrapHandler(http.StripPrefix("/threads", threads)))
	return e
}
