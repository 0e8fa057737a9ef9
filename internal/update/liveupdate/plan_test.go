package liveupdate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// tree holds the files that exist in the tests of plans. All other paths are missing.
var tree = fstest.MapFS{
	"p/main.go":              {},
	"p/package.json":         {},
	"p/web/a.js":             {},
	"p/web/b.js":             {},
	"p/web/lib/c.js":         {},
	"p/web/lib/deep/d.js":    {},
	"p/web/lib/deep/skip.me": {},
	"p/empty":                {Mode: fs.ModeDir},
	"p/onlyskip/skip.me":     {},
	"p/sock":                 {Mode: fs.ModeSocket},
	"p/link":                 {Mode: fs.ModeSymlink, Data: []byte("main.go")},
	"p/dangling":             {Mode: fs.ModeSymlink, Data: []byte("nothing")},
	"p/linkdir":              {Mode: fs.ModeSymlink, Data: []byte("web/lib")},
	"p/web2/x.js":            {},
	"p/api/go.mod":           {},
	"p/api/main.go":          {},
	"p/api/vendor/v.go":      {},
	"p/with space/ä.txt":     {},
}

func exists(p string) (fs.FileInfo, error)   { return fs.Lstat(tree, strings.TrimPrefix(p, "/")) }
func list(p string) ([]fs.DirEntry, error)   { return fs.ReadDir(tree, strings.TrimPrefix(p, "/")) }
func skipMe(p string) bool                   { return path.Base(p) == "skip.me" }
func syncs(pairs ...string) model.LiveUpdate { return withSyncs(model.LiveUpdate{}, pairs...) }
func run(script string, on ...string) (r model.Run) {
	return model.Run{Cmd: model.Cmd{Argv: []string{"sh", "-c", script}}, Triggers: on}
}

func withSyncs(l model.LiveUpdate, pairs ...string) model.LiveUpdate {
	for i := 0; i < len(pairs); i += 2 {
		l.Syncs = append(l.Syncs, model.Sync{LocalPath: pairs[i], RemotePath: pairs[i+1]})
	}
	return l
}

// outline is a plan in few words.
type outline struct {
	Copies, Deletes, Runs   []string
	Restart                 bool
	RestartProcess, Revived bool
}

func outlineOf(p Plan) outline {
	o := outline{Deletes: p.Deletes, Restart: p.Restart, RestartProcess: p.RestartProcess, Revived: p.Revive}
	for _, c := range p.Copies {
		line := c.Local + " > " + c.Remote
		if c.IsDir {
			line += "/"
		}
		o.Copies = append(o.Copies, line)
	}
	for _, r := range p.Runs {
		o.Runs = append(o.Runs, r.Cmd.String())
	}
	return o
}

