package tiltfile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

func TestMemoServesSeveralEvaluationsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all strings.Builder
	for i := range 40 {
		fmt.Fprintf(&all, benchYAML, i)
	}
	writeFile(t, filepath.Join(dir, "all.yaml"), []byte(all.String()))
	writeFile(t, filepath.Join(dir, "Tiltfile"), []byte("k8s_yaml('all.yaml')\nk8s_resource('svc1', new_name='one')\n"))
	o := Options{Path: filepath.Join(dir, "Tiltfile"), Memo: memo.New()}
	want := Load(t.Context(), Options{Path: o.Path})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got := Load(t.Context(), o)
			if diff := cmp.Diff(want.Tiltfile, got.Tiltfile); diff != "" || got.Err != nil {
				t.Errorf("%v (-want +got):\n%s", got.Err, diff)
			}
		})
	}
	group.Wait()
}

// memoProject is a project with random edits. Every file that the Tiltfile reads exists in some of its states.
type memoProject struct {
	*toolProject
	rand *rand.Rand
}

const memoTiltfile = `
load('./lib.star', 'port')
k8s_yaml('a.yaml', allow_duplicates=True)
if os.path.exists('b.yaml'):
  objects, rest = filter_yaml('b.yaml', kind='Deployment')
  if str(objects):
    k8s_yaml(objects, allow_duplicates=True)
  if str(rest):
    k8s_yaml(rest, allow_duplicates=True)
docker_build('img', 'ctx', build_args={'V': '1'})
docker_build('base', '.', dockerfile='Dockerfile.base')
data = read_yaml('data.yaml', default={'n': 1}) or {}
local_resource('data-' + str(data.get('n', 0)), 'true')
for doc in read_yaml_stream('stream.yaml', default=[]):
  print(doc)
k8s_yaml(helm('chart', values=['values.yaml']))
k8s_yaml(kustomize('kust'))
local('cat a.yaml | wc -c', quiet=True)
port()
`

// memoFiles are the contents that each file may have; "" means that there is no file.
var memoFiles = map[string][]string{
	"Tiltfile":                {memoTiltfile, memoTiltfile + "# x\n", "os.putenv('FAKE_ENV', 'x')" + memoTiltfile, memoTiltfile + "fail('no')\n"},
	"lib.star":                {"def port():\n  k8s_resource('web', port_forwards=8001)\n", "def port():\n  k8s_resource('web', port_forwards=8002)\n", "def port(:\n", "def port():\n  k8s_resource('wbe')\n"},
	"a.yaml":                  {memoObject("web", "img"), memoObject("web", "gmi"), memoObject("web", "img") + memoObject("two", "base"), memoObject("web", "img") + "---\n[\n"},
	"b.yaml":                  {"", memoObject("b", "img"), memoObject("c", "img"), "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {k: password}}]\n"},
	"data.yaml":               {"", "n: 2\n", "n: 3\n", "n: [\n"},
	"stream.yaml":             {"", "a: 1\n---\nb: 2\n", "a: 1\n---\nb: 3\n"},
	"ctx/Dockerfile":          {"FROM base\n", "FROM bose\n", "ARG V\nFROM x:$V\n"},
	"ctx/.dockerignore":       {"", "x\n", "y\n", "!x\n**/z\n"},
	"Dockerfile.base":         {"FROM scratch\n", "FROM alpine\n", "FROM img\n"},
	".tiltignore":             {"", "a\n", "b\n"},
	"chart/Chart.yaml":        {"name: x\n", "name: y\n"},
	"chart/templates/t.yaml":  {"", "t: 1", "t: 2", "{{bad}}"},
	"values.yaml":             {"v: 1", "v: 2"},
	"kust/kustomization.yaml": {"resources: [r.yaml]\n", "resources: [r.yaml, s.yaml]\n", "generators: [r.yaml]\n"},
	"kust/r.yaml":             {"r1", "r2"},
	"kust/s.yaml":             {"s1", "s2"},
}

