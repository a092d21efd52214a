package web

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

// The forms of imports and exports that the page's modules keep to, so that one script can be made of them.
var (
	importLine = regexp.MustCompile(`(?m)^import (\{[^}\n]*\}|\* as \w+) from '\./([\w-]+)\.js';\n`)
	exportLine = regexp.MustCompile(`(?m)^export ((?:async )?function|const|class) (\w+)`)
	sheetLine  = regexp.MustCompile(`(?m)^<link rel="stylesheet" href="([\w-]+\.css)">\n`)
	scriptLine = regexp.MustCompile(`(?m)^<script type="module" src="([\w-]+)\.js"></script>\n`)
)

// bundle makes one script of a module and those that it imports: each becomes a function that is called once, in the order
// in which they need each other.
type bundle struct {
	files fs.FS
	done  map[string]bool
	out   strings.Builder
}

// add adds a module after those that it imports. The last one, which nothing imports, is not wrapped: it may await.
func (b *bundle) add(name string, last bool) error {
	if done, met := b.done[name]; met {
		if !done {
			return fmt.Errorf("%s.js imports itself", name)
		}
		return nil
	}
	b.done[name] = false
	source, err := fs.ReadFile(b.files, name+".js")
	if err != nil {
		return err
	}
	text := string(source)
	for _, found := range importLine.FindAllStringSubmatch(text, -1) {
		if err := b.add(found[2], false); err != nil {
			return err
		}
	}
	text = importLine.ReplaceAllStringFunc(text, func(line string) string {
		found := importLine.FindStringSubmatch(line)
		if all, ok := strings.CutPrefix(found[1], "* as "); ok {
			return fmt.Sprintf("const %s = %s;\n", all, variable(found[2]))
		}
		return fmt.Sprintf("const %s = %s;\n", strings.ReplaceAll(found[1], " as ", ": "), variable(found[2]))
	})
	var exported []string
	for _, found := range exportLine.FindAllStringSubmatch(text, -1) {
		exported = append(exported, found[2])
	}
	text = exportLine.ReplaceAllString(text, "$1 $2")
	if last {
		b.out.WriteString(text)
	} else {
		fmt.Fprintf(&b.out, "const %s = (() => {\n%s\nreturn {%s};\n})();\n", variable(name), text, strings.Join(exported, ", "))
	}
	b.done[name] = true
	return nil
}

// variable is the name of a module in the script.
func variable(module string) string { return "module_" + strings.ReplaceAll(module, "-", "_") }

// single returns the page as one file, cut where the data goes.
var single = sync.OnceValues(func() ([2]string, error) { return singleOf(page) })

func singleOf(files fs.FS) ([2]string, error) {
	index, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return [2]string{}, err
	}
	text := string(index)
	var style strings.Builder
	for _, found := range sheetLine.FindAllStringSubmatch(text, -1) {
		sheet, err := fs.ReadFile(files, found[1])
		if err != nil {
			return [2]string{}, err
		}
		style.Write(sheet)
	}
	b := &bundle{files: files, done: make(map[string]bool)}
	for _, found := range scriptLine.FindAllStringSubmatch(text, -1) {
		if err := b.add(found[1], true); err != nil {
			return [2]string{}, err
		}
	}
	script := b.out.String()
	text = scriptLine.ReplaceAllString(sheetLine.ReplaceAllString(text, ""), "")
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data: blob:; media-src data: blob:; "+
		"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'", hash(script), hash(style.String()))
	head, body, ok := strings.Cut(text, "<meta charset=\"utf-8\">\n")
	head2, body2, ok2 := strings.Cut(body, "</body>")
	if !ok || !ok2 {
		return [2]string{}, fmt.Errorf("index.html is not as expected")
	}
	return [2]string{
		head + "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n" +
			strings.Replace(head2, "</head>", "<style>"+style.String()+"</style>\n</head>", 1) + "<script type=\"text/plain\" id=\"data\">",
		"</script>\n<script type=\"module\">" + script + "</script>\n</body>" + body2,
	}, nil
}

// hash is how a policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
