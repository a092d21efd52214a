package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/client/lenient"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/web"
)

// webFlags is the command line of agfold web.
type webFlags struct {
	Port int `group:"The page" placeholder:"PORT" default:"0" help:"The port of the loopback interface; 0 picks a free one."`

	URL           string        `group:"The agent" placeholder:"URL" help:"The AG-UI endpoint to talk to. Without it, and without FILE, it is the demo agent."`
	Header        []string      `group:"The agent" sep:"none" placeholder:"'NAME: VALUE'" help:"Also send this header; may be repeated."`
	Peer          string        `group:"The agent" placeholder:"VERSION" help:"The agent speaks an older protocol, such as 0.0.57."`
	Tools         string        `group:"The agent" placeholder:"FILE" help:"Offer tools, a JSON array of objects with name, description and parameters. The page asks for their results."`
	Pace          float64       `group:"The agent" placeholder:"N" default:"1" help:"Scale the demo agent's pauses: 1 is the pace of a model, 0 is without pauses."`
	HeaderTimeout time.Duration `group:"The agent" placeholder:"DURATION" default:"2m" help:"How long to wait for the response to begin (2m); negative for no limit."`
	IdleTimeout   time.Duration `group:"The agent" placeholder:"DURATION" default:"5m" help:"How long the response may pause (5m); negative for no limit."`
	Strict        bool          `group:"The agent" help:"Treat what is unknown to the protocol as an error, not as a warning."`
	Lenient       bool          `group:"The agent" help:"Repair what some servers are known to get wrong, with a warning."`

	MaxEvent  int      `group:"Limits" placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	MaxMemory int      `group:"Limits" placeholder:"MIB" default:"2048" help:"What is kept of one recording or conversation, in MiB (2048)."`
	Files     []string `arg:"" optional:"" name:"FILE" help:"Recordings to look at."`
}

// Help is what --help says before the flags.
func (f *webFlags) Help() string {
	return `Serves a page on this machine: the conversation, a timeline, the state and what went wrong at each event, and a slider through ` +
		`time. With FILE it shows recordings, in any form that agfold replay reads, and compares them; otherwise it talks to an agent.

The page's address is printed on standard output. It holds a token: whoever has the address can see what the page shows. Nothing ` +
		`is loaded from other machines. Ctrl-C stops it.`
}

func (f *webFlags) epilog() string {
	return `Exit status:
  0    stopped by Ctrl-C
  2    wrong usage
  5    cannot listen, or a recording cannot be opened

Examples:
  agfold web
  agfold web --url http://localhost:8000/agent --header "Authorization: Bearer $TOKEN"
  agfold web before.sse after.sse
`
}

func (f *webFlags) check() string {
	target, err := url.Parse(f.URL)
	switch {
	case f.URL != "" && (err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == ""):
		return fmt.Sprintf("--url %q is not an http or https URL", f.URL)
	case f.URL != "" && len(f.Files) > 0:
		return "--url and FILE cannot be combined"
	case f.URL != "" && f.Pace != 1:
		return "--pace is about the demo agent, and cannot be combined with --url"
	case f.Pace < 0:
		return "--pace cannot be negative"
	case f.Port < 0 || f.Port > 65535:
		return "--port must be from 0 to 65535"
	case f.MaxMemory < 1:
		return "--max-memory must be at least 1"
	case slices.Contains(f.Files, "-"):
		return "standard input cannot be shown: the page reads a recording more than once"
	case len(f.Files) > maxFiles:
		return fmt.Sprintf("at most %d recordings can be shown", maxFiles)
	}
	return wrongMaxEvent(f.MaxEvent)
}

// maxFiles bounds the recordings of one page.
const maxFiles = 32

func (f *webFlags) run(ctx context.Context, t *terminal) int {
	o := web.Options{MaxEvent: f.MaxEvent << 20, MaxMemory: int64(f.MaxMemory) << 20}
	if len(f.Files) > 0 {
		for _, name := range f.Files {
			file, _, err := openRecording(ctx, name, t)
			if err != nil {
				t.say("agfold: %s: %v", name, err)
				return exitUnreadable
			}
			file.Close()
			o.Recordings = append(o.Recordings, web.Recording{Name: filepath.Base(name), Open: func() (io.ReadCloser, error) {
				in, _, err := openRecording(ctx, name, t)
				return in, err
			}})
		}
	} else if status := f.talk(ctx, t, &o); status != exitOK {
		return status
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", f.Port))
	if err != nil {
		t.say("agfold: %v", err)
		return exitUnreadable
	}
	server, err := web.New(l, o)
	if err != nil {
		l.Close()
		t.say("agfold: %v", err)
		return exitUnreadable
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	status := t.print(term.Sprintf("%s\n", server.URL()))
	if status == exitOK {
		select {
		case err := <-served:
			t.say("agfold: %v", err)
			status = exitUnreadable
		case <-ctx.Done():
		}
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = server.Close(late) // what could not be stopped ends with the process
	return status
}

// talk sets the agent to talk to.
func (f *webFlags) talk(ctx context.Context, t *terminal, o *web.Options) int {
	header, err := (&runFlags{Header: f.Header}).headers()
	if err != nil {
		return wrongUsage("web", err.Error(), t)
	}
	options := client.SessionOptions{PeerVersion: f.Peer, Strict: f.Strict}
	if f.Tools != "" {
		var read beginning
		if err := read.addTools(ctx, f.Tools, t); err != nil {
			return wrongUsage("web", fmt.Sprintf("--tools %s: %v", f.Tools, unnamed(err)), t)
		}
		options.Tools = read.options.Tools
	}
	if f.Lenient {
		options.Middleware = append(options.Middleware, lenient.All)
	}
	o.Agent, o.Name = demo.Agent(f.Pace), "demo agent"
	if f.URL != "" {
		o.Name = term.URL(f.URL).String()
		o.Agent = client.NewHTTP(f.URL, &client.HTTPOptions{
			Header: header, HeaderTimeout: f.HeaderTimeout, IdleTimeout: f.IdleTimeout, MaxEventBytes: f.MaxEvent << 20,
		})
	} else {
		options.Tools = append(options.Tools, clockTool(t.now))
	}
	o.Session = func() *client.SessionOptions {
		so := options
		return &so
	}
	return exitOK
}
