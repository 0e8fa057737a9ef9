package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func init() { time.Local = time.UTC } // times of day are local

// goldenDetails compares the details of a resource with golden files at three widths.
func goldenDetails(t *testing.T, v store.View, name model.ManifestName, now time.Time, file string) {
	t.Helper()
	d, ok := DetailsOf(v, name, now)
	if !ok {
		t.Fatalf("%s has no details", name)
	}
	for _, width := range []int{80, 120, 200} {
		out := d.Text(width)
		for line := range strings.Lines(out) {
			if w := text.Width(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("%s at %d: a row of %d columns: %q", file, width, w, line)
			}
		}
		golden(t, fmt.Sprintf("details-%s-%d.txt", file, width), strings.ReplaceAll(out, "\u00a0", " "))
	}
}

func TestDetailsOfShop(t *testing.T) {
	v := hudtest.Shop().View(t.Context())
	for _, name := range []model.ManifestName{model.TiltfileName, "worker", "mailer", "api", "docs", "e2e", "loadtest", model.UncategorizedName} {
		goldenDetails(t, v, name, hudtest.ShopTime, strings.Trim(string(name), "()"))
	}
	if d, ok := DetailsOf(v, "nothing", hudtest.ShopTime); ok {
		t.Errorf("a resource that does not exist has details: %+v", d)
	}
}

