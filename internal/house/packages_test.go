package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/agfold/agfold"
	root   = "../.."
)

// publicPackage is a package that users of the module can import.
type publicPackage struct {
	name  string // its path in the module
	types *types.Package
	doc   *doc.Package
}

// publicPackages returns the module's packages that are neither internal, nor commands, nor examples.
func publicPackages(t *testing.T) []*publicPackage {
	t.Helper()
	pkgs, err := loadPackages()
	require.NoError(t, err)
	require.NotEmpty(t, pkgs)
	return pkgs
}

var loadPackages = sync.OnceValues(func() ([]*publicPackage, error) {
	type listed struct {
		ImportPath, Name, Dir, Export string
		GoFiles                       []string
		DepOnly                       bool
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var public []listed
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !p.DepOnly && p.Name != "main" && !strings.Contains("/"+name, "/internal/") && !strings.HasPrefix(name, "examples/") {
			public = append(public, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var pkgs []*publicPackage
	for _, p := range public {
		typed, err := imports.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		var files []*ast.File
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			files = append(files, parsed)
		}
		docs, err := doc.NewFromFiles(fset, files, p.ImportPath)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, &publicPackage{strings.TrimPrefix(p.ImportPath, module+"/"), typed, docs})
	}
	return pkgs, nil
})
