package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// surface is how many names each public package may export. It counts the exported functions, types, constants and
// variables, and the exported methods declared on exported types; not fields, and not what embedding promotes.
// Lower a number when the package shrinks, and raise one only for names that users need.
var surface = map[string]int{
	"state":          83,
	"subscribe":      23,
	"messages":       117,
	"event":          248,
	"chunks":         9,
	"reducer":        111,
	"recording":      67,
	"client":         146,
	"serve":          16,
	"lint":           18,
	"compare":        9,
	"agenttest":      91,
	"client/lenient": 5,
	"spans":          22,
	"event/protobuf": 11,
	"emit":           62,
}

func TestExportedNamesAreCounted(t *testing.T) {
	total := 0
	for _, pkg := range publicPackages(t) {
		limit, listed := surface[pkg.name]
		assert.True(t, listed, "%s is public: give it a number", pkg.name)
		names := pkg.exported()
		total += len(names)
		assert.LessOrEqual(t, len(names), limit, "%s exports more names than it may", pkg.name)
		t.Logf("%-10s %d of %d", pkg.name, len(names), limit)
	}
	t.Logf("%-10s %d", "all", total)
}

func TestExportedNamesAreExplained(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		assert.NotEmpty(t, pkg.doc.Doc, "package %s has no comment", pkg.name)
		if pkg.citesRules {
			assert.Contains(t, pkg.doc.Doc, "[PROTOCOL.md]:", "package %s cites rules and does not say where they are", pkg.name)
		}
		for _, name := range pkg.unexplained() {
			assert.Fail(t, "no comment", "%s.%s", pkg.name, name)
		}
	}
}

func TestExportedSignaturesNameNoInternalType(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		w := &walker{seen: map[types.Type]bool{}, found: map[string]string{}}
		for _, name := range pkg.types.Scope().Names() {
			if obj := pkg.types.Scope().Lookup(name); obj.Exported() {
				w.object(pkg.name+"."+name, obj)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(w.found)) {
			assert.Fail(t, "an internal type in an exported signature", "%s shows %s", name, w.found[name])
		}
	}
}

// exported returns the names that the package's number counts.
func (p *publicPackage) exported() []string {
	var names []string
	for _, name := range p.types.Scope().Names() {
		obj := p.types.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		names = append(names, name)
		named, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !isType || !ok {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				names = append(names, name+"."+m.Name())
			}
		}
	}
	return names
}

// unexplained returns the exported names without a comment. A constant or variable may share its group's.
func (p *publicPackage) unexplained() []string {
	var names []string
	need := func(name, comment string) {
		if ast.IsExported(name[strings.LastIndex(name, ".")+1:]) && strings.TrimSpace(comment) == "" {
			names = append(names, name)
		}
	}
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for _, name := range spec.Names {
					need(name.Name, group.Doc+spec.Doc.Text()+spec.Comment.Text())
				}
			}
		}
	}
	funcs := func(prefix string, list []*doc.Func) {
		for _, f := range list {
			need(prefix+f.Name, f.Doc)
		}
	}
	values(p.doc.Consts)
	values(p.doc.Vars)
	funcs("", p.doc.Funcs)
	for _, typ := range p.doc.Types {
		need(typ.Name, typ.Doc)
		values(typ.Consts)
		values(typ.Vars)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
	}
	return names
}

// walker visits all types that a user of a package can reach, and finds those of internal packages.
type walker struct {
	seen  map[types.Type]bool
	found map[string]string // from the name that shows it to the type
}

func (w *walker) object(where string, obj types.Object) {
	if name, ok := obj.(*types.TypeName); ok && name.IsAlias() {
		w.visit(where, types.Unalias(obj.Type()))
		return
	}
	w.visit(where, obj.Type())
}