func memoObject(name, image string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, labels: {app: %[1]s}}\nspec: {template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: %s}]}}}\n", name, image)
}

func newMemoProject(t *testing.T, r *rand.Rand) *memoProject {
	p := &memoProject{newToolProject(t, nil), r}
	for _, name := range slices.Sorted(maps.Keys(memoFiles)) {
		p.set(name, memoFiles[name][0])
	}
	return p
}

// set gives a file its content in one of the ways in which files change: written in place, replaced, behind a link, or
// with the same age as before.
func (p *memoProject) set(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	old, statErr := os.Stat(path)
	way := p.rand.IntN(4)
	if way != 0 || text == "" {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
	}
	if text == "" {
		return
	}
	if way == 1 {
		target := fmt.Sprintf("links/%d", p.rand.IntN(1_000_000))
		p.write(target, text)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(p.root, target), path); err != nil {
			p.t.Fatal(err)
		}
	} else {
		p.write(name, text)
	}
	age := time.Unix(1_700_000_000, 0)
	if statErr == nil && p.rand.IntN(2) == 0 {
		age = old.ModTime()
	}
	if err := os.Chtimes(path, age, age); err != nil {
		p.t.Fatal(err)
	}
}

// compare evaluates with and without the memo, and returns the error of the evaluation.
func (p *memoProject) compare(after string) error {
	p.t.Helper()
	warm := Load(p.t.Context(), p.o)
	o := p.o
	o.Memo = nil
	cold := Load(p.t.Context(), o)
	text := func(r Result) string {
		if r.Err == nil {
			return ""
		}
		return problem.Text(r.Err)
	}
	if diff := cmp.Diff(text(cold), text(warm)); diff != "" {
		p.t.Fatalf("after %s the errors differ (-cold +warm):\n%s", after, diff)
	}
	if diff := cmp.Diff(cold.Tiltfile, warm.Tiltfile); diff != "" {
		p.t.Fatalf("after %s the results differ (-cold +warm):\n%s", after, diff)
	}
	return cold.Err
}

// TestWarmEqualsCold edits a project at random: an evaluation with a memo must have the same result as one without.
func TestWarmEqualsCold(t *testing.T) {
	steps := 100
	if testing.Short() {
		steps = 20
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			p := newMemoProject(t, r)
			_ = p.compare("the start") // an error of the Tiltfile is a result too
			names := slices.Sorted(maps.Keys(memoFiles))
			failed, last := 0, error(nil)
			for i := range steps {
				// Occasionally all files are valid again, so that errors do not hide later ones.
				if i%5 == 4 {
					for _, n := range names {
						p.set(n, memoFiles[n][r.IntN(min(2, len(memoFiles[n])))])
					}
				}
				name := names[r.IntN(len(names))]
				p.set(name, memoFiles[name][r.IntN(len(memoFiles[name]))])
				if last = p.compare(fmt.Sprintf("edit %d of %s", i, name)); last != nil {
					failed++
				}
			}
			if failed > steps*3/4 {
				t.Errorf("%d of %d evaluations failed: too few are meaningful; the last: %v", failed, steps, last)
			}
		})
	}
}

// FuzzWarmEqualsCold does the same with edits that the fuzzer chooses: each pair of bytes names a file and its content.
func FuzzWarmEqualsCold(f *testing.F) {
	f.Add([]byte{0, 1, 3, 1, 5, 1, 9, 2, 12, 1})
	f.Add([]byte("edit the project at will"))
	f.Fuzz(func(t *testing.T, edits []byte) {
		p := newMemoProject(t, rand.New(rand.NewPCG(uint64(len(edits)), 2)))
		names := slices.Sorted(maps.Keys(memoFiles))
		for i := 0; i+1 < min(len(edits), 20); i += 2 {
			name := names[int(edits[i])%len(names)]
			p.set(name, memoFiles[name][int(edits[i+1])%len(memoFiles[name])])
			_ = p.compare(fmt.Sprintf("edit %d of %s", i/2, name)) // an error of the Tiltfile is a result too
		}
	})
}
