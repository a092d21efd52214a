package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/client/lenient"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/serve"
)

// runFlags is the command line of agfold run.
type runFlags struct {
	URL           string        `group:"The agent" placeholder:"URL" help:"The AG-UI endpoint. Without it, the demo agent runs in this process, and is talked to over HTTP on the loopback interface."`
	Header        []string      `group:"The agent" sep:"none" placeholder:"'NAME: VALUE'" help:"Also send this header; may be repeated."`
	Peer          string        `group:"The agent" placeholder:"VERSION" help:"The agent speaks an older protocol, such as 0.0.57."`
	Pace          float64       `group:"The agent" placeholder:"N" default:"1" help:"Scale the demo agent's pauses: 1 is the pace of a model, 0 is without pauses."`
	HeaderTimeout time.Duration `group:"The agent" placeholder:"DURATION" default:"2m" help:"How long to wait for the response to begin (2m); negative for no limit."`
	IdleTimeout   time.Duration `group:"The agent" placeholder:"DURATION" default:"5m" help:"How long the response may pause (5m); negative for no limit."`
	MaxEvent      int           `group:"The agent" placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	Declared      string        `group:"The agent" name:"capabilities" placeholder:"URL" help:"Where the agent declares its capabilities, relative to --url, such as /capabilities. What a run contradicts of them is a warning."`
	Protobuf      bool          `group:"The agent" help:"Ask for the events as protobuf; the agent may still answer with server-sent events."`

	Messages []string `group:"What is sent" name:"message" sep:"none" placeholder:"TEXT" help:"A user's message; may be repeated: each is sent after the run of the previous one has succeeded. The demo agent has a default."`
	Input    string   `group:"What is sent" placeholder:"FILE" help:"Begin with a RunAgentInput, as JSON: its threadId, messages, state, tools, context, forwardedProps and resume. Its runId is not used. Without --message the input is sent unchanged."`
	Continue string   `group:"What is sent" placeholder:"FILE" help:"Continue a recorded thread, in any form that agfold replay reads."`
	Thread   string   `group:"What is sent" placeholder:"ID" help:"The threadId, unless the thread has one already."`
	State    string   `group:"What is sent" placeholder:"JSON" help:"The shared state; @FILE reads it from a file."`
	Tools    string   `group:"What is sent" placeholder:"FILE" help:"Offer tools, a JSON array of objects with name, description and parameters. agfold cannot call them: it asks for their results, or leaves the calls pending."`
	Clock    bool     `group:"What is sent" help:"Offer the tool local_time, which agfold calls itself; the demo agent is always offered it."`

	Answers    []string `group:"Interrupts and tool calls" name:"answer" sep:"none" placeholder:"ID=JSON" help:"Answer the interrupt or the tool call ID; ID=decline declines it; may be repeated."`
	Unanswered string   `group:"Interrupts and tool calls" enum:"settle,decline,keep" default:"settle" help:"What happens to calls without a result before a run: settle those that nobody can answer any more (the default), decline all, or keep them as they are."`
	Yes        bool     `group:"Interrupts and tool calls" xor:"yes,no" help:"Answer yes to every other question that can be answered with yes."`
	No         bool     `group:"Interrupts and tool calls" xor:"yes,no" help:"Answer no to every yes-or-no question, and decline the others."`

	JSON    bool          `group:"What is shown" help:"At the end, print the thread as one JSON object on one line, as agfold replay --json does."`
	Events  bool          `group:"What is shown" help:"Print every event as it is delivered, one per line; with --json as an object with ordinal, event, change and warnings."`
	Full    bool          `group:"What is shown" help:"Leave nothing out, and show metadata. Otherwise long results, arguments, activities and states are shortened."`
	Record  string        `group:"What is shown" placeholder:"FILE" help:"Record all that the agent sends, for agfold replay and --continue. FILE is overwritten, unless it is also the --continue file; then it is appended to."`
	Verbose bool          `group:"What is shown" help:"Show what the agent declares about itself: beside its name, or on standard error if the runs are not redrawn."`
	Strict  bool          `group:"What is shown" help:"Treat what is unknown to the protocol as an error, not as a warning."`
	Lenient bool          `group:"What is shown" help:"Repair what some servers are known to get wrong, with a warning; the error of a rejected stream says if that would help."`
	Timeout time.Duration `group:"What is shown" placeholder:"DURATION" help:"Stop after a time such as 90s or 5m."`
}

// maxMaxEvent bounds --max-event, in MiB.
const maxMaxEvent = 1024

// Help is what --help says before the flags.
func (f *runFlags) Help() string {
	return `On a terminal the runs are redrawn in place as they arrive, elsewhere they are plain lines. Nothing is ever sent twice. ` +
		`A FILE of - is standard input.

Interrupts, the questions that a run may end with, and calls of the tools of --tools are asked on the terminal if there is one.`
}

func (f *runFlags) epilog() string {
	return `Ctrl-C stops the run; what has arrived is shown, and how the run ended. A second Ctrl-C
ends agfold at once. Warnings go to standard error, one line a turn for each rule, type and
path, with a count. Text is colored on a terminal, unless NO_COLOR is set; TERM=dumb shows
plain lines. SSL_CERT_FILE names a file of certificate authorities to trust (Linux);
HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected. AGFOLD_DEBUG, a list such as
chunks,verify or all, logs what happens to the run on standard error, without secrets of
headers and URLs: input, transport, frames, upgrade, chunks, verify, fold, session.

Exit status:
  0    the last run succeeded, was interrupted or cancelled by the agent
  1    the run failed: it reported RUN_ERROR
  2    wrong usage, or a file that is not what it should be
  3    the stream was rejected: an event is malformed or broke the protocol
  4    the stream ended before the run did, or --timeout was reached
  5    the agent cannot be reached or did not answer with events, or the output
       cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold run
  agfold run --yes --events
  agfold run --url http://localhost:8000/agent --message "Hello" --header "Authorization: Bearer $TOKEN"
  agfold run --url http://localhost:8000/agent --input run.json --json | jq .messages
  agfold run --record talk.ndjson; agfold replay talk.ndjson
  agfold run --continue talk.ndjson --record talk.ndjson --message "And on Sunday?"
`
}

// agent names the agent.
func (f *runFlags) agent() string { return orText(f.URL, "demo agent") }

// declared asks the agent for its capabilities, if that is wanted. A run depends on nothing that it declares (P-CAP-2).
func (f *runFlags) declared(ctx context.Context, agent client.Agent, t *terminal) *event.Capabilities {
	if !f.Verbose && f.Declared == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxDeclaring)
	defer cancel()
	c, err := client.Capabilities(ctx, agent)
	switch {
	case err != nil:
		t.say("agfold: the agent's capabilities: %v", err)
	case c == nil && f.Verbose:
		t.say("agfold: the agent declares no capabilities that agfold knows of; see --capabilities")
	}
	return c
}

// maxDeclaring is how long an agent may take to declare its capabilities.
const maxDeclaring = 10 * time.Second

// headers returns the headers of --header. The error names the first that is not one.
func (f *runFlags) headers() (http.Header, error) {
	all := http.Header{}
	for _, s := range f.Header {
		name, value, ok := strings.Cut(s, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(value, "\r\n") {
			return nil, fmt.Errorf("--header: want 'Name: value', not %q", s)
		}
		all.Add(name, value)
	}
	return all, nil
}

func (f *runFlags) run(ctx context.Context, t *terminal) int {
	st := t.stage
	header, err := f.headers()
	if err != nil {
		return wrongUsage("run", err.Error(), t)
	}
	begun, err := f.load(ctx, t)
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if err != nil {
		return wrongUsage("run", err.Error(), t)
	}
	queue := f.Messages
	if f.URL == "" && f.Input == "" && len(queue) == 0 && begun.empty() {
		queue = []string{demo.DefaultMessage}
	}
	if f.Input == "-" || f.Continue == "-" || f.Tools == "-" {
		st.asks = false
	}
	if f.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.Timeout)
		defer cancel()
	}
	c := &conversation{t: t, f: f, stage: st, answers: begun.resume, replies: f.Answers, used: map[string]bool{}}
	c.style = transcript.Style{Width: t.width, Color: t.color, Full: f.Full}
	c.print = transcript.NewWriter(t.stdout, c.style, st.size == nil)
	c.warnings.keep = f.JSON && !f.Events
	options := begun.options
	if f.Clock || f.URL == "" {
		options.Tools = append(options.Tools, clockTool(t.now))
	}
	c.tools = options.Tools
	if f.Input == "" && len(queue) == 0 && (options.Thread == nil || len(c.questions(options.Thread)) == 0) {
		return wrongUsage("run", "there is nothing to send: use --message or --input", t)
	}
	if f.Record != "" {
		if c.record, err = f.openRecord(t); err != nil {
			return wrongUsage("run", err.Error(), t)
		}
		defer c.record.Close()
		options.Middleware = []client.Middleware{client.Record(c.record)}
	}
	if f.Lenient {
		options.Middleware = append(options.Middleware, lenient.All)
	}
	options.PeerVersion, options.Strict, options.OnWarning, options.Debug = f.Peer, f.Strict, c.warn, t.debug
	options.Unanswered = map[string]client.Unanswered{
		"settle": client.SettleUnanswered, "decline": client.DeclineUnanswered, "keep": client.KeepUnanswered,
	}[f.Unanswered]
	endpoint := f.URL
	if endpoint == "" {
		var stop func()
		if endpoint, stop, err = startDemo(f.Pace, f.Protobuf); err != nil {
			t.say("agfold: starting the demo agent: %v", err)
			return exitUnreadable
		}
		defer stop()
		options.NewID = shortID
	}
	if st.newID != nil {
		options.NewID = st.newID
	}
	declared := f.Declared
	if f.URL == "" {
		declared = endpoint
	}
	agent := client.NewHTTP(endpoint, &client.HTTPOptions{
		CapabilitiesURL: declared,
		Header:          header, HeaderTimeout: f.HeaderTimeout, IdleTimeout: f.IdleTimeout, MaxEventBytes: f.MaxEvent << 20,
		Binding: binding(f.Protobuf), Debug: t.debug,
	})
	options.Capabilities = f.declared(ctx, agent, t)
	if f.Verbose && options.Capabilities != nil {
		if c.about = capabilitiesText(options.Capabilities); st.size == nil {
			t.say("agfold: %s declares: %s", f.agent(), c.about)
		}
	}
	c.session = client.NewSession(agent, &options)
	defer c.session.Close()
	if t.debug != nil { // so that the end of the last stream is in the log
		defer c.session.Stop(context.WithoutCancel(ctx))
	}
	for _, w := range begun.warnings {
		c.warn(w)
	}
	return c.hold(ctx, begun, queue)
}

// check says what is wrong with the flags; "" if nothing is.
func (f *runFlags) check() string {
	target, err := url.Parse(f.URL)
	stdins := 0
	for _, name := range []string{f.Input, f.Continue, f.Tools} {
		if name == "-" {
			stdins++
		}
	}
	switch {
	case f.URL != "" && (err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == ""):
		return fmt.Sprintf("--url %q is not an http or https URL", f.URL)
	case f.URL != "" && f.Pace != 1:
		return "--pace is about the demo agent, and cannot be combined with --url"
	case f.Pace < 0:
		return "--pace cannot be negative"
	case f.MaxEvent < 1 || f.MaxEvent > maxMaxEvent:
		return fmt.Sprintf("--max-event must be from 1 to %d", maxMaxEvent)
	case f.Timeout < 0:
		return "--timeout cannot be negative"
	case f.Input != "" && f.Continue != "":
		return "--input and --continue cannot be combined"
	case stdins > 1:
		return "- can be read only once"
	case strings.Trim(f.Peer, "0123456789.") != "" || f.Peer != "" && strings.Contains("."+f.Peer+".", ".."):
		return fmt.Sprintf("--peer %q is not a version such as 0.0.57", f.Peer)
	}
	for _, reply := range f.Answers {
		if !isReply(reply) {
			return fmt.Sprintf("--answer %q: want ID=JSON or ID=decline", reply)
		}
	}
	return ""
}

// binding returns the binding of events that --protobuf asks for, nil if it does not.
func binding(asked bool) event.Binding {
	if !asked {
		return nil
	}
	return protobuf.Binding{}
}

// startDemo serves the demo agent on a port of the loopback interface until stop is called.
func startDemo(pace float64, asked bool) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: serve.Agent(demo.Agent(pace), &serve.AgentOptions{
		Binding: binding(asked), Logger: slog.New(slog.DiscardHandler),
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	return "http://" + l.Addr().String() + "/", func() {
		server.Close()
		<-done
	}, nil
}

// shortID makes a short, readable id for a thread that is not kept long.
func shortID() string { return strings.ToLower(rand.Text()[:8]) }

// clockArgs are the arguments of the tool local_time.
type clockArgs struct {
	Zone string `json:"zone" jsonschema:"an IANA time zone such as Europe/Lisbon, or Local for the user's own"`
}

// clockTool is the tool that agfold calls itself.
func clockTool(now func() time.Time) client.Tool {
	return client.NewTool(demo.ClockTool, "Tells the time, the day and the time zone of the user or of a place.",
		func(_ context.Context, args clockArgs) (any, error) {
			at := now()
			if args.Zone != "Local" {
				zone, err := time.LoadLocation(args.Zone)
				if err != nil {
					return nil, fmt.Errorf("there is no time zone %q", args.Zone)
				}
				at = at.In(zone)
			}
			name, _ := at.Zone()
			return map[string]string{"time": at.Format("15:04"), "day": at.Format("Monday 2006-01-02"), "zone": name}, nil
		})
}
