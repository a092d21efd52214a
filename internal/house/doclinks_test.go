package house

import (
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docLink is a Go identifier in brackets: [Name], [Type.Method], [pkg.Name] or [*pkg.Type.Method].
var docLink = regexp.MustCompile(`(?m)(?:^|[\s(])\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\](?:$|[\s.,;:)'])`)

// Identifiers in brackets in comments resolve, so that the documentation shows links.
func TestIdentifiersInBracketsResolve(t *testing.T) {
	m, err := loadModule()
	require.NoError(t, err)
	total := 0
	for _, pkg := range publicPackages(t) {
		for _, comments := range pkg.comments {
			for _, comment := range comments {
				for _, link := range docLink.FindAllStringSubmatch(prose(comment.Text()), -1) {
					total++
					assert.True(t, m.resolves(pkg, link[1]), "%s: [%s]", m.files.Position(comment.Pos()), link[1])
				}
			}
		}
	}
	assert.NotZero(t, total)
}

func TestWhatIsALink(t *testing.T) {
	for text, want := range map[string]string{
		"see [Name].": "Name", "([Type.Method])": "Type.Method", "a [*pkg.Type], b": "pkg.Type", "[pkg.Type.Method]": "pkg.Type.Method",
		"list[Name]": "", "[PROTOCOL.md]: https://x": "", "an array [null]": "", "[Name]s": "",
	} {
		got := ""
		if m := docLink.FindStringSubmatch(text); m != nil {
			got = m[1]
		}
		assert.Equal(t, want, got, text)
	}
}

// prose returns a comment without its indented lines, which are code.
func prose(comment string) string {
	var lines []string
	for line := range strings.Lines(comment) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "    ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// resolves reports whether a comment of pkg may name link in brackets.
func (m *loaded) resolves(pkg *publicPackage, link string) bool {
	scope, names := pkg.types, strings.Split(link, ".")
	if !token.IsExported(names[0]) {
		if scope = m.imported(pkg, names[0]); scope == nil {
			return false
		}
		names = names[1:]
	}
	obj := scope.Scope().Lookup(names[0])
	if obj == nil || len(names) == 1 {
		return obj != nil
	}
	member, _, _ := types.LookupFieldOrMethod(obj.Type(), true, scope, names[1])
	return member != nil
}

// imported returns the package of that name that a file of pkg imports; nil if there is none.
func (m *loaded) imported(pkg *publicPackage, name string) *types.Package {
	for file := range pkg.comments {
		for _, spec := range file.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && path.Base(p) == name {
				if imported, err := m.types.Import(p); err == nil {
					return imported
				}
			}
		}
	}
	return nil
}
