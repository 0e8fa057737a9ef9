package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// everywhere makes all requests at places of a text, step bytes apart; nothing may panic, and the places in the results
// must be in the text.
func everywhere(t *testing.T, text string, step int) {
	t.Helper()
	s := &server{encoding: utf16Units, files: newWorkspace(nil), snippets: true}
	d := newDocument("untitled:Tiltfile", "", text)
	s.files.open[d.uri] = d
	s.files.link(d)
	for _, f := range s.files.diagnose(d) {
		if f.from < 0 || f.to < f.from || f.to > len(text) {
			t.Fatalf("%q: a fault is at %d-%d: %s", text, f.from, f.to, f.text)
		}
	}
	if _, err := s.documentSymbol(documentParams{documentID{d.uri}}); err != nil {
		t.Fatal(err)
	}
	o := d.outline()
	end := 0
	for _, k := range o.tokens {
		if k.start < end || k.end <= k.start && k.kind != tokenString || k.end > len(text) {
			t.Fatalf("%q: token %+v overlaps or is empty", text, k)
		}
		end = k.end
	}
	for at := 0; at <= len(text); at += step {
		p := place{s, d, o, at}
		for _, it := range p.complete() {
			if from := d.offset(it.TextEdit.Range.Start, utf16Units); from > at {
				t.Fatalf("%q at %d: %s replaces from %d on", text, at, it.Label, from)
			}
		}
		params := positionParams{documentID{d.uri}, d.position(at, utf16Units)}
		for _, ask := range []func(positionParams) (any, error){s.hover, s.signatureHelp, s.definition} {
			if _, err := ask(params); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// samples are texts of Tiltfiles, from the scenarios here and from the interpreter's.
func samples(t testing.TB) []string {
	var out []string
	for _, pattern := range []string{"testdata/*.txtar", "../testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no samples", err)
		}
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range ar.Files {
				if f.Name == "Tiltfile" {
					out = append(out, strings.ReplaceAll(string(f.Data), cursor, ""))
				}
			}
		}
	}
	return out
}

// TestEverywhere makes requests at every place of many Tiltfiles, and of Tiltfiles that are cut off there.
func TestEverywhere(t *testing.T) {
	for _, text := range samples(t) {
		everywhere(t, text[:min(len(text), 300)], 7)
	}
	text, err := os.ReadFile("testdata/complete_unbalanced.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < min(len(text), 300); i += 7 {
		everywhere(t, string(text[:i]), 1)
	}
}

func FuzzEverywhere(f *testing.F) {
	for _, text := range samples(f) {
		f.Add(text)
	}
	f.Add("def f(a=(\\\n'''")
	f.Fuzz(func(t *testing.T, text string) { everywhere(t, text, 1+len(text)/8) })
}

// TestSamplesAreFine checks that no Tiltfile that the interpreter accepts has diagnostics.
func TestSamplesAreFine(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "fail_") {
			continue
		}
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if f.Name != "Tiltfile" {
				continue
			}
			w := newWorkspace(nil)
			for _, fault := range w.diagnose(newDocument("", "", string(f.Data))) {
				t.Errorf("%s: %s", file, fault.text)
			}
		}
	}
}

// TestHugeTexts checks that no text makes the editor wait: endless brackets, and a thousand definitions.
func TestHugeTexts(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("f(", 3000), strings.Repeat("[", 3000), strings.Repeat("x = x.y\n", 1500), strings.Repeat("def f(a):\n  b = a\n", 1000),
		strings.Repeat("local_resource('a', ['b', ", 1000), strings.Repeat(")", 3000), strings.Repeat("x = lambda y: ", 500),
	} {
		everywhere(t, text, len(text))
	}
}

// TestExtensionsAreFine checks that embedded extensions, which definitions lead to, have no diagnostics either.
func TestExtensionsAreFine(t *testing.T) {
	for _, name := range extension.Embedded() {
		text, err := extension.EmbeddedSource(name)
		if err != nil {
			t.Fatal(err)
		}
		d := newDocument("", "", string(text))
		d.unpacked = true
		w := newWorkspace(nil)
		for _, fault := range w.diagnose(d) {
			t.Errorf("%s: %s", name, fault.text)
		}
	}
}
