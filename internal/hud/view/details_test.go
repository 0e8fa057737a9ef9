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

func TestDetailsOfStory(t *testing.T) {
	v := hudtest.Story().View(t.Context())
	for _, name := range []model.ManifestName{"worker", "web", "e2e", "db", model.TiltfileName} {
		goldenDetails(t, v, name, hudtest.ShopTime, "story-"+strings.Trim(string(name), "()"))
	}
}

func TestDetailsOfDrift(t *testing.T) {
	v := hudtest.Drifted().View(t.Context())
	for _, name := range []model.ManifestName{"api", "web", "migrate"} {
		goldenDetails(t, v, name, hudtest.ShopTime, "drift-"+string(name))
	}
}

// TestDetailsOfEarlierSessions: a resource that has done nothing yet shows its updates in earlier sessions.
func TestDetailsOfEarlierSessions(t *testing.T) {
	at := hudtest.ShopTime.Add(-time.Hour)
	s := hudtest.Shop()
	s.At(hudtest.ShopTime.Sub(hudtest.Start), state.HistoryRecalled{Resource: "worker", Builds: []state.Build{
		{Serial: 2, Reason: state.ReasonFiles, Files: []string{"worker/main.go"}, Mode: "image", StartedAt: at, FinishedAt: at.Add(time.Second), Err: "no space"},
		{Serial: 1, Reason: state.ReasonInitial, Mode: "image", StartedAt: at.Add(-time.Hour), FinishedAt: at.Add(-time.Hour + time.Minute)}}})
	d, _ := DetailsOf(s.View(t.Context()), "worker", hudtest.ShopTime)
	_, past, found := strings.Cut(d.Text(120), "in earlier sessions")
	for _, want := range []string{"#2", "failed", "worker/main.go", "no space", "#1", "initial build"} {
		if !found || !strings.Contains(past, want) {
			t.Errorf("it lacks %q:\n%s", want, past)
		}
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
		from, to float64 // in seconds of the update: the times of the report and of the look
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
	v := hudtest.Story().View(t.Context())
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
