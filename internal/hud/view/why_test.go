package view

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

func answerOf(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.Cell.String(), " ") + "\n")
	}
	return b.String()
}

// TestWhy checks the answers about resources in each state, down to the root of a wait.
func TestWhy(t *testing.T) {
	shop, tale := hudtest.Shop().View(t.Context()), hudtest.Story().View(t.Context())
	for _, tc := range []struct {
		name model.ManifestName
		want string
	}{
		{"api", "api waits for nothing: it is up to date since 12:40:48\n"},
		{"worker", "worker is being updated for 8 s: 1/3 Building Dockerfile: [worker], step 4 of 7  worker/main.go\n"},
		{"e2e", "e2e waits for worker to be ready  for 40 m 59 s\n  worker is being updated for 8 s: 1/3 Building Dockerfile: [worker], step 4 of 7  worker/main.go\n"},
		{"mailer", "mailer does not run for 4 m 0 s: container main exited with code 1; Kubernetes waits 40 s between starts\n"},
		{"seed", "seed was never started: auto_init=False leaves that to a trigger\n"},
		{"loadtest", "loadtest is disabled: nothing acts on it\n"},
		{model.TiltfileName, "(Tiltfile): ok  420 ms\n"},
		{"nothing", ""},
	} {
		if diff := cmp.Diff(tc.want, answerOf(Why(shop, tc.name, hudtest.ShopTime))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	want := `e2e waits for mailer, web to be ready  for 40 m 59 s
  mailer waits for worker, which builds the same image  for 40 m 59 s
    worker is being updated for 8 s: 1/3 Building Dockerfile: [shop/worker], step 2 of 3  worker/main.go
    worker is not ready for 3 m 0 s: worker-7c9d-q8z2: container main: readiness probe httpGet :8080/health fails: HTTP probe failed with statuscode: 503
    worker port 6060: port 6060 is taken by pid 77
  web is about to be updated
`
	if diff := cmp.Diff(want, answerOf(Why(tale, "e2e", hudtest.ShopTime))); diff != "" {
		t.Errorf("a chain (-want +got):\n%s", diff)
	}
}

// TestWhyDrift names the objects that others have changed, with their fields.
func TestWhyDrift(t *testing.T) {
	v := hudtest.Drifted().View(t.Context())
	want := `api waits for nothing: it is up to date since 12:40:50
api ≠ changed by others: configmap/api-settings, noticed 12:40:53
    data.flags  kubectl-edit  12:40:51
      - applied  shy
      + cluster  bold
    data["log.level"]
      - applied  info
      + cluster  (not there)
api ≠ changed by others: deployment/api, noticed 12:40:53
    spec.replicas  kube-controller-manager  12:40:50
      - applied  1
      + cluster  3
    spec.template.spec.containers[name=main].image  kubectl-set  12:40:51
      - applied  registry.example.com/platform/team/api:tilt-1f2e3d4c5b6a7988
      + cluster  registry.example.com/platform/team/api:v2-debug
api ≠ changed by others: secret/api-token, noticed 12:40:53
    data.password  kubectl-patch  12:40:51
      the values of a Secret are not shown
web does not run for 6 s: serviceaccount/default/web was deleted (again and again); a trigger deploys the resource again
web ≠ deleted: serviceaccount/web, noticed 12:40:53: again and again
`
	var b strings.Builder
	for _, name := range []model.ManifestName{"api", "web"} {
		b.WriteString(answerOf(Why(v, name, hudtest.ShopTime)))
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhyFile checks which rule matches a file, and which containers have its last change.
func TestWhyFile(t *testing.T) {
	const minute = time.Minute
	dir := "/home/dev/shop/api"
	live := func(m *model.Manifest) {
		m.Images[0].Watch = model.WatchSpec{Paths: []string{dir}, Ignores: []model.Ignore{{Base: dir, Patterns: []string{"*.md"}, Source: dir + "/.dockerignore"}}}
		m.Images[0].LiveUpdate = model.LiveUpdate{StopPaths: []string{dir + "/go.mod"}, Syncs: []model.Sync{{LocalPath: dir + "/src", RemotePath: "/app"}},
			Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"make", "css"}}, Triggers: []string{dir + "/src/css"}}}, RestartProcess: &model.RestartProcess{}}
	}
	s := one(live, func(s *hudtest.Scene) {
		b := hudtest.Applied("image")
		b.Images = map[string]model.ImageResult{"api": {Cluster: "api:1", StartedAt: hudtest.Start.Add(minute)}}
		s.Build("api", 1, minute, 2*minute, b, "api/src/old.go")
		for _, id := range []string{"a", "b"} {
			p := hudtest.Pod("api", 2*minute, true)
			p.Name, p.UID = "api-"+id, id
			p.Containers[0].ID, p.Containers[0].Image = "c-"+id, "api:1"
			s.At(3*minute, state.PodChanged{Pod: p})
		}
		s.At(4*minute, state.FilesChanged{Changes: []state.FileChange{{Target: model.ImageID("api"), Paths: []string{dir + "/src/main.go"}}}})
		s.Build("api", 2, 5*minute, 5*minute+2*time.Second, state.BuildCompleted{Mode: "synclet", Synced: []string{"c-a"}}, "api/src/main.go")
	})
	v := s.View(t.Context())
	now := hudtest.Start.Add(7 * minute)
	// The patterns here are names: the watcher's rules have tests of their own.
	ignored := Ignores{Ephemeral: []string{"*.swp"}, Match: func(ig model.Ignore, file string) bool {
		for _, p := range ig.Patterns {
			if ok, _ := filepath.Match(p, filepath.Base(file)); ok && model.IsChild(ig.Base, file) {
				return true
			}
		}
		return false
	}}
	for _, tc := range []struct {
		name model.ManifestName
		file string
		want string
	}{
		{"", "api/src/main.go", `api watches it for image api
  sync(api/src, /app) matches: it is copied to /app/main.go
  then the process is restarted
  it changed at 12:04:00, after image api was built
    api-a/main has it since 12:05:00
    api-b/main does not have it
`},
		{"api", dir + "/src/css/x.css", `api watches it for image api
  sync(api/src, /app) matches: it is copied to /app/css/x.css
  then run "make css", whose trigger api/src/css matches
  then the process is restarted
  no change of it was seen since the session began: image api includes it as it was then
`},
		{"", "api/go.mod", `api watches it for image api
  fall_back_on api/go.mod matches: a change needs a new image
  no change of it was seen since the session began: image api includes it as it was then
`},
		{"", "api/Makefile", `api watches it for image api
  no sync() matches: a change needs a new image
  no change of it was seen since the session began: image api includes it as it was then
`},
		{"", "api/src/old.go", `api watches it for image api
  sync(api/src, /app) matches: it is copied to /app/old.go
  then the process is restarted
  the last change of it was in update #1 at 12:02:00: image
    api-a/main has it since 12:02:00
    api-b/main has it since 12:02:00
`},
		{"", "api/README.md", "api watches it for image api\n  nothing happens: api/.dockerignore leaves it out\n"},
		{"", "api/src/.main.go.swp", "api watches it for image api\n  nothing happens: it is a temporary file of an editor, or a file of Git\n"},
		{"", "other/x", "nothing happens: no resource watches it\n"},
		{"api", "other/x", "nothing happens: api does not watch it\n"},
		{"", "Tiltfile", "(Tiltfile) reads it: a change evaluates the Tiltfile\n"},
	} {
		if diff := cmp.Diff(tc.want, answerOf(WhyFile(v, tc.name, tc.file, now, ignored))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.file, diff)
		}
	}
}
