package cireport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a session of ci without the code of its end.
var session = state.SessionStarted{Session: state.Session{Command: state.CommandCI, Tiltfile: "/src/shop/Tiltfile"}}

// hold returns a change of a resource's wait.
func hold(name, reason, text, was string, lasted time.Duration, on ...model.ManifestName) state.HoldsChanged {
	return state.HoldsChanged{Changes: []state.HoldChange{{Resource: model.ManifestName(name), Reason: reason, Text: text, On: on, Was: was, For: lasted}}}
}

func crashing(name, pod string, restarts int) state.PodChanged {
	p := statetest.Pod(name, pod, "c", "i")
	p.Pod.Ready, p.Pod.Status = false, "CrashLoopBackOff"
	p.Pod.Containers[0].State, p.Pod.Containers[0].Reason, p.Pod.Containers[0].Restarts = model.ContainerWaiting, "CrashLoopBackOff", restarts
	return p
}

// declared returns a Tiltfile with three resources that count and two that do not.
func declared() state.TiltfileLoaded {
	manual := statetest.Local("seed")
	manual.AutoInit = false
	l := statetest.Loaded(statetest.Local("gen"), statetest.K8s("db"), statetest.K8s("api"), manual, statetest.Local("docs"))
	l.Result.Enabled = []model.ManifestName{"gen", "db", "api", "seed"}
	l.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter22"}}
	l.At = statetest.Epoch.Add(1500 * time.Millisecond)
	return l
}

// scenarios are sessions, with how each ended.
var scenarios = []struct {
	name    string
	outcome Outcome
	play    func(s *statetest.State)
}{
	{"ok", Outcome{Result: ResultOK}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, declared()).Then(statetest.Connected()...).Then(hold("api", "waiting-for-dep", "waits for db to be ready", "", 0, "db"))
		s.Deployed("gen").Then(state.ResourcesReady{Names: []model.ManifestName{"gen"}})
		s.Deployed("db").Then(crashing("db", "db-1", 2), statetest.Healthy("db"), statetest.Pod("db", "db-2", "c2", "i"), state.PodGone{Pod: crashing("db", "db-1", 2).Pod.Pod})
		s.Then(state.ResourcesReady{Names: []model.ManifestName{"db"}}, hold("api", "waiting-for-cluster", "waits for the cluster to answer", "waiting-for-dep", 9*time.Second))
		s.Then(hold("api", "waiting-for-dep", "waits for db to be ready", "waiting-for-cluster", 400*time.Microsecond, "db"), hold("api", "", "", "waiting-for-dep", time.Second))
		s.Deployed("api").Then(statetest.Healthy("api"), statetest.Pod("api", "api-1", "c3", "i"), state.ResourcesReady{Names: []model.ManifestName{"api"}}, state.SessionEnded{})
	}},
	{"failed", Outcome{Result: ResultFailed, Code: 1, Failure: "gen: command \"make\" failed: exit code 2"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, declared()).Then(statetest.Connected()...).Then(hold("api", "waiting-for-dep", "waits for db to be ready", "", 0, "db"))
		s.Deployed("db").Then(crashing("db", "db-1", 4))
		s.Begin("gen").Finish("gen", func(b *state.BuildCompleted) {
			b.Err = "command \"make\" failed: exit code 2"
			b.Problem = &state.Problem{Summary: "command \"make\" failed", Cause: "exit code 2", Detail: "make: *** no rule, password hunter22", Mend: "edit the Makefile"}
		})
		s.Then(state.SessionEnded{Failure: "gen: command \"make\" failed: exit code 2", Cause: state.EndResource, Resource: "gen"})
	}},
	{"not-ready", Outcome{Result: ResultFailed, Code: 1, Failure: "db did not get ready within 5m0s: db-1\n  raise the limit"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, declared()).Then(statetest.Connected()...)
		s.Deployed("db").Begin("api").Then(state.BuildProgressed{Resource: "api", Serial: 1, Stage: "building image api"})
		s.Then(state.SessionEnded{Failure: "db did not get ready within 5m0s: db-1\n  raise the limit", Cause: state.EndResource, Resource: "db"})
	}},
	{"timeout", Outcome{Result: ResultTimeout, Code: 124, Failure: "timed out after 30m0s: db is rolling out; password hunter22"}, func(s *statetest.State) {
		api := declared()
		api.Result.Manifests[2].ResourceDeps = []model.ManifestName{"db"}
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, api).Then(statetest.Connected()...)
		s.Then(hold("api", "waiting-for-dep", "waits for db to be ready", "", 0, "db")).Deployed("gen").Deployed("db")
		s.Then(state.SessionEnded{Failure: "timed out", Cause: state.EndTimeout})
	}},
	{"tiltfile", Outcome{Result: ResultTiltfile, Code: 5, Failure: "Tiltfile:3: no such function"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: s.Now}, state.TiltfileLoaded{Err: "Tiltfile:3: no such function\n  k8s_yml()", At: s.Now.Add(time.Second)})
		s.Then(state.SessionEnded{Failure: "Tiltfile:3: no such function", Cause: state.EndTiltfile, Resource: model.TiltfileName})
	}},
	{"interrupted", Outcome{Result: ResultInterrupted, Code: 130, Failure: "the session was interrupted"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, declared()).Deployed("gen")
	}},
	{"interrupted-early", Outcome{Result: ResultInterrupted, Code: 130, Failure: "the session was interrupted"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: s.Now})
	}},
	{"no-cluster", Outcome{Result: ResultFailed, Code: 1, Failure: "cannot reach cluster"}, func(s *statetest.State) {
		s.Then(state.TiltfileStarted{At: statetest.Epoch}, declared(), state.ClusterReported{Err: "cannot reach cluster"}).Deployed("gen")
		s.Then(state.SessionEnded{Failure: "cannot reach cluster", Cause: state.EndOutside})
	}},
}

