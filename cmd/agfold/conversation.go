package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// stage is the environment of a conversation, apart from its input and output.
type stage struct {
	size  func() (width, height int) // for a view that is redrawn in place; nil if there can be none
	asks  bool                       // a person can be asked
	newID func() string              // makes the session's ids; nil for random ones
}

// conversation is one call of agfold run.
type conversation struct {
	t       *terminal
	stage   stage
	f       *runFlags
	style   transcript.Style
	session *client.Session
	print   *transcript.Writer
	seen    int               // events
	failed  error             // of writing the output
	record  *recording.Writer // nil if nothing is recorded

	tools    []client.Tool       // offered to the agent; the user answers the calls of those without a function
	answers  []event.ResumeEntry // of --input
	replies  []string            // of --answer
	used     map[string]bool     // the replies that answered a question
	lines    *bufio.Reader       // standard input, once a person was asked
	warnings warnings
	about    string // what the agent declares, with --verbose
}

// title says what runs.
func (c *conversation) title() term.Text {
	if c.about == "" {
		return term.Sprintf("%s", c.f.agent())
	}
	return term.Sprintf("%s (%s)", c.f.agent(), c.about)
}

// maxUnasked is how many runs in a row may be answered without asking a person.
const maxUnasked = 16

// hold sends the messages of queue, and the answers to what the agent asks, and returns the exit status.
func (c *conversation) hold(ctx context.Context, begun *beginning, queue []string) int {
	if begun.shown != nil {
		c.print.Skip(begun.shown)
	}
	if c.text() {
		c.t.stdout.Print(term.Sprintf("thread %s · %s\n", c.session.ID(), c.f.agent()))
	}
	unasked := 0
	var last *client.Result
	var err error
	for first := true; ; first = false {
		var o client.RunOptions
		if questions := c.questions(c.session.Thread()); len(questions) > 0 {
			asked, complete := c.answer(ctx, questions)
			if unasked++; asked {
				unasked = 0
			}
			if !complete || unasked > maxUnasked {
				break
			}
			for _, q := range questions {
				q.addTo(&o)
			}
			if c.text() && !asked {
				c.showAnswers(questions)
			}
		} else if len(queue) > 0 {
			o.Messages, queue = []*messages.Message{messages.UserText(queue[0])}, queue[1:]
		} else if !first {
			break
		}
		var sent bool
		if sent, err = c.turn(ctx, &o); !sent && ctx.Err() != nil {
			break
		} else if !sent {
			c.t.say("agfold: nothing was sent: %v", err)
			return exitUsage
		}
		last = c.session.Snapshot().Result
		if err != nil || last.Status != reducer.Succeeded && last.Status != reducer.Interrupted {
			break
		}
	}
	return c.finish(ctx, last, err, len(queue))
}

// text reports whether the output is text about the thread, not JSON and not events.
func (c *conversation) text() bool { return !c.f.JSON && !c.f.Events }

// maxLine bounds what a person types.
const maxLine = 1 << 20

// readLine writes a prompt and reads the line that a person types, without its end. The error is that of ctx, io.EOF, or
// bufio.ErrBufferFull for a line longer than maxLine.
func (c *conversation) readLine(ctx context.Context, prompt string) (string, error) {
	c.t.tell(term.Line(prompt))
	if c.lines == nil {
		c.lines = bufio.NewReaderSize(interruptible(ctx, c.t.stdin), maxLine)
	}
	line, err := c.lines.ReadSlice('\n')
	if err != nil && (len(line) == 0 || ctx.Err() != nil || errors.Is(err, bufio.ErrBufferFull)) {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// finish shows how the conversation ended and returns the exit status. last is its last result, nil if nothing was
// sent, err is that result's error, and unsent is how many messages were not sent.
func (c *conversation) finish(ctx context.Context, last *client.Result, err error, unsent int) int {
	th := c.session.Thread()
	switch {
	case c.f.Events:
	case c.f.JSON:
		c.t.stdout.JSON(appendThread(nil, th, c.warnings.list.all()))
	default:
		c.print.Close(th)
	}
	c.tellWarnings()
	written := c.t.written(errors.Join(c.failed, c.t.stdout.Flush()))
	if written == exitBrokenPipe {
		return written
	}
	status := c.verdict(ctx, th, err)
	if unsent > 0 {
		why := ""
		if len(c.questions(th)) > 0 {
			why = ", because the agent waits for an answer first"
		}
		c.t.say("agfold: %s not sent%s", count(unsent, "message was", "messages were"), why)
	}
	if err == nil && ctx.Err() == nil {
		c.explain()
	}
	for _, reply := range c.replies {
		if !c.used[reply] {
			c.t.say("agfold: --answer %s: there was no such interrupt or tool call", reply)
		}
	}
	if c.record != nil {
		if err := c.record.Close(); err != nil {
			c.t.say("agfold: --record %s: the recording is incomplete: %v", c.f.Record, err)
			written = exitUnreadable
		}
	}
	return max(status, written)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// verdict says on standard error what went wrong and returns the exit status.
func (c *conversation) verdict(ctx context.Context, th *reducer.Thread, err error) int {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		c.t.say("agfold: stopped by --timeout after %v and %s: %s; what came before is kept", c.f.Timeout, transcript.Count(c.seen, "event"), th.Status())
		return exitTruncated
	case ctx.Err() != nil:
		c.t.say("agfold: stopped after %s: %s; what came before is kept", transcript.Count(c.seen, "event"), th.Status())
		return exitInterrupted
	case err == nil:
		return exitOK
	}
	c.t.say("agfold: %v", err)
	switch th.Status() {
	case reducer.Failed:
		return exitFailed
	case reducer.Rejected:
		return exitRejected
	}
	var malformed *messages.MalformedError
	switch {
	case errors.As(err, &malformed) && malformed.Type == "RunAgentInput":
		return exitUsage
	case errors.Is(err, client.ErrTruncated), c.seen > 0:
		return exitTruncated
	}
	return exitUnreadable
}
