package docs

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write golden files")

// TestIndex checks that the index lists every page once, and that each page begins with its title.
func TestIndex(t *testing.T) {
	var listed, made []string
	for _, p := range Pages() {
		listed = append(listed, p.Topic+".md")
		heading := ""
		for n := parse(p.Text).FirstChild(); n != nil && heading == ""; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
				heading = plain(h, p.Text)
			}
		}
		if short := strings.TrimPrefix(strings.TrimPrefix(heading, "Live update: "), "Coming from "); !strings.EqualFold(short, p.Title) {
			t.Errorf("%s begins with %q, and the index calls it %q", p.Topic, heading, p.Title)
		}
		if p.Topic != Index && (p.Summary == "" || p.Group == "") {
			t.Errorf("%s has no summary or no group: %q, %q", p.Topic, p.Summary, p.Group)
		}
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			made = append(made, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(made)
	if diff := cmp.Diff(made, listed); diff != "" {
		t.Errorf("the index differs from the pages (-pages +index):\n%s", diff)
	}
}

// TestLinks checks that every link of a page leads somewhere: to a page, a heading in it, or a picture.
func TestLinks(t *testing.T) {
	headings := map[string]map[string]bool{}
	for _, p := range Pages() {
		all := map[string]bool{"": true}
		_ = ast.Walk(parse(p.Text), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
			if h, ok := n.(*ast.Heading); ok && enter {
				if id, ok := h.AttributeString("id"); ok {
					all[string(id.([]byte))] = true
				}
			}
			return ast.WalkContinue, nil
		})
		headings[p.Topic+".md"] = all
	}
	check := func(from, dir, to string) {
		if strings.Contains(to, "://") {
			return
		}
		file, anchor, _ := strings.Cut(to, "#")
		name := path.Join(dir, file)
		if file == "" {
			name = from
		}
		if known, ok := headings[name]; ok {
			if !known[anchor] {
				t.Errorf("%s links to %s, which has no heading %q", from, name, anchor)
			}
			return
		}
		if _, err := fs.Stat(files, name); err != nil {
			t.Errorf("%s links to %s, which does not exist", from, to)
		}
	}
	for _, p := range Pages() {
		_ = ast.Walk(parse(p.Text), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if enter {
					check(p.Topic+".md", path.Dir(p.Topic), string(n.Destination))
				}
			case *ast.Image:
				if enter {
					check(p.Topic+".md", path.Dir(p.Topic), string(n.Destination))
				}
			default:
			}
			return ast.WalkContinue, nil
		})
	}
}

// TestReadmeLinks checks the links of the project's other pages into the tree.
func TestReadmeLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "internal", "*", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "internal", "README.md"), filepath.Join(root, "web", "README.md")) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_ = ast.Walk(parse(source), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
			if link, ok := n.(*ast.Link); ok && enter {
				to, _, _ := strings.Cut(string(link.Destination), "#")
				if to == "" || strings.Contains(to, "://") {
					return ast.WalkContinue, nil
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), to)); err != nil {
					t.Errorf("%s links to %s, which does not exist", file, to)
				}
			}
			return ast.WalkContinue, nil
		})
	}
}

func TestFind(t *testing.T) {
	for topic, want := range map[string]string{
		"install": "install", "live-update/go": "live-update/go", "go": "live-update/go", "live-update/go.md": "live-update/go",
		"events": "reference/events", "": "", "nothing": "", "update": "",
	} {
		if p, ok := Find(topic); p.Topic != want || ok != (want != "") {
			t.Errorf("Find(%q) = %q, %v", topic, p.Topic, ok)
		}
	}
}

func TestSearch(t *testing.T) {
	for words, want := range map[string]string{
		"kind registry": "clusters", "Breakpoints": "debuggers", "address already in use": "troubleshooting", "restart_process supervisor": "live-update", "k8s_kind": "helm",
		"zzz": "", "": "",
	} {
		first := ""
		if found := Search(strings.Fields(words)...); len(found) > 0 {
			first = found[0].Page.Topic
		}
		if first != want {
			t.Errorf("Search(%q) finds %q first, not %q", words, first, want)
		}
	}
}

// TestTerminal shows a page with everything that pages have.
func TestTerminal(t *testing.T) {
	source, err := os.ReadFile("testdata/all.md")
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Topic: "guide/all", Text: source}
	golden := "testdata/all.txt"
	got := p.Terminal(60, false)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-golden +now:\n%s", diff)
	}
	if styled := p.Terminal(60, true); ansi.Strip(styled) != got {
		t.Errorf("without its styles the styled page differs:\n%s", cmp.Diff(got, ansi.Strip(styled)))
	}
}

