package tiltfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// toolProject is a project whose helm and kustomize are fakes that count their runs.
type toolProject struct {
	t    *testing.T
	root string
	o    Options
}

func newToolProject(t *testing.T, files map[string]string) *toolProject {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &toolProject{t: t, root: root}
	writeTool(t, filepath.Join(root, "bin", "helm"))
	writeTool(t, filepath.Join(root, "bin", "kustomize"))
	for name, text := range files {
		p.write(name, text)
	}
	p.o = Options{Path: filepath.Join(root, "Tiltfile"), Memo: memo.New(), Env: []string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "FAKE_RUNS=" + filepath.Join(root, "runs"), "HOME=" + root,
	}}
	return p
}

func (p *toolProject) write(name, text string) {
	writeFile(p.t, filepath.Join(p.root, name), []byte(text))
}

// writeUnnoticed replaces a file with one of the same age and length.
func (p *toolProject) writeUnnoticed(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	before, err := os.Stat(path)
	if err != nil || before.Size() != int64(len(text)) {
		p.t.Fatalf("%s: want %d bytes, %v", name, before.Size(), err)
	}
	p.write(name, text)
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		p.t.Fatal(err)
	}
}

// runs evaluates the Tiltfile and returns how often the tools ran.
func (p *toolProject) runs() int {
	p.t.Helper()
	counter := filepath.Join(p.root, "runs")
	if err := os.WriteFile(counter, nil, 0o644); err != nil {
		p.t.Fatal(err)
	}
	if res := Load(p.t.Context(), p.o); res.Err != nil {
		p.t.Fatal(res.Err)
	}
	data, err := os.ReadFile(counter)
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func TestHelmRunsWhenItsInputsChange(t *testing.T) {
	files := map[string]string{
		"Tiltfile":             "k8s_yaml(helm('chart', name='x', values=['values.yaml'], set=['a=b']))\n",
		"chart/Chart.yaml":     "name: x\nversion: 1.0.0\n",
		"chart/templates/a":    "a: {{ .Values.x }}",
		"chart/charts/sub/b":   "one",
		"values.yaml":          "x: 1\n",
		"elsewhere/templates":  "two",
		"elsewhere/other":      "six",
		".kube/config":         "old",
		"chart/templates/note": "we do it now",
	}
	for _, tc := range []struct {
		name string
		edit func(p *toolProject)
		want int
	}{
		{"nothing", func(*toolProject) {}, 0},
		{"a file that is not an input", func(p *toolProject) { p.write("README", "x") }, 0},
		{"a template", func(p *toolProject) { p.write("chart/templates/a", "b: 1") }, 1},
		{"a template of the same age and length", func(p *toolProject) { p.writeUnnoticed("chart/templates/a", "b: {{ .Values.x }}") }, 1},
		{"a new template", func(p *toolProject) { p.write("chart/templates/c", "") }, 1},
		{"a removed template", func(p *toolProject) { os.Remove(filepath.Join(p.root, "chart/templates/a")) }, 1},
		{"a subchart", func(p *toolProject) { p.write("chart/charts/sub/b", "two") }, 1},
		{"values", func(p *toolProject) { p.writeUnnoticed("values.yaml", "x: 2\n") }, 1},
		{"the kubeconfig", func(p *toolProject) { p.write(".kube/config", "new") }, 1},
		{"another flag", func(p *toolProject) { p.write("Tiltfile", strings.ReplaceAll(files["Tiltfile"], "a=b", "a=c")) }, 1},
		{"the environment", func(p *toolProject) { p.write("Tiltfile", "os.putenv('FAKE_ENV', 'x')\n"+files["Tiltfile"]) }, 1},
		{"a comment in the Tiltfile", func(p *toolProject) { p.write("Tiltfile", "# x\n"+files["Tiltfile"]) }, 0},
		{"requested twice", func(p *toolProject) {
			p.write("Tiltfile", "helm('chart', name='x', values=['values.yaml'], set=['a=b'])\n"+files["Tiltfile"])
		}, 0},
		{"another program", func(p *toolProject) {
			os.Remove(filepath.Join(p.root, "bin/helm"))
			writeTool(p.t, filepath.Join(p.root, "bin2/helm"))
			p.o.Env[0] = "PATH=" + filepath.Join(p.root, "bin2") + ":" + os.Getenv("PATH")
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newToolProject(t, files)
			if n := p.runs(); n != 1 {
				t.Fatalf("first: %d runs", n)
			}
			tc.edit(p)
			if n := p.runs(); n != tc.want {
				t.Errorf("%d runs, want %d", n, tc.want)
			}
			if n := p.runs(); n != 0 {
				t.Errorf("and once more: %d runs", n)
			}
		})
	}
}

func TestHelmAlwaysRunsWhenItsInputsAreUnknown(t *testing.T) {
	script := "#!/bin/sh\necho x >> \"$FAKE_RUNS\"\necho 'apiVersion: v1'; echo 'kind: ConfigMap'; echo 'metadata: {name: x}'\n"
	for name, edit := range map[string]func(p *toolProject){
		"a script": func(p *toolProject) {
			os.Remove(filepath.Join(p.root, "bin/helm"))
			p.write("bin/helm", script)
		},
		"a launcher of another name": func(p *toolProject) {
			writeTool(p.t, filepath.Join(p.root, "tools/mise"))
			os.Remove(filepath.Join(p.root, "bin/helm"))
			if err := os.Symlink(filepath.Join(p.root, "bin/kustomize"), filepath.Join(p.root, "bin/helm")); err != nil {
				p.t.Fatal(err)
			}
		},
		"a template that prints the time": func(p *toolProject) { p.write("chart/templates/a", "a: {{ now | date \"2006\" }}") },
		"a password by chance":            func(p *toolProject) { p.write("chart/templates/a", "a: {{- randAlphaNum 8 -}}") },
		"a lookup in values":              func(p *toolProject) { p.write("values.yaml", "x: '{{ lookup \"v1\" \"Secret\" \"\" \"\" }}'") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newToolProject(t, map[string]string{
				"Tiltfile":         "k8s_yaml(helm('chart', values=['values.yaml']))\n",
				"chart/Chart.yaml": "name: x\n", "values.yaml": "x: 1\n",
			})
			edit(p)
			for i := range 3 {
				if n := p.runs(); n != 1 {
					t.Errorf("evaluation %d: %d runs", i, n)
				}
			}
		})
	}
}

