// Command bench measures the project against its own goals and its peers, all in one run on one machine, and
// prints a table of ratios.
//
//	go run -C internal/bench . [-quick] [-oracle DIR]
//
// Every figure is the best of several rounds, and the rows of a group are measured in turn, so that other load on the
// machine does not decide. A ratio compares a row with the first row of its group.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

func main() {
	if processes := map[string]func([]string) error{"live": liveMain, "tabs": tabsMain}; len(os.Args) > 2 && processes[os.Args[1]] != nil {
		if err := processes[os.Args[1]](os.Args[2:]); err != nil { // a process of a row of liveGroup or tabsGroup
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
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
	all := append(append(append(groups(), bindingGroups()...), feedGroups()...), debugGroup(), liveGroup(*quick), tabsGroup(*quick))
	if *oracle != "" {
		all = append(all, official(*oracle, *quick)...)
	}
	for _, g := range all {
		report(os.Stdout, g, rounds)
	}
}

// cpu returns the name of the processor, if the system says it.
func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(data) {
		if name, ok := strings.CutPrefix(string(line), "model name"); ok {
			return strings.Trim(name, "\t\n :")
		}
	}
	return "unknown processor"
}
