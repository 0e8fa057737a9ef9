package language

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the page of the language")

// pagePath is the path of the page of reference.
const pagePath = "../../../web/docs/reference/language.md"

// TestPage checks that the generated page is up to date.
func TestPage(t *testing.T) {
	var got bytes.Buffer
	if err := WritePage(&got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(pagePath, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the page of the language is stale, run make generate (-file +now):\n%s", diff)
	}
}

// TestStyle checks the text of every entry of the language.
func TestStyle(t *testing.T) {
	for _, c := range Chapters() {
		for _, e := range c.Entries {
			if s := e.Summary(); !regexp.MustCompile("^[A-Z`\"].*[.:…]$").MatchString(s) {
				t.Errorf("%s: the text does not begin with a sentence: %q", e.Name, s)
			}
			if strings.Count(e.Text, "```")%2 != 0 {
				t.Errorf("%s: a code block is not closed", e.Name)
			}
			for _, p := range e.Params {
				if !p.Mark() && !strings.HasSuffix(p.Text, ".") && !strings.HasSuffix(p.Text, "…") {
					t.Errorf("%s: the text of %s is not a sentence: %q", e.Name, p.Name, p.Text)
				}
			}
			if module, _, ok := cutLast(e.Name); ok && (Lookup(module) == nil || Lookup(module).Kind != Module) {
				t.Errorf("%s: there is no entry of module %s", e.Name, module)
			}
		}
	}
}

func cutLast(name string) (before, after string, found bool) {
	if i := strings.LastIndex(name, "."); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return name, "", false
}

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"sync":         "sync(local_path: path, remote_path: str, owner: str = '') -> step",
		"k8s_kind":     `k8s_kind(kind: str, *, api_version: str = None, image_json_path: str | list[str] = [], image_object: dict[str, str] = None, pod_readiness: "wait" | "ignore" = None) -> None`,
		"os.path.join": "os.path.join(*parts: str) -> str",
		"len":          "len(x: any, /) -> int",
		"struct":       "struct(**fields: any) -> struct",
		"os":           "module os",
		"os.name":      "os.name: str",
	} {
		s := Lookup(name).Signature()
		if diff := cmp.Diff(want, s.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for i, r := range s.Params {
			if got, want := s.Text[r[0]:r[1]], Lookup(name).Params[i].String(); got != want {
				t.Errorf("%s: parameter %d is marked at %q, want %q", name, i, got, want)
			}
		}
	}
}

func TestLongSignature(t *testing.T) {
	e := &Entry{Name: "f", Type: "None", Text: "Does.", Params: []Param{
		{Name: "first", Type: "dict[str, list[str]]"}, {Name: "second", Type: "dict[str, list[str]]", Default: "{}"},
		{Name: "third", Type: "dict[str, list[str]]", Default: "{}"},
	}}
	want := "f(\n    first: dict[str, list[str]],\n    second: dict[str, list[str]] = {},\n    third: dict[str, list[str]] = {},\n) -> None"
	if diff := cmp.Diff(want, e.long()); diff != "" {
		t.Error(diff)
	}
}

func TestMembers(t *testing.T) {
	names := func(entries []*Entry) (out []string) {
		for _, e := range entries {
			out = append(out, e.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"os.getcwd", "os.getenv", "os.putenv", "os.unsetenv", "os.environ", "os.name", "os.path"}, names(Members("os"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"paths"}, names(Methods("git.Repo"))); diff != "" {
		t.Error(diff)
	}
	if got := Methods("dict[str, any]"); len(got) != len(Methods("dict")) || len(got) == 0 {
		t.Errorf("dict[str, any] has %d methods", len(got))
	}
	if Members("nowhere") != nil || Lookup("nowhere") != nil || Methods("nowhere") != nil {
		t.Error("an unknown name has members")
	}
}

func TestParam(t *testing.T) {
	for _, tc := range []struct {
		entry, keyword, want string
		ok                   bool
	}{
		{"read_file", "path", "path", true},
		{"read_file", "file_path", "path", true},
		{"fall_back_on", "files", "paths", true},
		{"read_file", "nonsense", "", false},
		{"struct", "anything", "fields", true},
		{"len", "x", "", false},
		{"k8s_kind", "api_version", "api_version", true},
		{"os.path.join", "parts", "", false},
	} {
		p, ok := Lookup(tc.entry).Param(tc.keyword)
		if p.Name != tc.want || ok != tc.ok {
			t.Errorf("%s(%s=): got %q, %v", tc.entry, tc.keyword, p.Name, ok)
		}
	}
	readiness, _ := Lookup("k8s_resource").Param("pod_readiness")
	if diff := cmp.Diff([]string{"wait", "ignore", "succeeded"}, readiness.Words()); diff != "" {
		t.Error(diff)
	}
	steps, _ := Lookup("docker_build").Param("live_update")
	if !steps.Takes("step") || steps.Takes("path") || steps.Words() != nil {
		t.Errorf("live_update takes %s", steps.Type)
	}
}

// TestParseRefuses checks that mistakes in the pages are reported, with their line.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"text":                                "1: \"text\" is before",
		"# A\n## f\n":                         "2: \"## f\" is not the head",
		"## f -> None\n":                      "1: \"## f -> None\" is before",
		"# A\n## f -> None\n":                 "f: there is no text",
		"# A\n* `x: int` X.\n":                "2: \"* `x: int` X.\" does not belong",
		"# A\n## v: int\nV.\n* `x: int` X.\n": "does not belong",
		"# A\n## f -> None\nF.\n* `x` X.\n":   "lacks its name, type or text",
		"# A\n## f -> None\nF.\n* `x: int`\n": "lacks its name, type or text",
		"# A\n## f -> None\nF.\n* x: int\n* `x: int = ` X.\n":       "5: ",
		"# A\n## f -> None\nF.\n* `x: int` X.\n* `x: int` X.\n":     "described twice",
		"# A\n## f -> None\nF.\n* `x: int = 1` X.\n* `y: int` Y.\n": "required, but follows an optional one",
		"# A\n## f -> None\nF.\n* `x: int` X.\nMore.\n":             "5: \"More.\" continues",
		"# A\n## f -> None\nF.\n## f -> None\nF.\n":                 "f is described twice",
	} {
		_, err := parseAll(fstest.MapFS{"pages/a.md": {Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParsePage(f *testing.F) {
	text, err := files.ReadFile("pages/10-images.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("# A\n## f -> None\nF.\n* `*`\n* `x/: int = 1` X\n  y\n```\n")
	f.Fuzz(func(t *testing.T, text string) {
		chapters, err := parsePage(text)
		if err != nil {
			return
		}
		for _, c := range chapters {
			for _, e := range c.Entries {
				_, _ = e.Markdown(), e.Summary()
			}
		}
	})
}
