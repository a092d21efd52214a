//go:build window

// Command fyne is a chat in a window of the desktop, with cards for tool calls and the shared state as a tree.
//
//	go run -C examples/fyne -tags window . [AGENT-URL]
//
// Without a URL it talks to an agent in its own process: ask it to book something, or to count. The tag brings in Fyne's driver for windows. It needs a C compiler and, on Linux, headers (apt install gcc libgl1-mesa-dev xorg-dev),
// and its first compilation takes minutes. Package chat, which is all the rest, and its tests need none of that.
package main

import (
	"context"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/examples/fyne/chat"
)

func main() {
	var agent client.Agent = emit.Agent(assistant.Run, nil)
	if len(os.Args) > 1 {
		agent = client.NewHTTP(os.Args[1], nil)
	}
	s := client.NewSession(agent, &client.SessionOptions{WhenBusy: client.Queue, Unanswered: client.DeclineUnanswered})
	w := app.NewWithID("com.github.agfold.examples.fyne").NewWindow("agfold chat")
	c := chat.New(s)
	w.SetContent(c.Content)
	w.Resize(fyne.NewSize(900, 600))
	w.Canvas().Focus(c.Entry)
	defer s.Stop(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go c.Follow(ctx, fyne.Do)
	w.ShowAndRun()
}
