package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// runFlags is what the command line of agfold run says.
type runFlags struct {
	url      string
	header   http.Header
	peer     string
	pace     float64
	messages list
	input    string
	from     string // --continue
	thread   string
	state    string
	tools    string
	clock    bool
	answers  list
	yes, no  bool
	json     bool
	events   bool
	full     bool
	record   string
	strict   bool
	timeout  time.Duration
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// headers is a flag that collects headers.
type headers http.Header

func (h headers) String() string { return "" }

func (h headers) Set(s string) error {
	name, value, ok := strings.Cut(s, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(value, "\r\n") {
		return errors.New("want 'Name: value'")
	}
	http.Header(h).Add(name, value)
	return nil
}

func runAgent(ctx context.Context, args []string, t *terminal) int {
	return runOn(ctx, args, t, t.stage)
}

// runOn is runAgent on a stage.
func runOn(ctx context.Context, args []string, t *terminal, st stage) int {
	f := runFlags{header: http.Header{}}
	fs := f.set()
	rest, status, ok := parse(fs, runHelp, args, t)
	if !ok {
		return status
	}
	if wrong := f.check(rest); wrong != "" {
		return wrongUsage(fs, wrong, t)
	}
	begun, err := f.load(ctx, t)
	if ctx.Err() != nil {
		return exitInterrupted
	}
	if err != nil {
		return wrongUsage(fs, err.Error(), t)
	}
	if f.url == "" && f.input == "" && len(f.messages) == 0 && begun.empty() {
		f.messages = list{demo.DefaultMessage}
	}
	if f.input == "-" || f.from == "-" || f.tools == "-" {
		st.asks = false
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	c := &conversation{t: t, f: &f, stage: st, answers: begun.resume, replies: f.answers, used: map[string]bool{}}
	c.style = transcript.Style{Width: t.width, Color: t.color, Full: f.full}
	c.print = transcript.NewWriter(t.stdout, c.style, st.size == nil)
	c.warnings.keep = f.json && !f.events
	options := begun.options
	if f.clock || f.url == "" {
		options.Tools = append(options.Tools, clockTool(t.now))
	}
	c.tools = options.Tools
	if f.input == "" && len(f.messages) == 0 && (options.Thread == nil || len(c.questions(options.Thread)) == 0) {
		return wrongUsage(fs, "there is nothing to send: say it with --message or --input", t)
	}
	if f.record != "" {
		if c.record, err = f.openRecord(t); err != nil {
			return wrongUsage(fs, err.Error(), t)
		}
		defer c.record.Close()
		options.Middleware = []client.Middleware{client.Record(c.record)}
	}
	options.PeerVersion, options.Strict, options.OnWarning = f.peer, f.strict, c.warn
	c.name = f.url
	if f.url == "" {
		c.name = "demo agent"
		agent, stop, err := startDemo(f.pace)
		if err != nil {
			t.say("agfold: starting the demo agent: %v", err)
			return exitUnreadable
		}
		defer stop()
		f.url = agent
		options.NewID = shortID
	}
	if st.newID != nil {
		options.NewID = st.newID
	}
	c.session = client.NewSession(client.NewHTTP(f.url, &client.HTTPOptions{Header: f.header}), &options)
	defer c.session.Close()
	for _, w := range begun.warnings {
		c.warn(w)
	}
	return c.hold(ctx, begun)
}

// set returns the flags of the command, to be parsed into f.
func (f *runFlags) set() *flag.FlagSet {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	fs.StringVar(&f.url, "url", "", "")
	fs.Var(headers(f.header), "header", "")
	fs.StringVar(&f.peer, "peer", "", "")
	fs.Float64Var(&f.pace, "pace", 1, "")
	fs.Var(&f.messages, "message", "")
	fs.StringVar(&f.input, "input", "", "")
	fs.StringVar(&f.from, "continue", "", "")
	fs.StringVar(&f.thread, "thread", "", "")
	fs.StringVar(&f.state, "state", "", "")
	fs.StringVar(&f.tools, "tools", "", "")
	fs.BoolVar(&f.clock, "clock", false, "")
	fs.Var(&f.answers, "answer", "")
	fs.BoolVar(&f.yes, "yes", false, "")
	fs.BoolVar(&f.no, "no", false, "")
	fs.BoolVar(&f.json, "json", false, "")
	fs.BoolVar(&f.events, "events", false, "")
	fs.BoolVar(&f.full, "full", false, "")
	fs.StringVar(&f.record, "record", "", "")
	fs.BoolVar(&f.strict, "strict", false, "")
	fs.DurationVar(&f.timeout, "timeout", 0, "")
	return fs
}

// check says what is wrong with the flags, "" if nothing is.
func (f *runFlags) check(rest []string) string {
	target, err := url.Parse(f.url)
	stdins := 0
	for _, name := range []string{f.input, f.from, f.tools} {
		if name == "-" {
			stdins++
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("unexpected argument %q; a message is said with --message", rest[0])
	case f.url != "" && (err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == ""):
		return fmt.Sprintf("--url %q is no http or https URL", f.url)
	case f.yes && f.no:
		return "--yes and --no exclude each other"
	case f.pace < 0:
		return "--pace cannot be negative"
	case f.timeout < 0:
		return "--timeout cannot be negative"
	case f.input != "" && f.from != "":
		return "--input and --continue exclude each other"
	case stdins > 1:
		return "- can be read only once"
	case strings.Trim(f.peer, "0123456789.") != "" || f.peer != "" && strings.Contains("."+f.peer+".", ".."):
		return fmt.Sprintf("--peer %q is no version such as 0.0.57", f.peer)
	}
	for _, reply := range f.answers {
		if !isReply(reply) {
			return fmt.Sprintf("--answer %q: want ID=JSON or ID=decline", reply)
		}
	}
	return ""
}

// startDemo serves the demo agent on a port of the loopback interface until stop is called.
func startDemo(pace float64) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: demo.Handler(&demo.Options{Pace: pace})}
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

// shortID makes an id that people can read, for threads that nobody keeps long.
func shortID() string { return strings.ToLower(rand.Text()[:8]) }

// clockArgs are the arguments of the tool local_time.
type clockArgs struct {
	Zone string `json:"zone" jsonschema:"an IANA time zone such as Europe/Lisbon, or Local for the user's own"`
}

// clockTool is the tool that agfold carries out itself.
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
