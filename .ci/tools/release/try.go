package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	gomod "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// try publishes a version in a folder, as it would be tagged, and installs everything from there as users do. Modules of
// others come from the module cache or the proxy that is configured.
//
// GONOPROXY must be empty: if it is not, whatever it says, go get of a nested module at the version of the root that is in the
// module cache looks no further than the root.
func try(root, version string) error {
	tmp, err := os.MkdirTemp("", "agfold-release")
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	clone := filepath.Join(tmp, "clone")
	for _, args := range [][]string{{"clone", "--quiet", root, clone}, {"-C", clone, "checkout", "--quiet", "--detach"}} {
		if _, err := output("", "git", args...); err != nil {
			return err
		}
	}
	modules, err := prepared(clone, version)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "--all"}, {"-c", "user.name=release", "-c", "user.email=release@localhost", "commit", "--quiet", "--allow-empty", "--message", version}} {
		if _, err := output(clone, "git", args...); err != nil {
			return err
		}
	}
	proxy := filepath.Join(tmp, "proxy")
	for _, m := range modules {
		if err := publish(proxy, clone, m, version); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		fmt.Printf("%s would be tagged %s\n", m.path, m.tag(version))
	}
	cache, err := output("", "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(cache), "\n")
	env := []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(lines[0]) + "/cache/download," + lines[1],
		"GOMODCACHE=" + filepath.Join(tmp, "cache"), "GONOSUMDB=" + modules[0].path, "GONOPROXY=", "GOPRIVATE=", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", // the same objects wherever tmp is
		"CGO_ENABLED=0", "GOBIN=" + filepath.Join(tmp, "bin"),
	}
	for _, m := range modules {
		if err := get(filepath.Join(tmp, "user", filepath.Base(m.path)), env, clone, m, version); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	return tryCommands(filepath.Join(tmp, "bin"), root, version)
}

// publish writes a module into the folder of a proxy.
func publish(proxy, clone string, m module, version string) error {
	escaped, err := gomod.EscapePath(m.path)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := zip.CreateFromVCS(archive, gomod.Version{Path: m.path, Version: version}, clone, "HEAD", m.dir); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(clone, m.dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// get makes a module of a user that imports all public packages of a module, builds it, and installs the module's commands.
func get(dir string, env []string, clone string, m module, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	packages, commands, err := packagesOf(clone, m)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, p := range packages {
		fmt.Fprintf(&b, "\t_ %q\n", p)
	}
	b.WriteString(")\n\nfunc main() {}\n")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	steps := [][]string{{"mod", "init", "example.com/user"}, {"get", m.path + "@" + version}, {"mod", "tidy"}, {"build", "-o", os.DevNull, "."}}
	for _, c := range commands {
		steps = append(steps, []string{"install", c + "@" + version})
	}
	for _, args := range steps {
		start := time.Now()
		if _, err := outputEnv(dir, env, "go", args...); err != nil {
			return err
		}
		fmt.Printf("  go %s (%.1f s)\n", strings.Join(args, " "), time.Since(start).Seconds())
	}
	got, err := outputEnv(dir, env, "go", "list", "-m", "-f", "{{.Version}}{{with .Replace}} replaced{{end}}", m.path)
	if err != nil {
		return err
	}
	if strings.TrimSpace(got) != version {
		return fmt.Errorf("the user got %q, want %s", strings.TrimSpace(got), version)
	}
	return nil
}

// packagesOf returns the packages of a module that users can import, and its commands.
func packagesOf(clone string, m module) (packages, commands []string, err error) {
	files, err := output(clone, "git", "ls-files", filepath.Join(m.dir, "*.go"), filepath.Join(m.dir, "**", "*.go"))
	if err != nil {
		return nil, nil, err
	}
	nested, err := output(clone, "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
next:
	for _, file := range strings.Fields(files) {
		dir := filepath.ToSlash(filepath.Dir(file))
		if seen[dir] || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for part := range strings.SplitSeq(dir, "/") {
			if part == "internal" || part == "testdata" || part == "examples" || strings.HasPrefix(part, ".") && part != "." {
				continue next
			}
		}
		for _, mod := range strings.Fields(nested) {
			if other := strings.TrimSuffix(strings.TrimSuffix(mod, "go.mod"), "/"); len(other) > len(m.dir) && (dir == other || strings.HasPrefix(dir, other+"/")) {
				continue next
			}
		}
		seen[dir] = true
		data, err := os.ReadFile(filepath.Join(clone, file))
		if err != nil {
			return nil, nil, err
		}
		path := strings.TrimSuffix(m.path+"/"+strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"), "/")
		if dir == "." {
			path = m.path
		}
		if strings.Contains("\n"+string(data), "\npackage main\n") {
			commands = append(commands, path)
		} else {
			packages = append(packages, path)
		}
	}
	if len(packages) == 0 {
		return nil, nil, fmt.Errorf("there is nothing to import")
	}
	return packages, commands, nil
}

// tryCommands runs the installed commands.
func tryCommands(bin, root, version string) error {
	agfold := filepath.Join(bin, "agfold"+exe(runtime.GOOS))
	if err := says(agfold, version); err != nil {
		return err
	}
	if _, err := output("", agfold, "replay", filepath.Join(root, "testdata", "subagents.sse")); err != nil {
		return err
	}
	jetstream := filepath.Join(bin, "agfold-jetstream"+exe(runtime.GOOS))
	if _, err := output("", jetstream, "--help"); err != nil {
		return err
	}
	installed, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	if len(installed) != 2 {
		return fmt.Errorf("%d commands were installed: try the new one, too", len(installed))
	}
	return nil
}

// says checks the version that agfold prints.
func says(agfold, version string) error {
	said, err := output("", agfold, "version")
	if err != nil {
		return err
	}
	if want := "agfold " + version; strings.TrimSpace(said) != want && !strings.HasPrefix(said, want+" ") {
		return fmt.Errorf("agfold version says %q, want %s", said, want)
	}
	fmt.Print("  agfold version: ", said)
	return nil
}

// removeAll removes a folder, in which files of the module cache may be read-only.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