func (w *walker) visit(where string, typ types.Type) {
	switch typ := typ.(type) {
	case *types.Alias:
		w.named(where, typ.Obj(), typ.TypeArgs())
		w.visit(where, typ.Rhs())
	case *types.Named:
		w.named(where, typ.Obj(), typ.TypeArgs())
		if w.seen[typ.Origin()] || !isPublic(typ.Obj()) {
			return
		}
		w.seen[typ.Origin()] = true
		where = typ.Obj().Pkg().Name() + "." + typ.Obj().Name()
		w.params(where, typ.Origin().TypeParams())
		for m := range typ.Origin().Methods() {
			if m.Exported() {
				w.visit(where+"."+m.Name(), m.Type())
			}
		}
		w.visit(where, typ.Origin().Underlying())
	case *types.TypeParam:
		w.visit(where, typ.Constraint())
	case *types.Pointer:
		w.visit(where, typ.Elem())
	case *types.Slice:
		w.visit(where, typ.Elem())
	case *types.Array:
		w.visit(where, typ.Elem())
	case *types.Chan:
		w.visit(where, typ.Elem())
	case *types.Map:
		w.visit(where, typ.Key())
		w.visit(where, typ.Elem())
	case *types.Signature:
		w.params(where, typ.TypeParams())
		w.visit(where, typ.Params())
		w.visit(where, typ.Results())
	case *types.Tuple:
		for v := range typ.Variables() {
			w.visit(where, v.Type())
		}
	case *types.Struct:
		for f := range typ.Fields() {
			if f.Exported() || f.Embedded() {
				w.visit(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range typ.ExplicitMethods() {
			if m.Exported() {
				w.visit(where+"."+m.Name(), m.Type())
			}
		}
		for e := range typ.EmbeddedTypes() {
			w.visit(where, e)
		}
	case *types.Union:
		for term := range typ.Terms() {
			w.visit(where, term.Type())
		}
	case *types.Basic:
	default:
		panic(fmt.Sprintf("%s: %T", where, typ)) // go/types has a new kind of type
	}
}

func (w *walker) params(where string, params *types.TypeParamList) {
	for p := range params.TypeParams() {
		w.visit(where, p.Constraint())
	}
}

func (w *walker) named(where string, name *types.TypeName, args *types.TypeList) {
	if isInternal(name) {
		w.found[where] = name.Pkg().Name() + "." + name.Name()
	}
	for arg := range args.Types() {
		w.visit(where, arg)
	}
}

func isInternal(name *types.TypeName) bool {
	return inModule(name) && strings.Contains(name.Pkg().Path()+"/", "/internal/")
}

func isPublic(name *types.TypeName) bool { return inModule(name) && !isInternal(name) }

func inModule(name *types.TypeName) bool {
	return name.Pkg() != nil && strings.HasPrefix(name.Pkg().Path(), module+"/")
}

func TestWalkerFindsInternalTypesWhereverTheyStand(t *testing.T) {
	// Two packages made by hand: an internal type, and a public one that shows it in each way there is.
	inner := types.NewPackage(module+"/internal/x", "x")
	hidden := types.NewNamed(types.NewTypeName(0, inner, "T", nil), types.NewStruct(nil, nil), nil)
	outer := types.NewPackage(module+"/p", "p")
	field := func(name string, embedded bool, typ types.Type) types.Type {
		return types.NewStruct([]*types.Var{types.NewField(0, outer, name, typ, embedded)}, nil)
	}
	private := types.NewNamed(types.NewTypeName(0, outer, "private", nil), field("F", false, hidden), nil)
	for name, row := range map[string]struct {
		typ   types.Type
		shown bool
	}{
		"an exported field":               {field("F", false, types.NewPointer(hidden)), true},
		"an unexported field":             {field("f", false, hidden), false},
		"an embedded field":               {field("t", true, hidden), true},
		"a field of an unexported type":   {field("F", false, private), true},
		"a list of channels":              {types.NewSlice(types.NewChan(types.SendRecv, hidden)), true},
		"a key":                           {types.NewMap(hidden, types.Typ[types.Int]), true},
		"an alias":                        {types.NewAlias(types.NewTypeName(0, outer, "A", nil), hidden), true},
		"nothing but a basic type inside": {field("F", false, types.Typ[types.Int]), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &walker{seen: map[types.Type]bool{}, found: map[string]string{}}
			w.object("p.Name", types.NewTypeName(0, outer, "Name", row.typ))
			require.Equal(t, row.shown, len(w.found) > 0, w.found)
		})
	}
}

// encoding/json calls a method with a pointer receiver only for pointers, and writes the names of Go fields for values.
// Threads exist by pointer only.
func TestMarshalersHaveValueReceivers(t *testing.T) {
	for _, pkg := range publicPackages(t) {
		for _, name := range pkg.exported() {
			typ, method, _ := strings.Cut(name, ".")
			if method != "MarshalJSON" && method != "MarshalText" || name == "Thread.MarshalJSON" {
				continue
			}
			named := pkg.types.Scope().Lookup(typ).Type()
			if types.IsInterface(named) {
				continue
			}
			assert.NotNil(t, types.NewMethodSet(named).Lookup(pkg.types, method), "%s.%s has a pointer receiver", pkg.name, name)
		}
	}
}
