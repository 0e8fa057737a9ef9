package tiltfile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "rewrite the want and log sections of testdata/*.txtar")

// TestScenarios runs every testdata/*.txtar: its files are written to a folder, the Tiltfile is evaluated, and the
// result is compared with the "want" section, and the log with the "log" section if there is one. The section "options"
// holds lines "key: value" for Options; "git: NAME" makes a repository from the folder git/NAME, which git finds at
// https://git.test/NAME; no other repository can be fetched. A line that ends in ### "regexp" must have an error with a
// matching message. There may be several such lines; then the "want" section shows the problem as the user sees it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScenario(t, file)
		})
	}
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
	opts := Options{Path: filepath.Join(root, "Tiltfile"), Subcommand: "up", ExtensionDir: filepath.Join(root, ".data"), Env: []string{"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH")}}
	var faults []expected
	for _, f := range ar.Files {
		switch f.Name {
		case "want", "log":
		case "options":
		default:
			writeFile(t, filepath.Join(root, f.Name), f.Data)
			faults = append(faults, findFaults(t, filepath.Join(root, f.Name), string(f.Data))...)
		}
	}
	opts.Env = append(opts.Env, gitEnv(root)...)
	for _, f := range ar.Files {
		if f.Name == "options" {
			setOptions(t, &opts, root, string(f.Data))
		}
	}
	var log strings.Builder
	var mu sync.Mutex
	opts.Logger = logstore.Func(func(_ logstore.Level, text string) {
		mu.Lock()
		defer mu.Unlock()
		log.WriteString(text)
	})
	res := Load(t.Context(), opts)
	checkFault(t, faults, res.Err)
	got := map[string]string{"want": render(res, root), "log": masked(strings.ReplaceAll(log.String(), root, "$ROOT"))}
	compareSections(t, file, ar, got)
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(string(data), "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

func compareSections(t *testing.T, file string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	changed, hasWant := false, false
	for i, f := range ar.Files {
		text, ok := got[f.Name]
		if !ok {
			continue
		}
		hasWant = hasWant || f.Name == "want"
		if diff := cmp.Diff(string(f.Data), text); diff != "" {
			if !*update {
				t.Errorf("%s differs (-want +got):\n%s", f.Name, diff)
			}
			ar.Files[i].Data, changed = []byte(text), true
		}
	}
	if !hasWant {
		ar.Files, changed = append(ar.Files, txtar.File{Name: "want", Data: []byte(got["want"])}), true
		if !*update {
			t.Error("there is no want section; run with -update")
		}
	}
	if *update && changed {
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func setOptions(t *testing.T, o *Options, root, text string) {
	t.Helper()
	var cluster model.Cluster
	var served model.Capabilities
	silent := false
	others := map[string]kubecontext.Way{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "args":
			o.Args = strings.Fields(value)
		case "subcommand":
			o.Subcommand = value
		case "namespace":
			o.Namespace = value
		case "env":
			o.Env = append(o.Env, value)
		case "port":
			o.TiltPort = value
		case "host":
			o.TiltHost = value
		case "debug":
			o.Debug = value == "true"
		case "context":
			cluster.Context = value
		case "version":
			served.KubeVersion = value
		case "serves":
			served.APIVersions = strings.Fields(value)
		case "silent":
			silent = value == "true"
		case "git":
			makeRepo(t, filepath.Join(root, "git", value), o.Env)
		case "other":
			addOther(t, others, strings.Fields(value))
		case "product":
			cluster.Product = model.Product(value)
		default:
			t.Fatalf("unknown option %q", key)
		}
	}
	if cluster.Context != "" || len(others) > 0 {
		o.Clusters = findAmong(others, silent)
	}
	o.Cluster = func() (model.Cluster, error) { return cluster, nil }
	o.Capabilities = func(context.Context) (model.Capabilities, error) {
		if silent {
			return model.Capabilities{}, errors.New("connection refused")
		}
		return served, nil
	}
}

// addOther adds another context of the kubeconfig: its name, product and namespace, and the version and APIs of its cluster.
func addOther(t *testing.T, to map[string]kubecontext.Way, fields []string) {
	t.Helper()
	if len(fields) < 3 {
		t.Fatalf("other: %q", fields)
	}
	served := model.Capabilities{}
	if len(fields) > 3 {
		served.KubeVersion, served.APIVersions = fields[3], fields[4:]
	}
	to[fields[0]] = kubecontext.Way{Cluster: model.Cluster{Context: fields[0], Product: model.Product(fields[1]), Namespace: fields[2]},
		Kubeconfig: "/overlay/" + fields[0], Capabilities: func(context.Context) (model.Capabilities, error) { return served, nil }}
}

// findAmong finds contexts among the given ones.
func findAmong(others map[string]kubecontext.Way, silent bool) kubecontext.Find {
	return func(name, namespace string) (kubecontext.Way, error) {
		w, ok := others[name]
		if !ok {
			p := problem.New(fmt.Sprintf("the kubeconfig has no context %q", name), "Name one of them.")
			p.Detail = "known contexts:\n  " + strings.Join(slices.Sorted(maps.Keys(others)), "\n  ")
			return w, p
		}
		if namespace != "" {
			w.Cluster.Namespace = namespace
			w.Kubeconfig += "/" + namespace
		}
		if silent {
			w.Capabilities = func(context.Context) (model.Capabilities, error) {
				return model.Capabilities{}, errors.New("connection refused")
			}
		}
		return w, nil
	}
}

// expected is a line that must have an error.
type expected struct {
	file string
	line int
	re   *regexp.Regexp
}

func findFaults(t *testing.T, path, text string) []expected {
	t.Helper()
	var out []expected
	for i, line := range strings.Split(text, "\n") {
		_, quoted, ok := strings.Cut(line, "###")
		if !ok {
			continue
		}
		pattern, err := strconv.Unquote(strings.TrimSpace(quoted))
		if err != nil {
			t.Fatalf("%s:%d: not a quoted pattern: %s", path, i+1, quoted)
		}
		out = append(out, expected{path, i + 1, regexp.MustCompile(pattern)})
	}
	return out
}

// checkFault finds each expected line among the errors: as a separate error, or as a mark of one.
func checkFault(t *testing.T, faults []expected, err error) {
	t.Helper()
	if len(faults) == 0 {
		return
	}
	type place struct {
		file string
		line int
	}
	said := map[place][]string{}
	var walk func(error)
	walk = func(err error) {
		var e *fault.Error
		if several := (fault.Errors)(nil); errors.As(err, &several) {
			for _, one := range several {
				walk(one)
			}
		} else if errors.As(err, &e) {
			said[place{e.File, e.Line}] = append(said[place{e.File, e.Line}], e.Msg)
			for _, m := range e.Marks {
				said[place{e.File, m.Line}] = append(said[place{e.File, m.Line}], m.Msg)
			}
			if e.Text == "" {
				t.Error("the error has no source line")
			}
		}
	}
	walk(err)
	for _, f := range faults {
		if !slices.ContainsFunc(said[place{f.file, f.line}], f.re.MatchString) {
			t.Errorf("%s:%d: no error matches %q; got %v", f.file, f.line, f.re, err)
		}
	}
	if _, ok := problem.Of(err); !ok {
		t.Error("the error is not a problem")
	}
}