func TestKustomizeRunsWhenItsInputsChange(t *testing.T) {
	files := map[string]string{
		"Tiltfile":                   "k8s_yaml(kustomize('over'))\n",
		"over/kustomization.yaml":    "resources: [../base, own.yaml]\npatches:\n- path: patch.yaml\nconfigMapGenerator:\n- name: c\n  files: [k=data.txt]\n",
		"over/own.yaml":              "own",
		"over/patch.yaml":            "patch",
		"over/data.txt":              "data",
		"base/kustomization.yaml":    "resources: [b.yaml]\n",
		"base/b.yaml":                "one",
		"over/unrelated":             "x",
		"plugin/kustomization.yaml":  "generators: [g.yaml]\n",
		"plugin/g.yaml":              "x",
		"strange/kustomization.yaml": "namePrefix: x\nnewField: x\n",
		"remote/kustomization.yaml":  "resources: ['https://example.com/a.yaml']\n",
		"chart/kustomization.yaml":   "helmCharts: [{name: x}]\n",
	}
	for _, tc := range []struct {
		name string
		edit func(p *toolProject)
		want int
	}{
		{"nothing", func(*toolProject) {}, 0},
		{"a file that is not named", func(p *toolProject) { p.write("over/unrelated", "y") }, 0},
		{"a resource of the base", func(p *toolProject) { p.writeUnnoticed("base/b.yaml", "two") }, 1},
		{"a patch", func(p *toolProject) { p.write("over/patch.yaml", "other") }, 1},
		{"a file of a generator", func(p *toolProject) { p.writeUnnoticed("over/data.txt", "atad") }, 1},
		{"one more resource", func(p *toolProject) {
			p.write("base/c.yaml", "c")
			p.write("base/kustomization.yaml", "resources: [b.yaml, c.yaml]\n")
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newToolProject(t, files)
			if n := p.runs(); n != 1 {
				t.Fatalf("first: %d runs", n)
			}
			tc.edit(p)
			if n := p.runs(); n != tc.want {
				t.Errorf("%d runs, want %d", n, tc.want)
			}
		})
	}
	for _, dir := range []string{"plugin", "strange", "remote", "chart"} {
		t.Run("unknown: "+dir, func(t *testing.T) {
			t.Parallel()
			p := newToolProject(t, files)
			p.write("Tiltfile", "k8s_yaml(kustomize('"+dir+"'))\n")
			for i := range 2 {
				if n := p.runs(); n != 1 {
					t.Errorf("evaluation %d: %d runs", i, n)
				}
			}
		})
	}
}

