package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// platforms are those that binaries are built for.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// build builds the command for all platforms into a folder, each one twice, from copies of the committed tree at different
// places, and compares the two. It also writes SHA256SUMS.
func build(root, into string) error {
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
	defer os.RemoveAll(tmp)
	copies := []string{filepath.Join(tmp, "a"), filepath.Join(tmp, "another", "place")}
	for _, dir := range copies {
		if _, err := output("", "git", "clone", "--quiet", root, dir); err != nil {
			return err
		}
	}
	var sums bytes.Buffer
	for _, p := range platforms {
		name := "agfold-" + p[0] + "-" + p[1]
		if p[0] == "windows" {
			name += ".exe"
		}
		var first []byte
		for i, dir := range copies {
			out := filepath.Join(into, name)
			if i > 0 {
				out = filepath.Join(tmp, name)
			}
			env := []string{"GOOS=" + p[0], "GOARCH=" + p[1], "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="}
			if _, err := outputEnv(dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out, "./cmd/agfold"); err != nil {
				return err
			}
			binary, err := os.ReadFile(out)
			if err != nil {
				return err
			}
			if i == 0 {
				first = binary
				fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(binary), name)
			} else if !bytes.Equal(first, binary) {
				return fmt.Errorf("%s: two builds of the same commit differ", name)
			}
			if bytes.Contains(binary, []byte(tmp)) {
				return fmt.Errorf("%s: the binary names the folder that it was built in", name)
			}
		}
		fmt.Println(name)
	}
	return os.WriteFile(filepath.Join(into, "SHA256SUMS"), sums.Bytes(), 0o644)
}