// story is a worker with updates of every kind: images with their steps, a fall-back, a failing command, one that was cancelled
// and one that runs; with pods of two deploys, events, objects, and dependencies.
func story() *hudtest.Scene {
	const minute = time.Minute
	sec := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	image := model.ImageTarget{Ref: "shop/worker", DependsOn: []string{"shop/base"}, Docker: &model.DockerBuild{Context: "/home/dev/shop/worker", Dockerfile: "/home/dev/shop/worker/Dockerfile"},
		Watch:      model.WatchSpec{Paths: []string{"/home/dev/shop/worker"}, Ignores: []model.Ignore{{Base: "/home/dev/shop/worker", Patterns: []string{"*.md", "docs"}, Source: "/home/dev/shop/worker/.dockerignore"}}},
		LiveUpdate: model.LiveUpdate{StopPaths: []string{"/home/dev/shop/worker/go.mod"}, Syncs: []model.Sync{{LocalPath: "/home/dev/shop/worker/src", RemotePath: "/app"}}}}
	base := model.ImageTarget{Ref: "shop/base", Docker: &model.DockerBuild{Context: "/home/dev/shop/base"}, Watch: model.WatchSpec{Paths: []string{"/home/dev/shop/base"}}}
	kube := func(name model.ManifestName, images []model.ImageTarget, deps ...model.ManifestName) model.Manifest {
		return model.Manifest{Name: name, AutoInit: true, ResourceDeps: deps, Images: images, K8s: &model.K8sTarget{PodReadiness: model.PodWait}}
	}
	worker := kube("worker", []model.ImageTarget{base, image}, "db", "queue")
	deployment := model.K8sObject{APIVersion: "apps/v1", Kind: "Deployment", Name: "worker"}
	worker.K8s.Objects = []model.K8sObject{deployment, {APIVersion: "v1", Kind: "Service", Name: "worker-http"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "worker-settings"}}
	worker.K8s.PortForwards = []model.PortForward{{LocalPort: 6060, Name: "debugger"}}
	s := hudtest.New()
	s.Open(model.Tiltfile{
		Manifests: []model.Manifest{kube("db", nil), kube("queue", nil, "db"), worker, kube("mailer", []model.ImageTarget{base}, "worker"), kube("e2e", nil, "mailer", "web"), kube("web", nil, "worker")},
		Warnings:  []string{"/home/dev/shop/Tiltfile:7: image \"shop/old\" is built, but no resource uses it"},
		Declared: map[model.ManifestName][]model.Declaration{"worker": {
			{Call: "docker_build", File: "/home/dev/shop/Tiltfile", Line: 4, Source: []string{`docker_build("shop/worker", "worker",`, `    live_update=[sync("worker/src", "/app")])`}},
			{Call: "k8s_resource", File: "/home/dev/shop/lib/service.star", Line: 12, From: 9, Source: []string{`    k8s_resource(name, resource_deps=["db"])`}},
		}},
	})
	for _, name := range []model.ManifestName{"db", "queue"} {
		s.Build(name, 1, sec(2), sec(3), hudtest.Applied("image"))
		s.At(sec(4), state.PodChanged{Pod: hudtest.Pod(name, sec(3), true)})
	}
	objects := hudtest.Applied("image", model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "worker"}, model.ObjectID{Kind: "Service", Namespace: "default", Name: "worker-http"})
	objects.Images = map[string]model.ImageResult{"shop/worker": {Cluster: "shop/worker:hone-1234"}}
	first := objects
	first.Steps = []model.BuildStep{{Kind: model.StepBuild, What: "shop/base", Took: sec(41)}, {Kind: model.StepContext, What: "shop/worker", Took: sec(0.4)},
		{Kind: model.StepBuild, What: "shop/worker", Took: sec(72)}, {Kind: model.StepPush, What: "shop/worker", Took: sec(6)}, {Kind: model.StepApply, Took: sec(0.3)}}
	s.Build("worker", 1, minute, 3*minute, first)
	s.At(3*minute+sec(9), state.ResourcesReady{Names: []model.ManifestName{"worker"}})
	old := hudtest.Pod("worker", 3*minute, false)
	old.Name, old.UID, old.Current, old.Deleting, old.Containers[0].ID = "worker-5f4d-aaaa1", "old", false, true, "c-old"
	s.At(4*minute, state.PodChanged{Pod: old})
	failed := hudtest.Took("worker-7c9d-x2v1", 1, 812, 0.2, 0.1, 0.4, 1.1)
	failed.Err = `run "go generate ./…" in container main: exit code 1`
	s.Build("worker", 2, 30*minute, 30*minute+sec(0.5), state.BuildCompleted{Mode: "synclet", Err: failed.Err, Containers: []model.ContainerUpdate{failed},
		Problem: &state.Problem{Summary: failed.Err, Detail: "gen.go:3: unknown directive\nexit status 1", Mend: "fix the directive,\nor remove it"}}, "worker/src/job.go")
	fell := objects
	fell.FellBack, fell.Warnings = `go.mod matches fall_back_on "go.mod"`, 2
	fell.Steps = []model.BuildStep{{Kind: model.StepContext, What: "shop/worker", Took: sec(0.1)}, {Kind: model.StepBuild, What: "shop/worker", Took: sec(7.2)},
		{Kind: model.StepPush, What: "shop/worker", Took: sec(0.3)}, {Kind: model.StepApply, Took: sec(0.1)}}
	s.Build("worker", 3, 31*minute, 31*minute+sec(7.7), fell, "worker/go.mod", "worker/go.sum", "worker/src/a.go", "worker/src/b.go", "worker/src/c.go")
	s.At(31*minute+sec(9.8), state.ResourcesReady{Names: []model.ManifestName{"worker"}})
	broken := state.BuildCompleted{Mode: "image", Err: "build shop/worker: exit code 2\nmain.go:41: declared and not used: n", Steps: fell.Steps[:2], Output: []string{"compiling", "main.go:41: declared and not used: n"}}
	s.Build("worker", 4, 33*minute, 33*minute+sec(7.3), broken, "worker/main.go")
	s.Build("worker", 5, 34*minute, 34*minute+sec(2), state.BuildCompleted{Cancelled: true}, "worker/main.go")
	inPlace := hudtest.Took("worker-7c9d-x2v1", 2, 4100, 0.2, 0, 0.4, 0.9)
	inPlace.Stages.Restarted = 900 * time.Microsecond
	s.Build("worker", 6, 38*minute, 38*minute+sec(0.0024), state.BuildCompleted{Mode: "synclet", Synced: []string{"c-worker"}, Containers: []model.ContainerUpdate{inPlace}}, "worker/src/job.go", "worker/src/job_test.go")
	pod := hudtest.Pod("worker", 31*minute+sec(8), true)
	pod.NodeName, pod.IP, pod.Containers[0].Image = "node-1", "10.42.0.7", "shop/worker:hone-1234"
	pod.Containers[0].Restarts, pod.Containers[0].LastReason, pod.Containers[0].LastExitCode, pod.Containers[0].LastID = 2, "OOMKilled", 137, "c-before"
	pod.InitContainers = []model.Container{{Name: "migrate", ID: "c-migrate", Init: true, State: model.ContainerTerminated, Reason: "Completed", FinishedAt: hudtest.Start.Add(31*minute + sec(9))}}
	s.At(39*minute, state.PodChanged{Pod: pod})
	unready := hudtest.Pod("worker", 38*minute, false)
	unready.Name, unready.UID, unready.Containers[0].ID = "worker-7c9d-q8z2", "unready", "c-unready"
	unready.Containers[0].Started, unready.Containers[0].Probes = true, []model.ContainerProbe{{Kind: model.ProbeReadiness, Calls: "httpGet :8080/health"}}
	s.At(39*minute, state.PodChanged{Pod: unready}, state.ProbeFailed{Pod: "unready", Failure: state.ProbeFailure{Container: "main", Kind: model.ProbeReadiness,
		Answer: "HTTP probe failed with statuscode: 503", At: hudtest.Start.Add(39 * minute)}})
	s.At(39*minute, state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: objects.Applied[0].ObjectID, UID: "uid-worker", Resource: "worker", Health: model.HealthInProgress, Message: "1 of 2 updated"}}},
		state.ForwardChanged{ID: "worker/6060", Forward: state.Forward{Resource: "worker", Spec: worker.K8s.PortForwards[0], State: state.ForwardFailed, URL: "http://localhost:6060/", Err: "port 6060 is taken by pid 77"}})
	event := func(uid, reason, message string, warning bool, count int, at float64) state.KubeEvent {
		return state.KubeEvent{UID: uid, Reason: reason, Message: message, Warning: warning, Count: count, Object: model.ObjectID{Kind: "Pod", Namespace: "default", Name: "worker-7c9d-q8z2"}, ObjectUID: "unready",
			Container: "main", FirstSeen: hudtest.Start.Add(38 * minute), LastSeen: hudtest.Start.Add(38*minute + sec(at)), Source: "kubelet"}
	}
	s.At(39*minute, state.KubeEventsSeen{Events: map[model.ManifestName][]state.KubeEvent{"worker": {
		event("1", "Pulled", "Container image \"shop/worker:hone-1234\" already present on machine", false, 1, 1),
		event("2", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", true, 4, 60),
		event("3", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", true, 3, 50),
		event("4", "BackOff", "Back-off restarting failed container main in pod worker-7c9d-q8z2_default(0f2c)\nsecond line", true, 1, 55),
	}}})
	s.At(40*minute+sec(52), state.BuildStarted{Resource: "worker", Serial: 7, Reason: state.ReasonFiles | state.ReasonTrigger, Files: []string{"worker/main.go"},
		At: hudtest.Start.Add(40*minute + sec(52)), Span: "build:worker:7"})
	s.At(40*minute+sec(53), state.BuildProgressed{Resource: "worker", Serial: 7, Mode: "image", Stage: "1/3 Building Dockerfile: [shop/worker]",
		Progress: model.BuildProgress{Kind: model.StepBuild, Image: "shop/worker", Nth: 1, Images: 1, Step: 2, Steps: 3}})
	return s
}

func TestDetailsOfStory(t *testing.T) {
	v := story().View(t.Context())
	for _, name := range []model.ManifestName{"worker", "web", "e2e", "db", model.TiltfileName} {
		goldenDetails(t, v, name, hudtest.ShopTime, "story-"+strings.Trim(string(name), "()"))
	}
}

// TestRunningWaterfall follows the steps of an update while it runs.
func TestRunningWaterfall(t *testing.T) {
	const minute = time.Minute
	at := func(s float64) time.Duration { return minute + time.Duration(s*float64(time.Second)) }
	type progress = model.BuildProgress
	image := func(kind model.StepKind, percent int) progress {
		return progress{Kind: kind, Image: "api", Nth: 1, Images: 1, Percent: percent}
	}
	steps := []struct {
		mode     string
		progress progress
		from, to float64 // in seconds of the update: when it is reported, and when it is looked at
		want     string
	}{
		{"synclet", progress{}, 0, 0.1, ""},
		{"image", image(model.StepBuild, 0), 0.2, 0.3, "▏build 0 s…"},
		{"image", image(model.StepBuild, 0), 2, 3.3, "▏build 3 s…"},
		{"image", image(model.StepPush, 0), 7.4, 8.5, "▏build 7.2 ▏push 1 s…"},
		{"image", image(model.StepPush, 45), 9, 69, "▏build 7.2 ▏push 61 s…"},
		{"image", progress{Kind: model.StepApply, Waits: "busy"}, 70, 70, "▏build 7.2 ▏push 62.6 ▏apply 0 s…"},
	}
	// begun is a session in whose update the first n steps have begun.
	begun := func(n int) *hudtest.Scene {
		return one(nil, func(s *hudtest.Scene) {
			s.At(at(0), state.BuildStarted{Resource: "api", Serial: 1, At: hudtest.Start.Add(minute)})
			for _, step := range steps[:n] {
				s.At(at(step.from), state.BuildProgressed{Resource: "api", Serial: 1, Mode: step.mode, Stage: "at it", Progress: step.progress})
			}
		})
	}
	for i, step := range steps {
		got := waterfall(*state.Updates.In(begun(i + 1).View(t.Context())).Value("api").Current, hudtest.Start.Add(at(step.to)))
		if got = strings.ReplaceAll(got, "\u00a0", " "); got != step.want {
			t.Errorf("after %g s: %q, want %q", step.to, got, step.want)
		}
	}
	s := begun(len(steps))
	s.At(at(71), state.BuildCompleted{Resource: "api", Serial: 1, At: hudtest.Start.Add(at(71)), Cancelled: true})
	if b := state.Updates.In(s.View(t.Context())).Value("api").Builds[0]; !b.StepAt.IsZero() || len(b.Steps) != 0 {
		t.Errorf("an update that has ended is at a step: %+v", b)
	}
}

// TestTargets checks where the lines of each tab lead.
func TestTargets(t *testing.T) {
	v := story().View(t.Context())
	type place struct {
		text string
		Target
		folded int
	}
	var got []place
	d, _ := DetailsOf(v, "worker", hudtest.ShopTime)
	for _, want := range []struct {
		tab  TabKind
		text string
	}{
		{TabUpdates, "mailer waits"}, {TabUpdates, "#6 "}, {TabUpdates, "#4 "}, {TabUpdates, "exit code 2"}, {TabUpdates, "go generate"}, {TabPods, "worker-7c9d-x2v1"}, {TabPods, "main     "}, {TabPods, "last run"},
		{TabPods, "6060"}, {TabEvents, "Unhealthy"}, {TabEvents, "BackOff"}, {TabObjects, "Deployment"}, {TabObjects, "ConfigMap"}, {TabDefinition, "k8s_resource"}, {TabDefinition, "sync("},
		{TabGraph, "queue"}, {TabGraph, "shop/base"}, {TabGraph, "worker/Dockerfile"}, {TabGraph, "2 patterns"},
	} {
		tab := d.Tabs[want.tab]
		if tab.Kind != want.tab {
			t.Fatalf("tab %d is %q", want.tab, tab.Title)
		}
		found := false
		for _, l := range tab.Lines {
			if !found && strings.Contains(l.Cell.String(), want.text) {
				found = true
				got = append(got, place{want.text, l.Target, len(l.Folded)})
			}
		}
		if !found {
			t.Errorf("%s has no line with %q", tab.Title, want.text)
		}
	}
	span := func(s string) Target { return Target{Span: s} }
	file := func(path string, line int) Target { return Target{File: path, Line: line} }
	deployment := model.AppliedObject{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "worker"}, UID: "uid-worker"}
	pod := model.AppliedObject{ObjectID: model.ObjectID{Kind: "Pod", Namespace: "default", Name: "worker-7c9d-x2v1"}, APIVersion: "v1", UID: "pod-worker"}
	want := []place{
		{"mailer waits", Target{Resource: "mailer"}, 0}, {"#6 ", span("build:worker:6"), 2}, {"#4 ", span("build:worker:4"), 0}, {"exit code 2", span("build:worker:4"), 4},
		{"go generate", span("build:worker:2"), 3}, {"worker-7c9d-x2v1", Target{Object: pod}, 0}, {"main     ", span("pod:default/worker-7c9d-q8z2/main:c-unready"), 0},
		{"last run", span("pod:default/worker-7c9d-x2v1/main:c-before"), 0}, {"6060", Target{URL: "http://localhost:6060/"}, 0}, {"Unhealthy", Target{}, 2}, {"BackOff", Target{}, 3},
		{"Deployment", Target{Object: deployment}, 0}, {"ConfigMap", Target{}, 0}, {"k8s_resource", file("/home/dev/shop/lib/service.star", 12), 0}, {"sync(", file("/home/dev/shop/Tiltfile", 5), 0},
		{"queue", Target{Resource: "queue"}, 0}, {"shop/base", Target{Resource: "mailer"}, 0}, {"worker/Dockerfile", file("/home/dev/shop/worker/Dockerfile", 0), 0}, {"2 patterns", Target{}, 2},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	tf, _ := DetailsOf(v, model.TiltfileName, hudtest.ShopTime)
	if got := tf.Tabs[2].Lines[0].Target; got != file("/home/dev/shop/Tiltfile", 7) {
		t.Errorf("a warning leads to %+v", got)
	}
}

// TestRows checks that lines wrap at words, and words only where a row cannot hold them.
func TestRows(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  []string
	}{
		{"short", 10, []string{"short"}},
		{"one two three four", 10, []string{"one two", "  three", "  four"}},
		{"one  two", 5, []string{"one", "  two"}},
		{"", 5, []string{""}},
		{"abcdefghijklmno", 6, []string{"abcdef", "  ghij", "  klmn", "  o"}},
		{"a bcdefghijk", 6, []string{"a bcde", "  fghi", "  jk"}},
		{"日本語 日本語", 7, []string{"日本語", "  日本", "  語"}},
		{"end   ", 4, []string{"end"}},
		{"x y", 1, []string{"x", "y"}},
	} {
		var got []string
		for _, row := range (Line{Cell: plain(tc.line), Indent: 2}).Rows(tc.width) {
			got = append(got, row.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", tc.line, tc.width, diff)
		}
	}
}

// FuzzRows checks that no row is too wide and that nothing but blanks is lost.
func FuzzRows(f *testing.F) {
	f.Add("one two three", "日本語 xyz", 10, 2)
	f.Add("", "            ", 1, 9)
	f.Fuzz(func(t *testing.T, a, b string, width, indent int) {
		width, indent = 2+abs(width)%200, abs(indent)%100
		line := Line{Cell: Cell{{text.Clean(a), Bad}, {text.Clean(b), Plain}}, Indent: indent}
		all := ""
		for _, row := range line.Rows(width) {
			if w := row.Width(); w > width {
				t.Errorf("a row of %d columns at %d: %q", w, width, row)
			}
			all += row.String()
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if want := squeeze(line.Cell.String()); squeeze(all) != want {
			t.Errorf("%q became %q", want, squeeze(all))
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
