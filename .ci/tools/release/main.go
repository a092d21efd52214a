// Command release makes what users get of a version, and tries it. Run it in .ci/tools:
//
//	go run ./release -version v0.1.0            install the library, the command and the nested modules as users do
//	go run ./release -version v0.1.0 -prepare   change go.mod of the nested modules for the tags
//	go run ./release -version v0.1.0 -binaries DIR   build the command for all platforms, and compare second builds
//
// The published modules are the root and those under adapters; others are for this repository alone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

func main() {
	version := flag.String("version", "v0.1.0", "the `version` that is to be released")
	prepare := flag.Bool("prepare", false, "only change the go.mod files")
	binaries := flag.String("binaries", "", "only build the command for all platforms, twice, into this `folder`")
	briefly := flag.Bool("briefly", false, "with -binaries: build only the binary of this machine twice")
	flag.Parse()
	err := errors.New("the version is not one of semantic versioning")
	if semver.IsValid(*version) && semver.Canonical(*version) == *version {
		err = run(*version, *prepare, *binaries, *briefly)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version string, prepare bool, binaries string, briefly bool) error {
	root, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	root = strings.TrimSpace(root)
	if binaries != "" {
		return build(root, version, binaries, briefly)
	}
	if prepare {
		_, err := prepared(root, version)
		return err
	}
	return try(root, version)
}

// module is a published module.
type module struct {
	path string
	dir  string // in the repository, "" for the root
}

// tag is the name of the tag of a version.
func (m module) tag(version string) string {
	if m.dir == "" {
		return version
	}
	return m.dir + "/" + version
}

// published finds the published modules in a work tree.
func published(root string) ([]module, error) {
	files, err := output(root, "git", "ls-files", "go.mod", "adapters/*go.mod")
	if err != nil {
		return nil, err
	}
	var modules []module
	list := strings.Fields(files)
	slices.SortStableFunc(list, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") }) // the root first
	for _, file := range list {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		m := module{modfile.ModulePath(data), strings.TrimSuffix(strings.TrimSuffix(file, "go.mod"), "/")}
		if len(modules) > 0 && m.path != modules[0].path+"/"+m.dir {
			return nil, fmt.Errorf("%s: the module is %s, want %s/%s", file, m.path, modules[0].path, m.dir)
		}
		modules = append(modules, m)
	}
	if len(modules) == 0 || modules[0].dir != "" {
		return nil, errors.New("there is no go.mod in the root")
	}
	return modules, nil
}

// prepared makes the nested modules require the published versions of each other: the replacements that let a clone build
// are ignored by go get, and refused by go install.
func prepared(root, version string) ([]module, error) {
	modules, err := published(root)
	if err != nil {
		return nil, err
	}
	own := make(map[string]bool)
	for _, m := range modules {
		own[m.path] = true
	}
	for _, m := range modules {
		name := filepath.Join(root, m.dir, "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}
		for _, r := range file.Replace {
			if m.dir == "" || !own[r.Old.Path] {
				return nil, fmt.Errorf("%s replaces %s: users would not get what was tested", name, r.Old.Path)
			}
			if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
		for _, r := range file.Require {
			if own[r.Mod.Path] {
				if err := file.AddRequire(r.Mod.Path, version); err != nil {
					return nil, err
				}
			}
		}
		file.Cleanup()
		data, err = file.Format()
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return nil, err
		}
	}
	return modules, nil
}

// output runs a program in a folder and returns what it printed.
func output(dir, name string, args ...string) (string, error) {
	return outputEnv(dir, nil, name, args...)
}

func outputEnv(dir string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w\n%s%s", err, out, failed.Stderr)
		}
		return string(out), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