// TestChangedChartsRunSideBySide changes two charts so that each run of helm waits for the other: in sequence they
// would never end.
func TestChangedChartsRunSideBySide(t *testing.T) {
	p := newToolProject(t, map[string]string{
		"Tiltfile":     "k8s_yaml(helm('a'))\nlocal('echo local >> runs.local')\nk8s_yaml(helm('b'))\n",
		"a/Chart.yaml": "name: a\n", "b/Chart.yaml": "name: b\n", "a/x": "1", "b/x": "1",
	})
	if n := p.runs(); n != 2 {
		t.Fatalf("first: %d runs", n)
	}
	fifo := filepath.Join(p.root, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p.write("a/x", "write-to "+fifo)
	p.write("b/x", "read-from "+fifo)
	if n := p.runs(); n != 2 {
		t.Errorf("%d runs", n)
	}
	if data, err := os.ReadFile(filepath.Join(p.root, "runs.local")); err != nil || string(data) != "local\nlocal\n" {
		t.Errorf("local ran %q, %v, want once per evaluation", data, err)
	}
}

// TestAheadIsNotUsedWhenInputsChangeMeanwhile lets a command of the Tiltfile change the chart before its turn.
func TestAheadIsNotUsedWhenInputsChangeMeanwhile(t *testing.T) {
	p := newToolProject(t, map[string]string{
		"Tiltfile":         "local('cp value chart/x')\nout = str(helm('chart'))\nif str(read_file('value')).strip() not in out:\n  fail('old: ' + out)\n",
		"chart/Chart.yaml": "name: a\n", "chart/x": "", "value": "v1",
	})
	for _, v := range []string{"v1", "v2", "v3", "v2", "v2"} {
		p.write("value", v)
		p.write("chart/x", "stale "+v+"?")
		p.runs()
	}
}

func TestFailingChartIsNotRemembered(t *testing.T) {
	p := newToolProject(t, map[string]string{"Tiltfile": "k8s_yaml(helm('a'))\n", "a/Chart.yaml": "name: a\n", "a/x": "{{bad}}"})
	for range 2 {
		if res := Load(t.Context(), p.o); res.Err == nil || !strings.Contains(res.Err.Error(), "helm template") {
			t.Fatalf("got %v", res.Err)
		}
	}
	p.write("a/x", "good")
	if n := p.runs(); n != 1 {
		t.Errorf("mended: %d runs", n)
	}
}

// TestUnwatched checks which files are known as those that only the commands of a Tiltfile read.
func TestUnwatched(t *testing.T) {
	p := newToolProject(t, map[string]string{"version": "1", "seen": "1", "conf/a": "1", "gen.sh": "cat version", "Tiltfile": `
local('sh gen.sh && cat version seen conf/a none', quiet=True, dir='.')
local(['cat', 'version'], quiet=True)
watch_file('seen')
watch_file('conf')
`})
	p.write("none", "")
	res := Load(t.Context(), p.o)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	want := []string{filepath.Join(p.root, "gen.sh"), filepath.Join(p.root, "none"), filepath.Join(p.root, "version")}
	if !slices.Equal(res.Tiltfile.Unwatched, want) {
		t.Errorf("got %v, want %v", res.Tiltfile.Unwatched, want)
	}
}