// summaries returns the summary of each scenario.
func summaries() map[string]api.Summary {
	out := map[string]api.Summary{}
	for _, sc := range scenarios {
		s := statetest.New(session)
		sc.play(s)
		var t Tally
		c := events.Cursor{}
		list, _ := c.Next(s.View(), 1<<20)
		for _, e := range list {
			t.Take(e)
		}
		sc.outcome.At = s.Now
		out[sc.name] = Summarize(s.View(), &t, sc.outcome)
	}
	return out
}

func logs(resource string) []string {
	return []string{"\x1b[31mthe last line of " + resource + "\x1b[0m", "a ]]> b \x07\uffff"}
}

// TestGoldens compares the reports of sessions with golden files: the table, JUnit's format, the summary as JSON.
func TestGoldens(t *testing.T) {
	for name, s := range summaries() {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Text(&got, "hone ci", s); err != nil {
				t.Fatal(err)
			}
			doc, err := JUnit(s, logs)
			if err != nil {
				t.Fatal(err)
			}
			js, err := json.MarshalIndent(s, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "\n%s\n%s\n", doc, js)
			if strings.Contains(got.String(), "hunter22") {
				t.Error("a secret is printed")
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got), -update rewrites:\n%s", diff)
			}
		})
	}
}

// TestJUnitIsNeverGreen reads the files back: only a successful session has neither a failure nor an error, the numbers
// match the test cases, and every resource appears once.
func TestJUnitIsNeverGreen(t *testing.T) {
	all := summaries()
	all["an error of hone's own"] = api.Summary{Result: ResultFailed, Failure: "these did not end in their time", Resources: []api.ResourceSummary{{Name: "web", Status: statusOK}}}
	for name, s := range all {
		doc, err := JUnit(s, logs)
		if err != nil {
			t.Fatal(err)
		}
		var read suites
		if err := xml.Unmarshal(doc, &read); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
		one := read.Suites[0]
		var got totals
		var names []string
		for _, c := range one.Cases {
			got.Tests++
			verdicts := 0
			for _, v := range []struct {
				is    bool
				count *int
			}{{c.Failure != nil, &got.Failures}, {c.Error != nil, &got.Errors}, {c.Skipped != nil, &got.Skipped}} {
				if v.is {
					*v.count++
					verdicts++
				}
			}
			if verdicts > 1 || c.Name == "" || c.Class == "" {
				t.Errorf("%s: %+v", name, c)
			}
			names = append(names, c.Name)
		}
		got.Time = one.Time
		if got != one.totals || got != read.totals {
			t.Errorf("%s: %+v and %+v are told, there are %+v", name, read.totals, one.totals, got)
		}
		if green := got.Failures+got.Errors == 0; green != (s.Result == ResultOK) {
			t.Errorf("%s: %s looks green: %v", name, s.Result, green)
		}
		for _, r := range s.Resources {
			if !slices.Contains(names, r.Name) {
				t.Errorf("%s: %s is missing", name, r.Name)
			}
		}
	}
}

