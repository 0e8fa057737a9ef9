package unwatched

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// runs is the time that each build takes.
const runs = time.Minute

// TestChanged has a row for each kind of input. All files were there when the targets were built; those that end in ! have changed since, and those
// that end in ~ while the command ran.
func TestChanged(t *testing.T) {
	command := func(words string) model.Cmd { return model.Cmd{Argv: []string{"sh", "-c", words}} }
	docker := func(change func(*model.ImageTarget)) func(dir string) model.Manifest {
		return func(dir string) model.Manifest {
			im := model.ImageTarget{Ref: "img", Docker: &model.DockerBuild{Context: dir}, Watch: model.WatchSpec{Paths: []string{dir}}}
			change(&im)
			return model.Manifest{Name: "api", Images: []model.ImageTarget{im}}
		}
	}
	custom := func(b model.CustomBuild, deps ...string) func(dir string) model.Manifest {
		return func(dir string) model.Manifest {
			b.Command.Dir = dir
			im := model.ImageTarget{Ref: "img", Custom: &b}
			for _, d := range deps {
				im.Watch.Paths = append(im.Watch.Paths, filepath.Join(dir, d))
			}
			return model.Manifest{Name: "api", Images: []model.ImageTarget{im}}
		}
	}
	local := func(words string, deps ...string) func(dir string) model.Manifest {
		return func(dir string) model.Manifest {
			l := model.LocalTarget{Update: command(words)}
			l.Update.Dir = dir
			for _, d := range deps {
				l.Watch.Paths = append(l.Watch.Paths, filepath.Join(dir, d))
			}
			return model.Manifest{Name: "api", Local: &l}
		}
	}
	for _, tc := range []struct {
		name     string
		files    []string // "path" or "path -> target of a link"
		manifest func(dir string) model.Manifest
		ignore   []string // patterns of .tiltignore
		unbuilt  bool
		want     []string
	}{
		{name: "a watched file", files: []string{"main.go!"}, manifest: docker(func(*model.ImageTarget) {})},
		{name: "a secret", files: []string{"key!", "old"}, want: []string{"key!"}, manifest: docker(func(im *model.ImageTarget) {
			im.Watch, im.Docker.Secrets = model.WatchSpec{}, []string{"id=a,src=key!", "id=b,source=old", "id=c,env=TOKEN", "id=d,src=gone", "id=e"}
		})},
		{name: "a secret in the context", files: []string{"key!"}, manifest: docker(func(im *model.ImageTarget) { im.Docker.Secrets = []string{"id=a,src=key!"} })},
		{name: "a file of the context that .tiltignore leaves out", files: []string{"data/a!", "data/b", "src/a!"}, ignore: []string{"data"}, want: []string{"data/a!"},
			manifest: docker(func(*model.ImageTarget) {})},
		{name: "one that .dockerignore leaves out, too", files: []string{"data/a!"}, ignore: []string{"data"}, manifest: docker(func(im *model.ImageTarget) {
			im.Docker.ContextIgnores = []model.Ignore{{Base: im.Docker.Context, Patterns: []string{"da*"}}}
		})},
		{name: "a temporary file of an editor", files: []string{"data/.a.swp", ".git/index!"}, ignore: []string{"data", ".git"}, manifest: docker(func(*model.ImageTarget) {})},
		{name: "an image that was not built yet", files: []string{"data/a!"}, ignore: []string{"data"}, unbuilt: true, manifest: docker(func(*model.ImageTarget) {})},
		{name: "the script of a custom_build", files: []string{"build.sh!", "src/a!"}, want: []string{"build.sh!"},
			manifest: custom(model.CustomBuild{Command: command("./build.sh! --fast")}, "src")},
		{name: "a custom_build without deps", want: []string{Undeclared}, manifest: custom(model.CustomBuild{Command: command("make image")})},
		{name: "one that depends on nothing else", manifest: custom(model.CustomBuild{Command: command("make image"), DepsComplete: true})},
		{name: "one that builds nothing", manifest: custom(model.CustomBuild{Command: model.Cmd{Argv: []string{"sh", "-c", ":"}}})},
		{name: "the script of a command", files: []string{"gen.py!", "conf"}, want: []string{"gen.py!"}, manifest: local("python3 gen.py! conf", "src")},
		{name: "a file that the command writes", files: []string{"out~", "gen.py!"}, want: []string{"gen.py!"}, manifest: local("gen.py! > out~", "src")},
		{name: "a file that a custom_build writes", files: []string{"out~"}, manifest: custom(model.CustomBuild{Command: command("build > out~")}, "src")},
		{name: "a script that is watched", files: []string{"gen.py!"}, manifest: local("python3 gen.py!", "gen.py!")},
		{name: "a command without files", manifest: local("true")},
		{name: "the target of a link", files: []string{"far/a!", "far/b", "src/a -> ../far/a!", "src/b -> ../far/b"}, want: []string{"far/a!"}, manifest: local("make", "src")},
		{name: "a folder behind a link", files: []string{"far/deep/a!", "src/far -> ../far"}, want: []string{"far/deep/a!"}, manifest: local("make", "src")},
		{name: "links within the watched paths, and into nothing", files: []string{"src/a!", "src/b -> a!", "src/c -> gone"}, manifest: local("make", "src")},
		{name: "a link in a context is sent as a link", files: []string{"../far!", "a -> ../far!"}, manifest: docker(func(*model.ImageTarget) {})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(top, "project")
			built := time.Now().Add(-time.Hour)
			for _, f := range tc.files {
				place(t, dir, f, built)
			}
			m := tc.manifest(dir)
			at := func(model.TargetID) (began, ended time.Time) {
				if !tc.unbuilt {
					began, ended = built, built.Add(runs)
				}
				return began, ended
			}
			got := New(dir).Changed(&m, []model.Ignore{{Base: dir, Patterns: tc.ignore}}, at)
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], dir+string(filepath.Separator))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// place makes a file or a link of a row, as old as its name says.
func place(t *testing.T, dir, name string, built time.Time) {
	t.Helper()
	name, to, link := strings.Cut(name, " -> ")
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if link {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	at := built.Add(-runs)
	switch name[len(name)-1] {
	case '!':
		at = built.Add(2 * runs)
	case '~':
		at = built.Add(runs / 2)
	}
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestLinksAreFoundOnce checks that the links of a target are looked for again only after the target was built again.
func TestLinksAreFoundOnce(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	place(t, dir, "far/a!", at)
	place(t, dir, "src/a", at)
	m := model.Manifest{Name: "api", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"make"}}, Watch: model.WatchSpec{Paths: []string{filepath.Join(dir, "src")}}}}
	f := New(dir)
	changed := func() int {
		return len(f.Changed(&m, nil, func(model.TargetID) (began, ended time.Time) { return at, at }))
	}
	first := changed()
	place(t, dir, "src/b -> ../far/a!", at)
	second := changed()
	at = at.Add(time.Second)
	if third := changed(); first != 0 || second != 0 || third != 1 {
		t.Errorf("%d, then %d, then %d files", first, second, third)
	}
}

// TestLargeTreesAreCut checks that an answer about a large tree takes a bounded time.
func TestLargeTreesAreCut(t *testing.T) {
	dir := t.TempDir()
	for i := range most + most/10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := leftOut(&model.DockerBuild{Context: dir}, []model.Ignore{{Base: dir, Patterns: []string{"*"}}}, time.Time{})
	if len(got) == 0 || len(got) > most {
		t.Errorf("%d files", len(got))
	}
}