func TestMake(t *testing.T) {
	runs := func(r ...model.Run) model.LiveUpdate { return withSyncs(model.LiveUpdate{Runs: r}, "/p", "/app") }
	stop := func(paths ...string) model.LiveUpdate {
		return withSyncs(model.LiveUpdate{StopPaths: paths}, "/p", "/app")
	}
	for _, tt := range []struct {
		name    string
		spec    model.LiveUpdate
		changed []string
		want    outline
		reason  string // of a fall back
		invalid string // another error
		kube    bool   // no restarts
	}{
		// Where files go.
		{name: "nothing", spec: syncs("/p", "/app")},
		{name: "file below a folder", spec: syncs("/p", "/app"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}}},
		{name: "file further below", spec: syncs("/p", "/app"), changed: []string{"/p/web/lib/c.js"}, want: outline{Copies: []string{"/p/web/lib/c.js > /app/web/lib/c.js"}}},
		{name: "to the root", spec: syncs("/p", "/"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /main.go"}}},
		{name: "folder with slash", spec: syncs("/p/web", "/app/"), changed: []string{"/p/web/a.js"}, want: outline{Copies: []string{"/p/web/a.js > /app/a.js"}}},
		{name: "local path with slash", spec: syncs("/p/web/", "/app"), changed: []string{"/p/web/a.js"}, want: outline{Copies: []string{"/p/web/a.js > /app/a.js"}}},
		{name: "single file", spec: syncs("/p/main.go", "/app/other.go"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/other.go"}}},
		{name: "single file into folder", spec: syncs("/p/main.go", "/app/"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}}},
		{name: "single link into folder", spec: syncs("/p/link", "/app/"), changed: []string{"/p/link"}, want: outline{Copies: []string{"/p/link > /app/link"}}},
		{name: "remote path is cleaned", spec: syncs("/p", "/app/../srv//x"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /srv/x/main.go"}}},
		{name: "changed path is cleaned", spec: syncs("/p", "/app"), changed: []string{"/p/web/../main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}}},
		{name: "odd names", spec: syncs("/p", "/app"), changed: []string{"/p/with space/ä.txt"}, want: outline{Copies: []string{"/p/with space/ä.txt > /app/with space/ä.txt"}}},
		{name: "first sync wins", spec: syncs("/p/web", "/one", "/p", "/two"), changed: []string{"/p/web/a.js", "/p/main.go"}, want: outline{Copies: []string{"/p/web/a.js > /one/a.js", "/p/main.go > /two/main.go"}}},
		{name: "first sync wins over a better one", spec: syncs("/p", "/two", "/p/web", "/one"), changed: []string{"/p/web/a.js"}, want: outline{Copies: []string{"/p/web/a.js > /two/web/a.js"}}},
		{name: "names with a common start", spec: syncs("/p/web", "/one", "/p/web2", "/two"), changed: []string{"/p/web2/x.js"}, want: outline{Copies: []string{"/p/web2/x.js > /two/x.js"}}},
		{name: "order and duplicates", spec: syncs("/p", "/app"), changed: []string{"/p/web/b.js", "/p/web/a.js", "/p/web/b.js"}, want: outline{Copies: []string{"/p/web/b.js > /app/web/b.js", "/p/web/a.js > /app/web/a.js"}}},
		{name: "two files to one place", spec: syncs("/p/main.go", "/app/x", "/p/package.json", "/app/x"), changed: []string{"/p/main.go", "/p/package.json"}, want: outline{Copies: []string{"/p/main.go > /app/x"}}},
		{name: "symbolic link", spec: syncs("/p", "/app"), changed: []string{"/p/link"}, want: outline{Copies: []string{"/p/link > /app/link"}}},
		{name: "dangling link", spec: syncs("/p", "/app"), changed: []string{"/p/dangling"}, want: outline{Copies: []string{"/p/dangling > /app/dangling"}}},
		{name: "link to a folder", spec: syncs("/p", "/app"), changed: []string{"/p/linkdir"}, want: outline{Copies: []string{"/p/linkdir > /app/linkdir"}}},
		{name: "link to a folder as root", spec: syncs("/p/linkdir", "/app/"), changed: []string{"/p/linkdir"}, want: outline{Copies: []string{"/p/linkdir/deep > /app/deep/", "/p/linkdir/c.js > /app/c.js", "/p/linkdir/deep/d.js > /app/deep/d.js"}}},
		{name: "socket", spec: syncs("/p", "/app"), changed: []string{"/p/sock"}},
		{name: "ignored", spec: syncs("/p", "/app"), changed: []string{"/p/web/lib/deep/skip.me"}},
		{name: "ignored outside of every sync", spec: syncs("/p/web", "/app"), changed: []string{"/q/skip.me"}},

		// Folders.
		{name: "folder stands for its files", spec: syncs("/p", "/app"), changed: []string{"/p/web/lib"}, want: outline{Copies: []string{"/p/web/lib > /app/web/lib/", "/p/web/lib/deep > /app/web/lib/deep/", "/p/web/lib/c.js > /app/web/lib/c.js", "/p/web/lib/deep/d.js > /app/web/lib/deep/d.js"}}},
		{name: "folder and its file", spec: syncs("/p", "/app"), changed: []string{"/p/web/lib/c.js", "/p/web/lib"}, want: outline{Copies: []string{"/p/web/lib > /app/web/lib/", "/p/web/lib/deep > /app/web/lib/deep/", "/p/web/lib/c.js > /app/web/lib/c.js", "/p/web/lib/deep/d.js > /app/web/lib/deep/d.js"}}},
		{name: "empty folder", spec: syncs("/p", "/app"), changed: []string{"/p/empty"}, want: outline{Copies: []string{"/p/empty > /app/empty/"}}},
		{name: "folder with nothing but ignored files", spec: syncs("/p", "/app"), changed: []string{"/p/onlyskip"}, want: outline{Copies: []string{"/p/onlyskip > /app/onlyskip/"}}},
		{name: "empty folder to the root", spec: syncs("/p/empty", "/"), changed: []string{"/p/empty"}},
		{name: "folder above the syncs", spec: syncs("/p/web2", "/two", "/p/api", "/three"), changed: []string{"/p/web2", "/p/api"}, want: outline{Copies: []string{"/p/api/vendor > /three/vendor/", "/p/web2/x.js > /two/x.js", "/p/api/go.mod > /three/go.mod", "/p/api/main.go > /three/main.go", "/p/api/vendor/v.go > /three/vendor/v.go"}}},
		{name: "folder above with a file that has no sync", spec: syncs("/p/web/lib", "/lib"), changed: []string{"/p/web"}, reason: "a.js matches no sync()"},

		// Deletions.
		{name: "deleted", spec: syncs("/p", "/app"), changed: []string{"/p/gone.go"}, want: outline{Deletes: []string{"/app/gone.go"}}},
		{name: "renamed", spec: syncs("/p", "/app"), changed: []string{"/p/old.go", "/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Deletes: []string{"/app/old.go"}}},
		{name: "deleted below a file", spec: syncs("/p", "/app"), changed: []string{"/p/gone/a"}, want: outline{Deletes: []string{"/app/gone/a"}}},
		{name: "deleted folder after its files", spec: syncs("/p", "/app"), changed: []string{"/p/old/a", "/p/old", "/p/old/b/c"}, want: outline{Deletes: []string{"/app/old/b/c", "/app/old/a", "/app/old"}}},
		{name: "folder became a file", spec: syncs("/p", "/app"), changed: []string{"/p/main.go/a", "/p/main.go/b", "/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Deletes: []string{"/app/main.go/b", "/app/main.go/a"}}},
		{name: "deleted single file", spec: syncs("/p/gone.go", "/app/gone.go"), changed: []string{"/p/gone.go"}, want: outline{Deletes: []string{"/app/gone.go"}}},
		{name: "deleted single file in a folder", spec: syncs("/p/gone.go", "/app/"), changed: []string{"/p/gone.go"}, want: outline{Deletes: []string{"/app/gone.go"}}},
		{name: "deleted file of a deleted root", spec: syncs("/p/gone", "/app/"), changed: []string{"/p/gone/a"}, want: outline{Deletes: []string{"/app/a"}}},
		{name: "deleted folder that is synced to the root", spec: syncs("/p/gone", "//"), changed: []string{"/p/gone"}, want: outline{Deletes: []string{"/gone"}}},
		{name: "deleted root of all", spec: syncs("/p/gone", "/app/.."), changed: []string{"/p/gone"}, reason: "/p/gone, which is synced to /, is gone"},
		{name: "deleted without sync", spec: syncs("/p/web", "/app"), changed: []string{"/p/gone.go"}, reason: "gone.go matches no sync()"},

		// Falling back.
		{name: "no sync matches", spec: syncs("/p/web", "/app"), changed: []string{"/p/main.go"}, reason: "main.go matches no sync()"},
		{name: "no sync matches one of several", spec: syncs("/p/web", "/app"), changed: []string{"/p/web/a.js", "/p/api/main.go"}, reason: "api/main.go matches no sync()"},
		{name: "no sync matches, far away", spec: syncs("/p/web", "/app"), changed: []string{"/q/x"}, reason: "/q/x matches no sync()"},
		{name: "no syncs at all", spec: model.LiveUpdate{Runs: []model.Run{run("make")}}, changed: []string{"/p/main.go"}, reason: "main.go changed, and live_update has no sync()"},
		{name: "stop path", spec: stop("/p/package.json"), changed: []string{"/p/package.json"}, reason: `package.json matches fall_back_on "package.json"`},
		{name: "stop folder", spec: stop("/p/api/vendor/"), changed: []string{"/p/main.go", "/p/api/vendor/v.go"}, reason: `vendor/v.go matches fall_back_on "vendor"`},
		{name: "stop path deleted", spec: stop("/p/gone.lock"), changed: []string{"/p/gone.lock"}, reason: `gone.lock matches fall_back_on "gone.lock"`},
		{name: "stop path in a changed folder", spec: stop("/p/api/go.mod"), changed: []string{"/p/api"}, reason: `go.mod matches fall_back_on "go.mod"`},
		{name: "stop path beats missing sync", spec: model.LiveUpdate{StopPaths: []string{"/p/package.json"}, Syncs: syncs("/p/web", "/w").Syncs}, changed: []string{"/p/main.go", "/p/package.json"}, reason: `package.json matches fall_back_on "package.json"`},
		{name: "stop path not touched", spec: stop("/p/package.json"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}}},
		{name: "stop path with a common start", spec: stop("/p/web"), changed: []string{"/p/web2/x.js"}, want: outline{Copies: []string{"/p/web2/x.js > /app/web2/x.js"}}},
		{name: "ignored stop path", spec: stop("/p/onlyskip/skip.me"), changed: []string{"/p/onlyskip/skip.me"}},

		// Commands.
		{name: "run without trigger", spec: runs(run("a")), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Runs: []string{"a"}}},
		{name: "run once for many files", spec: runs(run("a")), changed: []string{"/p/web/a.js", "/p/web/b.js"}, want: outline{Copies: []string{"/p/web/a.js > /app/web/a.js", "/p/web/b.js > /app/web/b.js"}, Runs: []string{"a"}}},
		{name: "run with a trigger that matches", spec: runs(run("a", "/p/package.json")), changed: []string{"/p/package.json"}, want: outline{Copies: []string{"/p/package.json > /app/package.json"}, Runs: []string{"a"}}},
		{name: "run with a trigger that does not", spec: runs(run("a", "/p/package.json")), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}}},
		{name: "run with a folder as trigger", spec: runs(run("a", "/q", "/p/web/")), changed: []string{"/p/web/lib/c.js"}, want: outline{Copies: []string{"/p/web/lib/c.js > /app/web/lib/c.js"}, Runs: []string{"a"}}},
		{name: "run on a deletion", spec: runs(run("a", "/p/gone.txt")), changed: []string{"/p/gone.txt"}, want: outline{Deletes: []string{"/app/gone.txt"}, Runs: []string{"a"}}},
		{name: "run on a file in a changed folder", spec: runs(run("a", "/p/api/go.mod")), changed: []string{"/p/api"}, want: outline{Copies: []string{"/p/api > /app/api/", "/p/api/vendor > /app/api/vendor/", "/p/api/go.mod > /app/api/go.mod", "/p/api/main.go > /app/api/main.go", "/p/api/vendor/v.go > /app/api/vendor/v.go"}, Runs: []string{"a"}}},
		{name: "runs keep their order", spec: runs(run("a"), run("b", "/p/nothing"), run("c", "/p/main.go")), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Runs: []string{"a", "c"}}},
		{name: "no run for nothing", spec: runs(run("a")), changed: []string{"/p/onlyskip/skip.me", "/p/sock"}},

		// Restarts.
		{name: "restart", spec: withSyncs(model.LiveUpdate{RestartContainer: true}, "/p", "/app"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Restart: true}},
		{name: "restart of the process", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{}}, "/p", "/app"), changed: []string{"/p/main.go"}, kube: true, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, RestartProcess: true, Revived: true}},
		{name: "restart of the process on a trigger", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{Triggers: []string{"/p/web/lib"}}}, "/p", "/app"), changed: []string{"/p/main.go", "/p/web"}, want: outline{Copies: []string{"/p/web > /app/web/", "/p/web/lib > /app/web/lib/", "/p/web/lib/deep > /app/web/lib/deep/", "/p/main.go > /app/main.go", "/p/web/a.js > /app/web/a.js", "/p/web/b.js > /app/web/b.js", "/p/web/lib/c.js > /app/web/lib/c.js", "/p/web/lib/deep/d.js > /app/web/lib/deep/d.js"}, RestartProcess: true, Revived: true}},
		{name: "no restart of the process without its trigger", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{Triggers: []string{"/p/web"}}}, "/p", "/app"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Revived: true}},
		{name: "a pattern as a trigger", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{Triggers: []string{"/p/**/*.go"}}}, "/p", "/app"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, RestartProcess: true, Revived: true}},
		{name: "a pattern that does not fit", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{Triggers: []string{"/p/**/*.js"}}}, "/p", "/app"), changed: []string{"/p/main.go"}, want: outline{Copies: []string{"/p/main.go > /app/main.go"}, Revived: true}},
		{name: "no restart of the process for nothing", spec: withSyncs(model.LiveUpdate{RestartProcess: &model.RestartProcess{}}, "/p", "/app"), changed: []string{"/p/sock"}},
		{name: "no restart for nothing", spec: withSyncs(model.LiveUpdate{RestartContainer: true}, "/p", "/app"), changed: []string{"/p/sock"}},
		{name: "restart in Kubernetes", spec: withSyncs(model.LiveUpdate{RestartContainer: true}, "/p", "/app"), changed: []string{"/p/main.go"}, kube: true, reason: "restart_container() needs a container engine that can restart containers"},

		// Mistakes.
		{name: "relative remote path", spec: syncs("/p", "app"), changed: []string{"/p/main.go"}, invalid: "remote path is not absolute"},
		{name: "relative local path", spec: syncs("p", "/app"), changed: []string{"/p/main.go"}, invalid: "local path is not absolute"},
		{name: "relative changed path", spec: syncs("/p", "/app"), changed: []string{"main.go"}, invalid: "is not absolute"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Make(Input{Spec: tt.spec, Changed: tt.changed, Exists: exists, List: list, Ignore: skipMe, NoRestart: tt.kube})
			var fallBack *FallBackError
			switch {
			case tt.invalid != "":
				if err == nil || !strings.Contains(err.Error(), tt.invalid) || Classify(err) != Infra {
					t.Fatalf("got error %v, want %q", err, tt.invalid)
				}
				return
			case tt.reason != "":
				if !errors.As(err, &fallBack) || fallBack.Reason != tt.reason || fallBack.Path == "" && !tt.kube {
					t.Fatalf("got error %#v, want to fall back: %q", err, tt.reason)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outlineOf(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if plan.Empty() != cmp.Equal(tt.want, outline{}) {
				t.Errorf("Empty() is %v", plan.Empty())
			}
		})
	}
}

