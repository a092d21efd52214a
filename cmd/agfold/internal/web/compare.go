package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/agfold/agfold/compare"
	"github.com/agfold/agfold/reducer"
)

// compareOptions says how two logs are compared.
type compareOptions struct{ compare.Options }

// compareOptionsOf reads them from a query: ids=exact, and ignore=SECTION, which may be repeated.
func compareOptionsOf(q url.Values) compareOptions {
	return compareOptions{compare.Options{ExactIDs: q.Get("ids") == "exact", Ignore: q["ignore"]}}
}

// errUnread is returned by compareJSON for a log that is still being read.
var errUnread = errors.New("the recording is still being read")

// comparison is two logs that are compared, as the page gets it.
type comparison struct {
	A           *side         `json:"a"`
	B           *side         `json:"b"`
	Same        bool          `json:"same"`
	More        int           `json:"more"` // differences that are not listed
	Divergence  *divergence   `json:"divergence"`
	Why         string        `json:"why,omitempty"` // why there is no divergence although the two differ
	Runs        []runPair     `json:"runs"`
	Rows        []messagePair `json:"rows"`
	Differences []difference  `json:"differences"`

	rowOf  map[[2]int]int // the row of a message, by side and place
	report *compare.Report
}

// side is one of the two.
type side struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Length   int    `json:"length"`
	Messages int    `json:"messages"`

	thread *reducer.Thread // the final one; nil while the log is being read
	log    *log
	open   func() (io.ReadCloser, error)
	places places
	runs   []span
}

// sideOf returns a log as a side. Of a live one it is what there is now.
func sideOf(l *log) *side {
	s := &side{ID: l.id, Name: l.name, log: l, open: l.open}
	l.read(func() {
		s.Length, s.thread, s.places = len(l.entries), l.end, l.trouble.places
		if s.thread == nil && l.mode == modeLive {
			s.thread = l.last.Thread
		}
		for _, sp := range l.shape.spans {
			if sp.kind == spanRun {
				s.runs = append(s.runs, sp)
			}
		}
	})
	if s.thread != nil {
		s.Messages = s.thread.Messages.Len()
	}
	return s
}

// difference is a place at which the two differ. The paths are JSON pointers in the two threads, "" where there is nothing.
type difference struct {
	Section string   `json:"section"`
	Where   string   `json:"where"`
	PathA   string   `json:"pathA"`
	PathB   string   `json:"pathB"`
	A       *extract `json:"a"`
	B       *extract `json:"b"`
}

// compareJSON returns how two logs differ, as one JSON object. Both must have been read to their ends. The first place at
// which their events part is found by reading the files again; what the context is for.
func compareJSON(ctx context.Context, a, b *log, o compareOptions) ([]byte, error) {
	x, y := sideOf(a), sideOf(b)
	for _, s := range []*side{x, y} {
		if s.thread == nil {
			return nil, fmt.Errorf("%s: %w", s.Name, errUnread)
		}
	}
	c := &comparison{A: x, B: y, report: compare.Threads(x.thread, y.thread, &o.Options)}
	c.Same, c.More = c.report.Same(), c.report.More
	c.alignRuns()
	c.alignMessages()
	c.list()
	if !c.Same {
		var err error
		if c.Divergence, err = parted(ctx, x, y, o); err != nil {
			c.Why = err.Error()
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// list lists the differences, each with its place on both sides, and puts those about messages and runs into their rows.
func (c *comparison) list() {
	c.Differences = make([]difference, 0, len(c.report.Differences))
	for i, d := range c.report.Differences {
		out := difference{Section: d.Section, Where: d.Where, PathA: d.Path, PathB: d.Path}
		out.A, out.B = extracts(d.A, d.B)
		list, place, rest := splitPath(d.Path)
		switch {
		case list == "messages":
			which := [2]int{0, place} // in the first thread, unless only the second one has the message
			if rest == "" && !d.A.Exists() {
				which[0] = 1
			}
			if row, ok := c.rowOf[which]; ok {
				r := &c.Rows[row]
				r.Differences = append(r.Differences, i)
				out.PathA, out.PathB = elementPath("messages", r.A, rest), elementPath("messages", r.B, rest)
			}
		case list == "runs" && place < len(c.Runs):
			c.Runs[place].Differences = append(c.Runs[place].Differences, i)
		}
		if !d.A.Exists() && rest == "" {
			out.PathA = ""
		}
		if !d.B.Exists() && rest == "" {
			out.PathB = ""
		}
		c.Differences = append(c.Differences, out)
	}
}

// splitPath splits a pointer such as /messages/3/content into "messages", 3 and "/content".
func splitPath(path string) (list string, place int, rest string) {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) < 3 {
		return "", 0, ""
	}
	place, err := strconv.Atoi(parts[2])
	if err != nil {
		return "", 0, ""
	}
	if len(parts) == 4 {
		rest = "/" + parts[3]
	}
	return parts[1], place, rest
}

func elementPath(list string, place int, rest string) string {
	if place < 0 {
		return ""
	}
	return "/" + list + "/" + strconv.Itoa(place) + rest
}
