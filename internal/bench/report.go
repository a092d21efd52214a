package main

import (
	"fmt"
	"io"
	"testing"
	"text/tabwriter"
)

// group is a set of measurements that are compared with the first of them.
type group struct {
	title string
	goal  string
	pairs bool // compare each second row with the one before it, not all with the first
	rows  []row
}

// row measures one thing: a benchmark that does its work count times an iteration, or a figure found otherwise.
type row struct {
	name   string
	count  int
	bench  func(b *testing.B)
	direct func() figure
	once   bool // it takes long, so that it is measured in the first round only
}

// times says that an iteration does the work n times, not count times.
func (r row) times(n int) row {
	r.count = n
	return r
}

type figure struct {
	ns     float64
	allocs float64
	bytes  float64
	note   string
	err    error
}

func report(out io.Writer, g group, rounds int) {
	best := make([]figure, len(g.rows))
	for round := range rounds {
		for i, r := range g.rows {
			if r.once && round > 0 {
				continue
			}
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
		if f.allocs > 0 || f.bytes > 0 || g.rows[i].bench != nil {
			allocs, size = fmt.Sprintf("%.1f", f.allocs), fmt.Sprintf("%.0f", f.bytes)
		}
		base := best[0]
		if g.pairs {
			base = best[i-i%2]
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t  %s\n", g.rows[i].name, duration(f.ns), ratio(f.ns/base.ns), allocs, size, f.note)
	}
	w.Flush()
}

func measure(r row) figure {
	if r.direct != nil {
		return r.direct()
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
