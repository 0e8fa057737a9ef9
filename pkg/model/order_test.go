package model

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDependentsFirst(t *testing.T) {
	deps := map[ManifestName][]ManifestName{"a": nil, "b": {"a"}, "c": {"link", "b"}, "d": nil, "x": {"y"}, "y": {"x"}}
	got := DependentsFirst(deps)
	if want := []ManifestName{"x", "y", "d", "c", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, tc := range []struct {
		n, on ManifestName
		want  bool
	}{{"c", "a", true}, {"a", "c", false}, {"c", "link", true}, {"x", "x", true}, {"a", "a", false}, {"none", "a", false}} {
		if got := DependsOn(deps, tc.n, tc.on); got != tc.want {
			t.Errorf("%s on %s: %v", tc.n, tc.on, got)
		}
	}
}

func TestLiveUpdateTakes(t *testing.T) {
	l := LiveUpdate{Syncs: []Sync{{LocalPath: "/src/web", RemotePath: "/app"}}, StopPaths: []string{"/src/web/go.mod"}}
	for path, want := range map[string]bool{"/src/web/main.go": true, "/src/web": true, "/src/web/go.mod": false, "/src/website": false, "/src": false} {
		if got := l.Takes(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestLiveUpdateOf(t *testing.T) {
	steps := LiveUpdate{Syncs: []Sync{{LocalPath: "/a", RemotePath: "/b"}}}
	custom := Manifest{K8s: &K8sTarget{CustomDeploy: &CustomDeploy{LiveUpdate: steps, Watch: WatchSpec{Ignores: []Ignore{{Base: "/a"}}}}}}
	image := Manifest{Images: []ImageTarget{{Ref: "api", LiveUpdate: steps}, {Ref: "db"}}, K8s: &K8sTarget{}}
	for _, tc := range []struct {
		m    Manifest
		ref  string
		want bool
	}{{custom, "", true}, {custom, "api", false}, {image, "", false}, {image, "api", true}, {image, "db", false}, {Manifest{}, "", false}} {
		if got, _, ok := tc.m.LiveUpdateOf(tc.ref); ok != tc.want || ok && !got.Equal(steps) {
			t.Errorf("%q: %v, %v", tc.ref, got, ok)
		}
	}
	if _, ignores, _ := custom.LiveUpdateOf(""); len(ignores) != 1 {
		t.Errorf("ignores: %v", ignores)
	}
	if !custom.HasLiveUpdate() || !image.HasLiveUpdate() || (Manifest{}).HasLiveUpdate() {
		t.Error("HasLiveUpdate is wrong")
	}
}

func TestStepsFor(t *testing.T) {
	copies, restarts := LiveUpdate{Syncs: []Sync{{LocalPath: "/a", RemotePath: "/a"}}}, LiveUpdate{RestartContainer: true}
	images := []ImageTarget{{Ref: "web", LiveUpdate: copies}, {Ref: "base"}}
	custom := Manifest{Name: "m", Images: images, K8s: &K8sTarget{CustomDeploy: &CustomDeploy{LiveUpdate: restarts}}}
	plain := Manifest{Name: "m", Images: images, K8s: &K8sTarget{}}
	local := Manifest{Name: "m", Local: &LocalTarget{}}
	for _, tc := range []struct {
		name  string
		m     Manifest
		id    TargetID
		want  LiveUpdate
		early bool
	}{
		{"an image", custom, ImageID("web"), copies, true},
		{"an image without steps", custom, ImageID("base"), LiveUpdate{}, false},
		{"an image of others", custom, ImageID("api"), LiveUpdate{}, false},
		{"a custom deploy", custom, custom.DeployID(), restarts, false},
		{"objects", plain, plain.DeployID(), LiveUpdate{}, false},
		{"a command", local, local.DeployID(), LiveUpdate{}, false},
	} {
		got := tc.m.StepsFor(tc.id)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if got.CopiesEarly() != tc.early {
			t.Errorf("%s: early %t", tc.name, got.CopiesEarly())
		}
	}
}
