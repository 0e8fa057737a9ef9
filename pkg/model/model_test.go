package model

import (
	"strings"
	"testing"
	"time"
)

func TestCmdString(t *testing.T) {
	for _, tc := range []struct {
		argv []string
		want string
	}{
		{nil, ""},
		{[]string{"make", "all"}, "make all"},
		{[]string{"sh", "-c", "echo $HOME | wc"}, "echo $HOME | wc"},
		{[]string{"sh", "-c", "a", "b"}, "sh -c a b"},
		{[]string{"bash", "-c", "a b"}, "bash -c 'a b'"},
		{[]string{"echo", "a b", ""}, "echo 'a b' ''"},
		{[]string{"echo", "it's"}, `echo 'it'"'"'s'`},
		{[]string{"echo", "$X", `a"b`, "x=1", "a/b.c"}, `echo '$X' 'a"b' x=1 a/b.c`},
	} {
		if got := (Cmd{Argv: tc.argv}).String(); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.argv, got, tc.want)
		}
	}
}

func TestCmdEqual(t *testing.T) {
	base := Cmd{Argv: []string{"a"}, Dir: "/", Env: []string{"K=V"}}
	for _, tc := range []struct {
		other Cmd
		want  bool
	}{
		{Cmd{Argv: []string{"a"}, Dir: "/", Env: []string{"K=V"}}, true},
		{Cmd{Argv: []string{"b"}, Dir: "/", Env: []string{"K=V"}}, false},
		{Cmd{Argv: []string{"a"}, Dir: "/x", Env: []string{"K=V"}}, false},
		{Cmd{Argv: []string{"a"}, Dir: "/"}, false},
		{Cmd{Argv: []string{"a"}, Dir: "/", Env: []string{"K=V"}, EchoOff: true}, false},
	} {
		if got := base.Equal(tc.other); got != tc.want {
			t.Errorf("%+v: %v", tc.other, got)
		}
	}
	if !(Cmd{Env: []string{"K=V"}}).Empty() || base.Empty() {
		t.Error("a command is empty when there is nothing to run")
	}
}

func TestIsChild(t *testing.T) {
	for _, tc := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/a/b/c", true}, {"/a", "/ab", false}, {"/a/b", "/a", false},
		{"/", "/", true}, {"/", "/a", true}, {"/a", "/", false}, {"/a", "/b", false},
	} {
		if got := IsChild(tc.dir, tc.path); got != tc.want {
			t.Errorf("%s below %s: %v", tc.path, tc.dir, got)
		}
	}
}

func TestParseUpdateMode(t *testing.T) {
	for _, m := range UpdateModes {
		if got, err := ParseUpdateMode(string(m)); err != nil || got != m {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if got, err := ParseUpdateMode(""); err != nil || got != UpdateAuto {
		t.Errorf("empty: %s, %v", got, err)
	}
	for _, s := range []string{"Auto", "docker", " auto"} {
		if _, err := ParseUpdateMode(s); err == nil || !strings.Contains(err.Error(), "auto, image, naive, synclet, container, exec") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestManifest(t *testing.T) {
	web := Manifest{Name: "web", K8s: &K8sTarget{}, Images: []ImageTarget{{Ref: "base"}, {Ref: "web", LiveUpdate: LiveUpdate{Syncs: []Sync{{LocalPath: "/a", RemotePath: "/b"}}}}}}
	gen := Manifest{Name: "gen", Local: &LocalTarget{}}
	db := Manifest{Name: "db", Compose: &ComposeTarget{Service: "postgres"}}
	if db.DeployID().String() != "compose:db" || !db.IsCompose() || db.IsK8s() || db.IsLocal() || gen.IsCompose() {
		t.Error("a Compose service")
	}
	if web.DeployID().String() != "k8s:web" || gen.DeployID().String() != "local:gen" || !web.IsK8s() || web.IsLocal() || !gen.IsLocal() || gen.IsK8s() {
		t.Error("kinds of manifests")
	}
	if im, ok := web.Image("web"); !ok || im.ID() != ImageID("web") || im.ID().String() != "image:web" {
		t.Errorf("%+v, %v", im, ok)
	}
	if _, ok := web.Image("x"); ok {
		t.Error("an image that is not there")
	}
	if !web.HasLiveUpdate() || gen.HasLiveUpdate() {
		t.Error("live update")
	}
	if TriggerAuto.String() != "auto" || TriggerManual.String() != "manual" {
		t.Error("trigger modes")
	}
}

func TestLiveUpdate(t *testing.T) {
	full := func() LiveUpdate {
		return LiveUpdate{InitialSync: true, StopPaths: []string{"/a/go.mod"}, Syncs: []Sync{{LocalPath: "/a", RemotePath: "/b"}},
			Runs: []Run{{Cmd: Cmd{Argv: []string{"make"}}, Triggers: []string{"/a/x"}}}, RestartContainer: true}
	}
	if !full().Equal(full()) || full().Empty() || !(LiveUpdate{}).Empty() {
		t.Error("equal and empty")
	}
	for name, change := range map[string]func(*LiveUpdate){
		"initial sync": func(l *LiveUpdate) { l.InitialSync = false },
		"stop paths":   func(l *LiveUpdate) { l.StopPaths = nil },
		"syncs":        func(l *LiveUpdate) { l.Syncs[0].RemotePath = "/c" },
		"runs":         func(l *LiveUpdate) { l.Runs[0].Cmd.Argv = []string{"x"} },
		"triggers":     func(l *LiveUpdate) { l.Runs[0].Triggers = nil },
		"restart":      func(l *LiveUpdate) { l.RestartContainer = false },
	} {
		other := full()
		change(&other)
		if other.Equal(full()) {
			t.Errorf("%s: no difference is seen", name)
		}
	}
}

func TestPod(t *testing.T) {
	p := Pod{Namespace: "n", Name: "p", InitContainers: []Container{{Name: "init", Init: true}}, Containers: []Container{{Name: "a", Restarts: 2}, {Name: "b", Restarts: 1}}}
	all := p.AllContainers()
	if p.Key() != "n/p" || p.Restarts() != 3 || len(all) != 3 || all[0].Name != "init" {
		t.Errorf("%s %d %v", p.Key(), p.Restarts(), all)
	}
	all[1].Name = "changed"
	if p.Containers[0].Name != "a" {
		t.Error("the answer is the pod's own memory")
	}
}

func TestDefaults(t *testing.T) {
	if !ProductKIND.Dev() || !ProductHone.Dev() || ProductGKE.Dev() || ProductEKS.Dev() || ProductUnknown.Dev() {
		t.Error("clusters made for development")
	}
	if !(Registry{SingleName: "x"}).Empty() || (Registry{Host: "localhost:5000"}).Empty() {
		t.Error("registries")
	}
	if DefaultMaxParallel != 3 || DefaultCISettings.Timeout != 30*time.Minute {
		t.Error("settings")
	}
}

// TestQuoted checks that a command in a message stands in one line as the user wrote it.
func TestQuoted(t *testing.T) {
	for want, cmd := range map[string]Cmd{
		`"go generate ./…"`:               {Argv: []string{"go", "generate", "./…"}},
		`"echo "a b"; grep '\d' x; exit"`: {Argv: []string{"sh", "-c", "echo \"a b\";\n  grep '\\d' x;\nexit"}},
	} {
		if got := cmd.Quoted(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
