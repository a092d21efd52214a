// Command bench measures the project against its own goals and its peers, all in one run on one machine, and
// prints a table of ratios.
//
//	go run -C internal/bench . [-quick] [-oracle DIR]
//
// Every figure is the best of several rounds, and the rows of a group are measured in turn, so that a noisy
// neighbour does not decide. A ratio compares a row with the first row of its group.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

func main() {
	quick := flag.Bool("quick", false, "one short round of each, to see that it runs")
	oracle := flag.String("oracle", "", "a `folder` with the official client's bench.mjs and node_modules, to compare with it")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), "usage: go run -C internal/bench . [-quick] [-oracle DIR]\n\n"+
			"Measures the fold against the floor, itself at other sizes, and its peers, in one run.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	testing.Init()
	rounds, length := 5, "200ms"
	if *quick {
		rounds, length = 1, "1x"
	}
	if err := flag.CommandLine.Parse([]string{"-test.benchtime=" + length}); err != nil {
		panic(err) // the flag is ours
	}
	fmt.Printf("%s, %s/%s, %d CPUs, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), cpu())
	all := groups()
	if *oracle != "" {
		all = append(all, official(*oracle, *quick)...)
	}
	for _, g := range all {
		report(os.Stdout, g, rounds)
	}
}

// group is a set of measurements that are compared with the first of them.
type group struct {
	title string
	goal  string
	rows  []row
}

// row measures one thing: a benchmark that does its work count times an iteration, or a time found otherwise.
type row struct {
	name   string
	count  int
	bench  func(b *testing.B)
	direct func() (time.Duration, error)
}

type figure struct {
	ns     float64
	allocs float64
	bytes  float64
	err    error
}

func report(out io.Writer, g group, rounds int) {
	best := make([]figure, len(g.rows))
	for round := range rounds {
		for i, r := range g.rows {
			if f := measure(r); round == 0 || f.err == nil && f.ns < best[i].ns {
				best[i] = f
			}
		}
	}
	fmt.Fprintf(out, "\n%s\n  goal: %s\n", g.title, g.goal)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\ttime\tratio\tallocs\tbytes\t\n")
	for i, f := range best {
		if f.err != nil {
			fmt.Fprintf(w, "%s\t%v\t\t\t\t\n", g.rows[i].name, f.err)
			continue
		}
		allocs, size := "", ""
		if g.rows[i].bench != nil {
			allocs, size = fmt.Sprintf("%.1f", f.allocs), fmt.Sprintf("%.0f", f.bytes)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t\n", g.rows[i].name, duration(f.ns), ratio(f.ns/best[0].ns), allocs, size)
	}
	w.Flush()
}

func measure(r row) figure {
	if r.direct != nil {
		d, err := r.direct()
		return figure{ns: float64(d.Nanoseconds()), err: err}
	}
	res := testing.Benchmark(r.bench)
	if res.N == 0 {
		return figure{err: fmt.Errorf("failed")}
	}
	n := float64(res.N) * float64(r.count)
	return figure{
		ns:     float64(res.T.Nanoseconds()) / n,
		allocs: float64(res.MemAllocs) / n,
		bytes:  float64(res.MemBytes) / n,
	}
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

func ratio(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 0.095:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("1/%.0f", 1/x)
}

// cpu names the processor, as far as the system tells.
func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(data) {
		if name, ok := strings.CutPrefix(string(line), "model name"); ok {
			return strings.Trim(name, "\t\n :")
		}
	}
	return "unknown processor"
}

var perEvent = regexp.MustCompile(`([0-9.]+) us/event`)

// official times the official TypeScript client on the stream that our rows fold.
func official(dir string, quick bool) []group {
	events := 2000
	if quick {
		events = 20
	}
	client := func(history, events int) row {
		return row{
			name: fmt.Sprintf("official client, %d messages before", history),
			direct: func() (time.Duration, error) {
				cmd := exec.Command("node", "bench.mjs", strconv.Itoa(events), strconv.Itoa(history))
				cmd.Dir = dir
				out, err := cmd.Output()
				if err != nil {
					return 0, fmt.Errorf("node bench.mjs: %w", err)
				}
				m := perEvent.FindSubmatch(out)
				if m == nil {
					return 0, fmt.Errorf("node bench.mjs printed %q", out)
				}
				us, err := strconv.ParseFloat(string(m[1]), 64)
				return time.Duration(us * 1e3), err
			},
		}
	}
	return []group{
		{
			title: "The official client on the same stream, no history, one subscriber",
			goal:  "at least 300 times faster",
			rows:  []row{client(0, events), typedRow(0, true), pipelineRow("ours, from SSE bytes", 0, snapshotNever)},
		},
		{
			title: "The official client on the same stream, 1,000 messages before, one subscriber",
			goal:  "at least 2,000 times faster",
			rows:  []row{client(1000, events/4), typedRow(1000, true), pipelineRow("ours, from SSE bytes", 1000, snapshotNever)},
		},
	}
}
