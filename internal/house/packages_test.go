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
	name       string // its path in the module
	types      *types.Package
	doc        *doc.Package
	comments   map[*ast.File][]*ast.CommentGroup
	citesRules bool
}

// publicPackages returns the module's packages that are neither internal, nor commands, nor examples.
func publicPackages(t *testing.T) []*publicPackage {
	t.Helper()
	m, err := loadModule()
	require.NoError(t, err)
	require.NotEmpty(t, m.public)
	return m.public
}

// loaded is the module as the compiler sees it: its public packages, and an importer of whatever it depends on.
type loaded struct {
	files  *token.FileSet
	public []*publicPackage
	types  types.Importer
}

var loadModule = sync.OnceValues(func() (*loaded, error) {
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
	m := &loaded{files: token.NewFileSet()}
	m.types = importer.ForCompiler(m.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range public {
		typed, err := m.types.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		pkg := &publicPackage{name: strings.TrimPrefix(p.ImportPath, module+"/"), types: typed, comments: map[*ast.File][]*ast.CommentGroup{}}
		var files []*ast.File
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(m.files, filepath.Join(p.Dir, file), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			files = append(files, parsed)
			pkg.comments[parsed] = parsed.Comments // go/doc takes them
			for _, comment := range parsed.Comments {
				pkg.citesRules = pkg.citesRules || ruleCited.MatchString(comment.Text())
			}
		}
		pkg.doc, err = doc.NewFromFiles(m.files, files, p.ImportPath)
		if err != nil {
			return nil, err
		}
		m.public = append(m.public, pkg)
	}
	return m, nil
})