// TestContents checks that the list names every page.
func TestContents(t *testing.T) {
	text := Contents(80, false)
	for _, p := range Pages()[1:] {
		if !strings.Contains(text, "  "+p.Topic+" ") || !strings.Contains(text, p.Group+"\n") {
			t.Errorf("the list lacks %s of %s", p.Topic, p.Group)
		}
	}
	for l := range strings.Lines(text) {
		if ansi.StringWidth(l) > 80 {
			t.Errorf("too wide: %s", l)
		}
	}
}

// TestWidth checks that no page is wider than the terminal, apart from code, which is not broken.
func TestWidth(t *testing.T) {
	for _, p := range Pages() {
		for l := range strings.Lines(p.Terminal(80, true)) {
			if l = strings.TrimRight(l, "\n"); ansi.StringWidth(l) > 80 && !strings.HasPrefix(l, "    ") && !strings.Contains(l, "://") {
				t.Errorf("%s: %d cells: %s", p.Topic, ansi.StringWidth(l), l)
			}
		}
	}
}

// TestHTML checks that every file of the site is well-formed, loads only existing files, and has no inline code or style.
func TestHTML(t *testing.T) {
	names := HTMLNames()
	for _, name := range names {
		content, err := HTML(name)
		if err != nil || len(content) == 0 {
			t.Fatalf("%s: %d bytes, %v", name, len(content), err)
		}
		switch path.Ext(name) {
		case ".html":
			checkHTML(t, name, content, names)
		case ".json":
			if !json.Valid(content) {
				t.Errorf("%s is not JSON", name)
			}
		case ".svg":
			if err := xml.Unmarshal(content, new(struct{})); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := HTML("../docs.go"); err == nil {
		t.Error("a file outside of the site is served")
	}
}

func checkHTML(t *testing.T, name string, content []byte, names []string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	headings := 0
	for n := range doc.Descendants() {
		switch n.Data {
		case "h1":
			headings++
		case "style":
			t.Errorf("%s has inline style", name)
		case "script":
			if n.FirstChild != nil {
				t.Errorf("%s has inline code", name)
			}
		default:
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has the attribute %s", name, a.Key)
			}
			if a.Key != "href" && a.Key != "src" || strings.Contains(a.Val, "://") || strings.HasPrefix(a.Val, "#") {
				continue
			}
			file, _, _ := strings.Cut(a.Val, "#")
			if !slices.Contains(names, path.Join(path.Dir(name), file)) {
				t.Errorf("%s refers to %s, which the site does not have", name, a.Val)
			}
		}
	}
	if headings != 1 {
		t.Errorf("%s has %d headings of the first level", name, headings)
	}
}

func TestWriteSite(t *testing.T) {
	dir := t.TempDir()
	if err := WriteSite(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range HTMLNames() {
		want, err := HTML(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestBlocks(t *testing.T) {
	p := Page{Text: []byte("# T\n\n```sh elsewhere=\"needs a b\" up\nls\n```\n\ntext\n\n```python file=Tiltfile\nx = 1\n\ny = 2\n```\n")}
	want := []Block{
		{Lang: "sh", Words: []string{`elsewhere="needs a b"`, "up"}, Text: "ls\n", Line: 4},
		{Lang: "python", Words: []string{"file=Tiltfile"}, Text: "x = 1\n\ny = 2\n", Line: 10},
	}
	got := p.Blocks()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v, ok := got[0].Value("elsewhere"); !ok || v != "needs a b" {
		t.Errorf("elsewhere is %q, %v", v, ok)
	}
}

// TestWords checks that the words of blocks are those that the tests of the pages know.
func TestWords(t *testing.T) {
	known := []string{"file", "fails", "up", "until", "elsewhere", "needs"}
	for _, p := range Pages() {
		for _, b := range p.Blocks() {
			for _, w := range b.Words {
				if key, _, _ := strings.Cut(w, "="); !slices.Contains(known, key) {
					t.Errorf("%s:%d: the word %s is unknown", p.Topic, b.Line, w)
				}
			}
			if b.Lang == "" && !strings.HasPrefix(p.Topic, "reference/") {
				t.Errorf("%s:%d: a block without a language", p.Topic, b.Line)
			}
		}
	}
}
