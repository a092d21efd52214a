package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// platforms are those that binaries are built for.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// build builds the command for all platforms into a folder, with SHA256SUMS, from a copy of the committed tree that has the
// version's tag. It builds each binary (or, if briefly, that of this machine) a second time, from a copy at another place and
// with an empty build cache, and compares the two.
func build(root, version, into string, briefly bool) error {
	into, err := filepath.Abs(into)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "agfold-build")
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	copies := [2]string{filepath.Join(tmp, "a"), filepath.Join(tmp, "another", "place")}
	for _, dir := range copies {
		for _, args := range [][]string{{"clone", "--quiet", root, dir}, {"-C", dir, "-c", "tag.gpgSign=false", "tag", "--force", version}} {
			if _, err := output("", "git", args...); err != nil {
				return err
			}
		}
	}
	var sums bytes.Buffer
	for _, p := range platforms {
		start := time.Now()
		name, here := "agfold-"+p[0]+"-"+p[1]+exe(p[0]), p[0] == runtime.GOOS && p[1] == runtime.GOARCH
		binary, err := compile(copies[0], filepath.Join(into, name), p)
		if err != nil {
			return err
		}
		if bytes.Contains(binary, []byte(tmp)) {
			return fmt.Errorf("%s: the binary names the folder that it was built in", name)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(binary), name)
		fmt.Printf("%s: %.1f MB (%.1f s)\n", name, float64(len(binary))/1e6, time.Since(start).Seconds())
		if here {
			if err := says(filepath.Join(into, name), version); err != nil {
				return err
			}
		}
		if briefly && !here {
			continue
		}
		start = time.Now()
		again, err := compile(copies[1], filepath.Join(tmp, name), p, "GOCACHE="+filepath.Join(tmp, "cache"))
		if err != nil {
			return err
		}
		if !bytes.Equal(binary, again) {
			return fmt.Errorf("%s: two builds of the same commit differ", name)
		}
		fmt.Printf("  the same from another folder, with an empty build cache (%.1f s)\n", time.Since(start).Seconds())
	}
	return os.WriteFile(filepath.Join(into, "SHA256SUMS"), sums.Bytes(), 0o644)
}

// compile builds the command in a copy of the repository and returns the binary.
func compile(dir, out string, p [2]string, env ...string) ([]byte, error) {
	env = append(env, "GOOS="+p[0], "GOARCH="+p[1], "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if _, err := outputEnv(dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out, "./cmd/agfold"); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// exe is how the names of programs end on an operating system.
func exe(goos string) string {
	if goos == "windows" {
		return ".exe"
	}
	return ""
}
