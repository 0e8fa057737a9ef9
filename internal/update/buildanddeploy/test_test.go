package buildanddeploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/verdict"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTestsRun runs tests, and counts how often each has waited for changes of files.
func TestTestsRun(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		timeout      time.Duration
		void         bool
		want         string
		ran          bool
		waits        int
	}{
		{"passes", "touch ran", 0, false, "", true, 2},
		{"fails", "touch ran; exit 3", time.Minute, false, "failed: exit code 3", true, 2},
		{"takes too long", "touch ran; exec sleep 60", 2 * time.Second, false, "was ended: it has not ended after 2s, the timeout_secs of the test", true, 2},
		{"comes too late", "touch ran", 0, true, "have changed meanwhile", false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, waits := t.TempDir(), 0
			m := model.Manifest{Name: "t", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"sh", "-c", tc.script}, Dir: dir}, Test: &model.Test{Timeout: tc.timeout}}}
			r, err := Local{}.BuildAndDeploy(t.Context(), Request{Manifest: m, Log: logstore.Discard, Commit: func() {}, Progress: func(string, string, model.BuildProgress) {},
				Settled: func(context.Context) { waits++ }, Test: &TestRun{Inputs: verdict.Inputs{Test: m}, Holds: func() bool { return !tc.void }}})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || r.Deployed != (tc.want == "") {
				t.Errorf("error %q, passed %v; want %q", got, r.Deployed, tc.want)
			}
			_, missing := os.Stat(filepath.Join(dir, "ran"))
			if ran := missing == nil; ran != tc.ran || waits != tc.waits {
				t.Errorf("it ran: %v, and waited %d times; want %v, %d", ran, waits, tc.ran, tc.waits)
			}
		})
	}
}

// TestPassedTestsAreKnown changes one input after the other, and expects the test to run each time, and never twice with the same ones.
func TestPassedTestsAreKnown(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("check.sh", "echo run >> runs")
	write("dep", "1")
	m := model.Manifest{Name: "t", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"sh", "check.sh"}, Dir: dir}, Test: &model.Test{},
		Watch: model.WatchSpec{Paths: []string{filepath.Join(dir, "dep")}}}}
	api := verdict.Need{Declared: model.Manifest{Name: "api", K8s: &model.K8sTarget{}}, Images: []string{"api:1"}, Files: []string{filepath.Join(dir, "copied")}}
	run := &TestRun{Inputs: verdict.Inputs{Test: m, Needs: []verdict.Need{api}}, Known: true, Holds: func() bool { return true }}
	kept := t.TempDir()
	runs := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return strings.Count(string(text), "run")
	}
	for _, tc := range []struct {
		name   string
		change func()
		ran    bool
	}{
		{"the first time", func() {}, true},
		{"the same", func() {}, false},
		{"a file of deps", func() { write("dep", "2") }, true},
		{"its own script", func() { write("check.sh", "echo run >> runs; true") }, true},
		{"another image", func() { run.Inputs.Needs[0].Images = []string{"api:2"} }, true},
		{"a copied file", func() { write("copied", "2") }, true},
		{"the copied file again", func() { write("copied", "3") }, true},
		{"as it was", func() { write("copied", "2") }, false},
		{"an object", func() { run.Inputs.Needs[0].Declared.K8s = &model.K8sTarget{Objects: []model.K8sObject{{JSON: "{}"}}} }, true},
		{"its environment", func() { run.Inputs.Test.Local.Update.Env = []string{"A=1"} }, true},
		{"it fails", func() { write("check.sh", "echo run >> runs; exit 1") }, true},
		{"a failure is not kept", func() {}, true},
		{"mended", func() { write("check.sh", "echo run >> runs; true") }, false},
		{"the user wants a run", func() { run.Known = false }, true},
		{"others have changed the cluster", func() { run.Known, run.Inputs.Unknown = true, true }, true},
		{"which is never known", func() {}, true},
		{"nothing is declared", func() {
			run.Inputs.Unknown, run.Inputs.Needs, run.Inputs.Test.Local.Watch = false, nil, model.WatchSpec{}
		}, true},
		{"nor then", func() {}, true},
	} {
		tc.change()
		before := runs()
		r, err := Local{Verdicts: verdict.NewMemory(kept)}.BuildAndDeploy(t.Context(), Request{Manifest: run.Inputs.Test, Log: logstore.Discard, Commit: func() {},
			Progress: func(string, string, model.BuildProgress) {}, Test: run})
		if ran := runs() > before; ran != tc.ran || r.Verdict == nil || r.Verdict.Cached == tc.ran {
			t.Errorf("%s: ran %v, want %v; %+v, %v", tc.name, ran, tc.ran, r.Verdict, err)
		}
	}
}

// TestSingleTests reads the single tests in the output of a command, and in the files that it has written itself.
func TestSingleTests(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.xml")
	if err := os.WriteFile(old, []byte(`<testsuite name="s"><testcase name="old"/></testsuite>`), 0o644); err != nil {
		t.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	script := `echo 1..1; echo ok 1 - said; echo '<testsuite name="s"><testcase name="written"/></testsuite>' >new.xml`
	m := model.Manifest{Name: "t", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"sh", "-c", script}, Dir: dir},
		Test: &model.Test{Results: []string{filepath.Join(dir, "*.xml")}}}}
	r, err := Local{}.BuildAndDeploy(t.Context(), Request{Manifest: m, Log: logstore.Discard, Commit: func() {}, Progress: func(string, string, model.BuildProgress) {},
		Test: &TestRun{Inputs: verdict.Inputs{Test: m}, Holds: func() bool { return true }}})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.TestCase{{Name: "said", Result: model.CasePassed}, {Suite: "s", Name: "written", Result: model.CasePassed}}
	if diff := cmp.Diff(want, r.Verdict.Cases); diff != "" {
		t.Errorf("single tests (-want +got):\n%s", diff)
	}
}