// TestMakeMany plans enough changes for several goroutines to ask for the paths: the plan is the same as for few.
func TestMakeMany(t *testing.T) {
	many, want := fstest.MapFS{}, outline{}
	var changed, folders []string
	for i := range 4 * aheadFrom {
		p := fmt.Sprintf("p/web/%04d.js", i)
		changed = append(changed, "/"+p)
		switch i % 4 {
		case 0:
			want.Deletes = append(want.Deletes, fmt.Sprintf("/app/%04d.js", i))
			continue
		case 1:
			many[p+"/in.js"] = &fstest.MapFile{}
			folders = append(folders, fmt.Sprintf("/%s -> /app/%04d.js", p, i))
			want.Copies = append(want.Copies, fmt.Sprintf("/%s/in.js -> /app/%04d.js/in.js", p, i))
			continue
		case 2:
			many[p] = &fstest.MapFile{Mode: fs.ModeSocket}
			continue
		}
		many[p] = &fstest.MapFile{}
		want.Copies = append(want.Copies, fmt.Sprintf("/%s -> /app/%04d.js", p, i))
	}
	slices.Reverse(want.Deletes)
	want.Copies = append(folders, want.Copies...)
	plan, err := Make(Input{Spec: syncs("/p/web", "/app"), Changed: changed,
		Exists: func(p string) (fs.FileInfo, error) { return fs.Lstat(many, strings.TrimPrefix(p, "/")) },
		List:   func(p string) ([]fs.DirEntry, error) { return fs.ReadDir(many, strings.TrimPrefix(p, "/")) }})
	if err != nil {
		t.Fatal(err)
	}
	got := outline{Deletes: plan.Deletes}
	for _, c := range plan.Copies {
		got.Copies = append(got.Copies, c.Local+" -> "+c.Remote)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestMakeUnreadable(t *testing.T) {
	denied := func(string) (fs.FileInfo, error) { return nil, fs.ErrPermission }
	_, err := Make(Input{Spec: syncs("/p", "/app"), Changed: []string{"/p/main.go"}, Exists: denied})
	if Classify(err) != FallBack {
		t.Errorf("got %v", err)
	}
	deniedList := func(string) ([]fs.DirEntry, error) { return nil, fs.ErrPermission }
	_, err = Make(Input{Spec: syncs("/p", "/app"), Changed: []string{"/p/web"}, Exists: exists, List: deniedList})
	if Classify(err) != FallBack {
		t.Errorf("got %v", err)
	}
	gone := func(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }
	plan, err := Make(Input{Spec: syncs("/p", "/app"), Changed: []string{"/p/web"}, Exists: exists, List: gone})
	if err != nil || !plan.Empty() {
		t.Errorf("a folder that vanishes: %v, %v", plan, err)
	}
}

func TestInitialPlan(t *testing.T) {
	spec := withSyncs(model.LiveUpdate{
		InitialSync: true, RestartContainer: true, RestartProcess: &model.RestartProcess{}, StopPaths: []string{"/p/api/go.mod"},
		Runs: []model.Run{run("a"), run("b", "/p/api/main.go"), run("c", "/p/main.go")},
	}, "/p/web/lib", "/lib", "/p/web", "/web", "/p/api/", "/api/", "/p/none", "/none")
	plan, err := InitialPlan(Input{Spec: spec, Exists: exists, List: list, Ignore: skipMe,
		Changed: []string{"/p/web/gone.js", "/p/web/a.js", "/p/web/lib/gone", "/p/beside/gone"}})
	if err != nil {
		t.Fatal(err)
	}
	want := outline{
		Copies: []string{
			"/p/api/vendor > /api/vendor/", "/p/web/lib/deep > /lib/deep/",
			"/p/web/lib/c.js > /lib/c.js", "/p/web/lib/deep/d.js > /lib/deep/d.js",
			"/p/web/a.js > /web/a.js", "/p/web/b.js > /web/b.js",
			"/p/api/go.mod > /api/go.mod", "/p/api/main.go > /api/main.go", "/p/api/vendor/v.go > /api/vendor/v.go",
		},
		Deletes: []string{"/web/gone.js", "/lib/gone"},
		Runs:    []string{"a", "b"}, RestartProcess: true, Revived: true,
	}
	if diff := cmp.Diff(want, outlineOf(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if len(plan.Files) < len(plan.Copies) {
		t.Errorf("files: %v", plan.Files)
	}
}

// FuzzMapping checks that every path below a sync stays below its remote path, and that the remote path is clean.
func FuzzMapping(f *testing.F) {
	f.Add("/p", "/app", "web/a.js")
	f.Add("/", "/", "x")
	f.Add("/p/x", "/app/../..", "../../etc/passwd")
	f.Add("/p", "//a//b/", "c d/\n/ä")
	f.Fuzz(func(t *testing.T, local, remote, rel string) {
		if !filepath.IsAbs(local) || !path.IsAbs(remote) || strings.ContainsRune(local+remote+rel, 0) {
			return
		}
		changed := filepath.Join(local, rel)
		gone := func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }
		plan, err := Make(Input{Spec: syncs(local, remote), Changed: []string{changed}, Exists: gone})
		if !model.IsChild(filepath.Clean(local), changed) {
			if Classify(err) != FallBack {
				t.Fatalf("%q is outside: got %v, %v", changed, plan, err)
			}
			return
		}
		if err != nil {
			if Classify(err) != FallBack || path.Clean(remote) != "/" {
				t.Fatal(err)
			}
			return
		}
		got := plan.Deletes
		if len(got) != 1 || got[0] == "/" || got[0] != path.Clean(got[0]) || !model.IsChild(path.Clean(remote), got[0]) {
			t.Errorf("sync(%q, %q), %q: got %q", local, remote, changed, got)
		}
	})
}
