package lsp

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata/*.txtar")

// cursor marks a place in a scenario's Tiltfile.
const cursor = "¦"

// TestScenarios opens the Tiltfile of every testdata/*.txtar, makes the requests of the sections "completion", "hover",
// "signature" and "definition" at each ¦ in it, and compares the results with the sections; "diagnostics" and "symbols"
// concern the whole text, and "formatted" is the formatted text. "ext/NAME" is the text of an extension. Other sections
// are files next to the Tiltfile, whose folder is $ROOT.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runScenario(t, file) })
	}
}

// scenario is a Tiltfile that is open in an editor.
type scenario struct {
	*client
	root, uri, text string
	// marks are the places of the cursor.
	marks []position
	found []diagnostic
}

func runScenario(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{root: root, uri: uriOf(filepath.Join(root, "Tiltfile"))}
	ext := extensions{extension.Catalog{Store: &extension.Store{Dir: filepath.Join(root, ".store")}}, map[string]string{}}
	for _, f := range ar.Files {
		name, isExtension := strings.CutPrefix(f.Name, "ext/")
		switch {
		case isExtension:
			ext.texts[name] = string(f.Data)
		case f.Name == "Tiltfile":
			s.text = strings.ReplaceAll(string(f.Data), "$ROOT", root)
		case s.answer(f.Name) == nil:
			write(t, filepath.Join(root, f.Name), string(f.Data))
		}
	}
	for {
		before, after, ok := strings.Cut(s.text, cursor)
		if !ok {
			break
		}
		s.text = before + after
		s.marks = append(s.marks, newDocument("", "", s.text).position(len(before), utf16Units))
	}
	s.client = start(t, Options{Extensions: ext})
	s.initialize(`{"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}}}`)
	s.found = s.open(s.uri, s.text)
	changed := false
	for i, f := range ar.Files {
		answer := s.answer(f.Name)
		if answer == nil {
			continue
		}
		got := strings.NewReplacer(uriOf(root), "$ROOT", root, "$ROOT").Replace(answer())
		got = contentSum.ReplaceAllString(got, "$1-SUM")
		if diff := cmp.Diff(string(f.Data), got); diff != "" {
			if !*update {
				t.Errorf("%s differs (-want +got):\n%s", f.Name, diff)
			}
			ar.Files[i].Data, changed = []byte(got), true
		}
	}
	if *update && changed {
		write(t, file, string(txtar.Format(ar)))
	}
	if err := s.quit(); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// extensions are the extensions of a store, and texts without a file, by name.
type extensions struct {
	extension.Catalog
	texts map[string]string
}

func (e extensions) Names() []string { return slices.Sorted(maps.Keys(e.texts)) }

func (e extensions) Find(at extension.Location) (path, text string, err error) {
	if t, ok := e.texts[at.Path]; ok && at.Repo == extension.Public {
		return "", t, nil
	}
	return e.Catalog.Find(at)
}

// contentSum matches the content hash in the folder name of an extension that is part of hone.
var contentSum = regexp.MustCompile(`(embedded/[a-z_]+)-[0-9a-f]{12}`)

// answer returns the function that makes the text of a section; nil for sections that are files.
func (s *scenario) answer(section string) func() string {
	each := func(at func(p positionParams) string) func() string {
		return func() string {
			var b strings.Builder
			for i, m := range s.marks {
				fmt.Fprintf(&b, "%d: %s\n", i+1, strings.TrimRight(at(positionParams{documentID{s.uri}, m}), "\n"))
			}
			return b.String()
		}
	}
	switch section {
	case "completion":
		return each(s.completion)
	case "hover":
		return each(s.hover)
	case "signature":
		return each(s.signature)
	case "definition":
		return each(s.definition)
	case "diagnostics":
		return s.diagnosed
	case "symbols":
		return s.symbols
	case "formatted":
		return s.formatted
	}
	return nil
}

// completion prints the items that match the typed letters, as an editor does. Where nothing has been typed, it only
// counts the items that are offered everywhere.
func (s *scenario) completion(p positionParams) string {
	var list completionList
	if err := s.call("textDocument/completion", p, &list); err != nil {
		s.t.Fatal(err)
	}
	slices.SortStableFunc(list.Items, func(a, b completionItem) int { return strings.Compare(a.SortText, b.SortText) })
	var out []string
	everywhere := 0
	for _, it := range list.Items {
		d := newDocument("", "", s.text)
		from, to := d.offset(it.TextEdit.Range.Start, utf16Units), d.offset(it.TextEdit.Range.End, utf16Units)
		typed := s.text[from:to]
		switch {
		case !strings.HasPrefix(it.Label, typed):
		case typed == "" && (it.SortText[:1] == orderLanguage || it.SortText[:1] == orderStatement) && it.Kind != kindMethod && !s.afterDot(from):
			everywhere++
		case it.TextEdit.NewText != it.Label:
			out = append(out, it.Label+"→"+it.TextEdit.NewText)
		default:
			out = append(out, it.Label)
		}
	}
	if everywhere > 0 {
		out = append(out, "and the language")
	}
	return strings.Join(out, " ")
}

func (s *scenario) afterDot(at int) bool {
	return at > 0 && strings.ContainsRune(`."'/`, rune(s.text[at-1]))
}

func (s *scenario) hover(p positionParams) string {
	var h *hover
	if err := s.call("textDocument/hover", p, &h); err != nil {
		s.t.Fatal(err)
	}
	if h == nil {
		return "nothing"
	}
	return s.textOf(h.Range) + "\n" + h.Contents.Value
}

func (s *scenario) textOf(r span) string {
	d := newDocument("", "", s.text)
	return s.text[d.offset(r.Start, utf16Units):d.offset(r.End, utf16Units)]
}

// signature shows the signature with the active parameter between marks.
func (s *scenario) signature(p positionParams) string {
	var h *signatureHelp
	if err := s.call("textDocument/signatureHelp", p, &h); err != nil {
		s.t.Fatal(err)
	}
	if h == nil {
		return "nothing"
	}
	sig := h.Signatures[h.ActiveSignature]
	if h.ActiveParameter >= len(sig.Parameters) {
		return sig.Label
	}
	l := sig.Parameters[h.ActiveParameter].Label
	return sig.Label[:l[0]] + "»" + sig.Label[l[0]:l[1]] + "«" + sig.Label[l[1]:]
}

func (s *scenario) definition(p positionParams) string {
	var l *location
	if err := s.call("textDocument/definition", p, &l); err != nil {
		s.t.Fatal(err)
	}
	if l == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %d:%d", l.URI, l.Range.Start.Line+1, l.Range.Start.Character+1)
}

func (s *scenario) diagnosed() string {
	var b strings.Builder
	for _, d := range s.found {
		severity := map[int]string{severityError: "error", severityWarning: "warning"}[d.Severity]
		fmt.Fprintf(&b, "%d:%d %s %q: %s\n", d.Range.Start.Line+1, d.Range.Start.Character+1, severity, s.textOf(d.Range), d.Message)
	}
	return b.String()
}

func (s *scenario) symbols() string {
	var list []documentSymbol
	if err := s.call("textDocument/documentSymbol", documentParams{documentID{s.uri}}, &list); err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, y := range list {
		kind := map[int]string{symbolModule: "loaded", symbolFunction: "function", symbolVariable: "variable", symbolObject: "resource"}[y.Kind]
		fmt.Fprintf(&b, "%d %s %s %s\n", y.Range.Start.Line+1, kind, y.Name, y.Detail)
	}
	return b.String()
}

// formatted applies the edits as an editor does, or shows the refusal.
func (s *scenario) formatted() string {
	var edits []textEdit
	if err := s.call("textDocument/formatting", documentParams{documentID{s.uri}}, &edits); err != nil {
		return err.Message + "\n"
	}
	d := newDocument("", "", s.text)
	for _, e := range edits {
		d.apply(contentChange{Range: &e.Range, Text: e.NewText}, utf16Units)
	}
	return d.text
}