// slow takes a few bytes at a time, and fails in between.
type slow struct {
	bytes.Buffer
	calls int
}

var errSlow = errors.New("try again")

func (s *slow) Write(p []byte) (int, error) {
	if s.calls++; s.calls%2 == 0 {
		return 0, errSlow
	}
	n := min(len(p), 100)
	s.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errSlow
	}
	return n, nil
}

// TestReporter prints every event once, whole and without secrets, then the summary, even if printing fails in between.
func TestReporter(t *testing.T) {
	s := statetest.New(session, declared()).Begin("gen").Finish("gen", func(b *state.BuildCompleted) { b.Err = "hunter22 is wrong" })
	out := &slow{}
	r := New(out)
	for r.Drain(s.View()) != nil {
	}
	s.Deployed("gen")
	end := s.View()
	s.Then(state.SessionEnded{})
	for r.Drain(s.View()) != nil {
	}
	sum, err := r.Summarize(end, s.View(), Outcome{Result: ResultStopped, Code: 1, At: s.Now})
	if !errors.Is(err, errSlow) {
		t.Fatalf("summarize: %v", err)
	}
	for r.Drain(s.View()) != nil {
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, line := range lines {
		var e api.Event
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		if e.Seq != uint64(i+1) || e.V != api.EventVersion {
			t.Errorf("line %d is event %d, version %d", i, e.Seq, e.V)
		}
		if last := i == len(lines)-1; last != (e.Type == "summary") || last && !cmp.Equal(*e.Summary, sum) {
			t.Errorf("line %d: %s", i, line)
		}
	}
	if strings.Contains(out.String(), "hunter22") {
		t.Error("a secret is printed")
	}
	if !strings.Contains(out.String(), "session-ended") {
		t.Error("an event after the end is missing")
	}
	if sum.Resources[1].Builds != 2 || sum.Resources[1].Status != statusOK {
		t.Errorf("summary: %+v", sum.Resources[1])
	}
}

// TestReporterRuns follows the store until it is stopped.
func TestReporterRuns(t *testing.T) {
	var out bytes.Buffer
	r := New(&out)
	a := statetest.Start(t, r)
	a.Dispatch(session, declared(), state.SessionEnded{})
	a.Until("the session has ended", func(v store.View) bool {
		s := state.TheSession(v)
		return s.Ended != nil
	})
	a.Stop()
	if got := strings.Count(out.String(), "\n"); got != 2 || !strings.Contains(out.String(), "session-ended") {
		t.Errorf("%d lines:\n%s", got, &out)
	}
}

// TestTally counts events that are missing, and waits that come again.
func TestTally(t *testing.T) {
	at := statetest.Epoch
	held := func(seconds int, reason, was string, ms api.Milliseconds) api.Event {
		h := &api.HoldEvent{Reason: reason, Was: was, WasMs: ms}
		if reason != "" {
			h.Text = "waits for " + reason
		}
		return api.Event{Time: at.Add(time.Duration(seconds) * time.Second), Resource: "a", Type: "hold-changed", Hold: h}
	}
	var tally Tally
	for _, e := range []api.Event{
		{Type: "gap", Gap: &api.GapEvent{Missed: 7}}, {Type: "gap", Gap: &api.GapEvent{Missed: 1}},
		held(0, "x", "", 0), held(1, "y", "x", 1000), held(3, "x", "y", 2000), held(6, "", "x", 3000),
		held(10, "x", "", 0),
	} {
		tally.Take(e)
	}
	want := []api.Wait{{Reason: "x", Text: "waits for x", Ms: 9000, Open: true}, {Reason: "y", Text: "waits for y", Ms: 2000}}
	for range 2 { // asking changes nothing
		if diff := cmp.Diff(want, tally.of("a").until(at.Add(15*time.Second), false, "")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	early := []api.Wait{{Reason: "x", Text: "waits for x", Ms: 4000, Open: true}, {Reason: "y", Text: "waits for y", Ms: 2000}}
	if diff := cmp.Diff(early, tally.of("a").until(at.Add(10*time.Second-30*time.Microsecond), false, "")); diff != "" {
		t.Errorf("an end before the wait (-want +got):\n%s", diff)
	}
	if tally.missed != 8 {
		t.Errorf("missed %d events", tally.missed)
	}
}

// TestTallyOfImagesBuiltAhead counts the time to get ready from the deploy on, and the wait before it once, whatever was built meanwhile.
func TestTallyOfImagesBuiltAhead(t *testing.T) {
	at := func(seconds int) time.Time { return statetest.Epoch.Add(time.Duration(seconds) * time.Second) }
	var tally Tally
	wait := func(text string, ms api.Milliseconds) *api.HoldEvent {
		return &api.HoldEvent{Reason: "waiting-for-dep", Text: text, On: []string{"db"}, WasMs: ms}
	}
	for _, e := range []api.Event{
		{Time: at(1), Resource: "a", Hold: wait("waits for db to be ready", 0)},
		{Time: at(5), Resource: "a", Type: "update-finished", Update: &api.UpdateEvent{BuildOnly: true, TookMs: 5000}},
		{Time: at(5), Resource: "a", Hold: wait("built, waits for db to be ready", 4000)},
		{Time: at(20), Resource: "a", Hold: &api.HoldEvent{WasMs: 15000}},
		{Time: at(20), Resource: "a", Type: "update-finished", Update: &api.UpdateEvent{TookMs: 100}},
		{Time: at(23), Resource: "a", Ready: &api.ReadyEvent{AfterMs: 23000}},
	} {
		tally.Take(e)
	}
	want := []api.Wait{{Reason: "waiting-for-dep", Text: "waits for db to be ready", On: []string{"db"}, Ms: 19000},
		{Reason: notReady, Text: "waits to get ready", Ms: 3000}}
	if diff := cmp.Diff(want, tally.of("a").until(at(30), true, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOpen refuses files that cannot be written, and makes written files readable by all users.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.xml")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{dir, filepath.Join(dir, "nowhere", "report.xml"), filepath.Join(path, "report.xml")} {
		if _, err := Open(bad); err == nil {
			t.Errorf("%s can be written", bad)
		} else if p, ok := problem.Of(err); !ok || p.Mend == "" || !strings.Contains(p.Summary, bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestManySkipped: of many resources that were skipped for the same reason, the table has one line.
func TestManySkipped(t *testing.T) {
	s := api.Summary{Result: ResultOK, Resources: []api.ResourceSummary{{Name: "(Tiltfile)", Status: statusOK}, {Name: "one", Status: statusOK}}}
	for i := range 48 {
		s.Resources = append(s.Resources, api.ResourceSummary{Name: fmt.Sprint("r", i), Status: statusSkipped, Skipped: "disabled"})
	}
	s.Resources = append(s.Resources, api.ResourceSummary{Name: "seed", Status: statusSkipped, Skipped: "manual"})
	var got bytes.Buffer
	if err := Text(&got, "hone ci", s); err != nil {
		t.Fatal(err)
	}
	want := []string{"hone ci: ok after 0s: 1 ok, 49 skipped", "  STATUS   RESOURCE                TOOK  WAITED  ERROR", "✔ ok       (Tiltfile)              0s", "✔ ok       one                     0s",
		"– skipped  r0, r1, r2 and 45 more                disabled", "– skipped  seed                                  manual"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(got.String()), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
