package survey

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile"
)

var update = flag.Bool("update", false, "rewrite the sections want, notes and declares of testdata/*.txtar")

// TestProjects looks at the projects of testdata/*.txtar. Section want is the Tiltfile that is written for a project, notes are the
// notes about it, and declares are the resources that the Tiltfile declares when it is evaluated, with their images and the steps
// of their live updates.
func TestProjects(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no projects", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range ar.Files {
				if slices.Contains([]string{"want", "notes", "declares", "answers", "written"}, f.Name) {
					continue
				}
				path := filepath.Join(dir, f.Name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, err := Look(os.DirFS(dir), answers(t, ar))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{"want": "", "declares": ""}
			for _, n := range p.Notes {
				got["notes"] += fmt.Sprintf("%s: %s\n", n.Kind, n.Text)
			}
			for name, text := range p.Written {
				got["written"] += text
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if !p.Empty() {
				got["want"] = p.Tiltfile()
				if _, err := exec.LookPath("helm"); err != nil && len(p.Charts) > 0 {
					delete(got, "declares") // a machine without Helm
				} else {
					got["declares"] = declares(t, dir, p.Tiltfile())
				}
			}
			compare(t, name, ar, got)
		})
	}
}

// answers answers the questions of a project by its section answers: lines of a question's beginning and an option's, with "=>" between
// them. Every line must be used.
func answers(t *testing.T, ar *txtar.Archive) Answer {
	t.Helper()
	left := map[string]string{}
	for _, f := range ar.Files {
		if f.Name == "answers" {
			for l := range strings.Lines(string(f.Data)) {
				question, option, _ := strings.Cut(strings.TrimSpace(l), " => ")
				left[question] = option
			}
		}
	}
	t.Cleanup(func() {
		for question := range left {
			t.Errorf("an unexpected question: %s", question)
		}
	})
	return func(q Question) int {
		for question, option := range left {
			if strings.HasPrefix(q.Text, question) {
				delete(left, question)
				return slices.IndexFunc(q.Options, func(o string) bool { return strings.HasPrefix(o, option) })
			}
		}
		return 0
	}
}

// declares evaluates a Tiltfile, and lists its declarations.
func declares(t *testing.T, dir, text string) string {
	path := filepath.Join(dir, "Tiltfile")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	r := tiltfile.Load(t.Context(), tiltfile.Options{Path: path, Subcommand: "up", ExtensionDir: filepath.Join(dir, ".ext"),
		Logger: logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) })})
	if r.Err != nil {
		t.Fatalf("the Tiltfile cannot be evaluated: %v\n%s\n%s", r.Err, text, log.String())
	}
	var b strings.Builder
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", strings.ReplaceAll(w, dir, "DIR"))
	}
	for _, m := range r.Manifests {
		fmt.Fprintf(&b, "%s", m.Name)
		if m.K8s != nil {
			for _, f := range m.K8s.PortForwards {
				fmt.Fprintf(&b, " port %s", f.Address())
			}
		}
		for _, im := range m.Images {
			fmt.Fprintf(&b, ", image %s", im.Ref)
			for _, s := range im.LiveUpdate.Syncs {
				local, _ := filepath.Rel(dir, s.LocalPath)
				fmt.Fprintf(&b, " (%s to %s)", local, s.RemotePath)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func compare(t *testing.T, name string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	for _, section := range []string{"want", "notes", "written", "declares"} {
		if _, is := got[section]; !is {
			continue
		}
		at := -1
		for i, f := range ar.Files {
			if f.Name == section {
				at = i
			}
		}
		if at < 0 {
			ar.Files, at = append(ar.Files, txtar.File{Name: section}), len(ar.Files)
		}
		if diff := cmp.Diff(string(ar.Files[at].Data), got[section]); diff != "" {
			if !*update {
				t.Errorf("%s differs (-want +got):\n%s", section, diff)
			}
			ar.Files[at].Data = []byte(got[section])
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzLook looks at projects whose files have any content: it neither panics nor fails, and writes whole lines.
func FuzzLook(f *testing.F) {
	f.Add("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{image: a}]}\n", "FROM scratch\nCOPY . /app\nCMD [\"a\"]\n", `{"scripts":{"dev":"x"}}`, "resources: [a.yaml, ../b]\n", "apiVersion: skaffold/v4beta1\n")
	f.Fuzz(func(t *testing.T, object, dockerfile, pkg, kustomization, skaffold string) {
		files := fstest.MapFS{"k8s/a.yaml": {Data: []byte(object)}, "a/Dockerfile": {Data: []byte(dockerfile)}, "a/package.json": {Data: []byte(pkg)},
			"deploy/kustomization.yaml": {Data: []byte(kustomization)}, "skaffold.yaml": {Data: []byte(skaffold)}, "Procfile": {Data: []byte(pkg)}, "chart/Chart.yaml": {Data: []byte(object)}}
		p, err := Look(files, func(Question) int { return 0 })
		if err != nil {
			return // skaffold.yaml is no YAML
		}
		if text := p.Tiltfile(); !strings.HasSuffix(text, "\n") {
			t.Errorf("%q", text)
		}
	})
}
