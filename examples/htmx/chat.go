package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// chat is the conversation as pages see it.
type chat struct{ session *client.Session }

//go:embed templates static
var files embed.FS

var (
	templates = template.Must(template.New("").Funcs(template.FuncMap{"id": id}).ParseFS(files, "templates/*")) // escape what the agent says
	eachLine  = strings.NewReplacer("\r\n", "\ndata: ", "\r", "\ndata: ", "\n", "\ndata: ")                     // any of these ends a line of an event
)

// events sends a page all there is, and then what changes, until the page goes or the session is closed. A page that reads slowly
// gets fewer and larger changes.
func (c chat) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	var older client.Snapshot // shows nothing
	for now := range c.session.SubscribeThrottled(r.Context(), 50*time.Millisecond) {
		html, err := fragments(older, now)
		if err == nil {
			_ = out.SetWriteDeadline(time.Now().Add(30 * time.Second)) // for a page that does not read
			_, err = fmt.Fprintf(w, "data: %s\n\n", eachLine.Replace(html))
		}
		if err != nil || out.Flush() != nil {
			return // the page connects again and gets all there is
		}
		older = now
	}
}

// act does what a form asks and answers with fragments: an empty field if something was sent, and what went wrong.
func (c chat) act(w http.ResponseWriter, r *http.Request) {
	action, o := r.URL.Path, &client.RunOptions{}
	switch action {
	case "/send":
		o.Messages = []*messages.Message{messages.UserText(r.PostFormValue("text"))}
	case "/answer":
		_ = r.ParseForm() // what it cannot parse is missing, and declines
		o.Resume = client.AnswerAll(c.session.Thread().Interrupts, func(in event.Interrupt) client.Answer {
			if slices.Contains(r.PostForm["approve"], strconv.Quote(in.ID)) {
				return client.Resolve(in.ID, map[string]bool{"approved": true})
			}
			return client.Decline(in.ID)
		})
	}
	var err error
	if action == "/stop" {
		err = c.session.Stop(r.Context())
	} else {
		_, err = c.session.Start(context.WithoutCancel(r.Context()), o) // the turn outlives the request
	}
	_ = templates.ExecuteTemplate(w, "answered", map[string]any{"Error": err, "Sent": action == "/send" && err == nil})
}

// id names the row of a message, in a way that a selector can name it too, whatever the agent calls the message.
func id(m *messages.Message) string {
	return fmt.Sprintf("m%x", sha256.Sum224(append([]byte{byte(m.Kind())}, m.ID...)))
}

// fragments returns what makes a page that shows older show now.
func fragments(older, now client.Snapshot) (string, error) {
	var html strings.Builder
	var err error
	put := func(name string, data any) {
		if err == nil {
			err = templates.ExecuteTemplate(&html, name, data)
		}
	}
	first := older.Thread == nil
	if first {
		put("none", nil) // the page may show what it got over a connection before
	}
	changes := now.ChangesSince(older.Thread)
	rows := changes.Rows
	for i := range rows.Removed {
		put("gone", older.Messages.At(rows.At+i))
	}
	for i := rows.At; i < rows.At+rows.Inserted; i++ {
		place := "afterbegin:#messages"
		if i > 0 {
			place = "afterend:#" + id(now.Messages.At(i-1))
		}
		put("new", map[string]any{"Place": place, "Message": now.Messages.At(i)})
	}
	for _, i := range changes.Messages {
		put("changed", now.Messages.At(i))
	}
	if first || changes.Interrupts {
		put("interrupts", now)
	}
	if first || now.Phase != older.Phase || now.Status() != older.Status() || now.Result != older.Result || !slices.Equal(now.Queued, older.Queued) {
		put("status", now)
	}
	return html.String(), err
}
