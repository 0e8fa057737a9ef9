package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// ci is a run of hone ci with all its output.
type ci struct {
	t              *testing.T
	code           int
	stdout, stderr string
	took           time.Duration
	summary        api.Summary
	junit          junit
	report         string // the text of the file
}

// junit is a report as parsed by readers of the JUnit format.
type junit struct {
	Suites []struct {
		Name  string     `xml:"name,attr"`
		Tests int        `xml:"tests,attr"`
		Cases []caseRead `xml:"testcase"`
	} `xml:"testsuite"`
}

type caseRead struct {
	Name    string       `xml:"name,attr"`
	Time    float64      `xml:"time,attr"`
	Failure *verdictRead `xml:"failure"`
	Error   *verdictRead `xml:"error"`
	Skipped *verdictRead `xml:"skipped"`
}

type verdictRead struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// ciCommand prepares a run of ci that prints JSON and writes report.xml.
func (p *project) ciCommand(args ...string) *exec.Cmd {
	args = append([]string{"ci", "--port", "0", "-o", "json", "--junit", "report.xml"}, args...)
	if p.namespace != "" {
		args = append(args, "--namespace", p.namespace)
	}
	return p.command(args...)
}

// ci runs ci until it ends, and checks the conditions that hold for every end.
func (p *project) ci(args ...string) *ci {
	p.t.Helper()
	c := p.ciCommand(args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	began := time.Now()
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	timer := time.AfterFunc(2*patience, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	return p.concluded(c.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began))
}

// concluded parses the output of ci: every line is an event as documented, the last one is the summary, and the file
// agrees.
func (p *project) concluded(code int, stdout, stderr string, took time.Duration) *ci {
	p.t.Helper()
	r := &ci{t: p.t, code: code, stdout: stdout, stderr: stderr, took: took}
	p.t.Cleanup(func() {
		if p.t.Failed() {
			p.t.Logf("ci ended with %d\n%s\n%s\n%s", code, stdout, stderr, r.report)
		}
	})
	if strings.Contains(stderr, "DATA RACE") {
		p.t.Error("data race")
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	for i, line := range lines {
		e := documented(p.t, line)
		if e.Seq != uint64(i+1) {
			p.t.Errorf("line %d is event %d", i+1, e.Seq)
		}
		if last := i == len(lines)-1; last != (e.Summary != nil) {
			p.t.Fatalf("line %d of %d: %s", i+1, len(lines), line)
		} else if last {
			r.summary = *e.Summary
		}
	}
	if r.summary.ExitCode != code {
		p.t.Errorf("the summary reports exit code %d, it is %d", r.summary.ExitCode, code)
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "report.xml"))
	if err != nil {
		p.t.Fatal(err)
	}
	r.report = string(text)
	if err := xml.Unmarshal(text, &r.junit); err != nil || len(r.junit.Suites) != 1 {
		p.t.Fatalf("report.xml: %v", err)
	}
	if s := r.junit.Suites[0]; s.Tests != len(s.Cases) || len(s.Cases) < len(r.summary.Resources) {
		p.t.Errorf("%d tests, %d test cases, %d resources", s.Tests, len(s.Cases), len(r.summary.Resources))
	}
	return r
}

// documented parses an event, which must be of a documented type with exactly the fields of that type.
func documented(t *testing.T, line string) api.Event {
	t.Helper()
	var e api.Event
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	i := slices.IndexFunc(api.EventTypes, func(k api.EventType) bool { return k.Name == e.Type })
	if i < 0 || e.V != api.EventVersion || e.Time.IsZero() {
		t.Fatalf("not documented: %s", line)
	}
	for f, v := range reflect.ValueOf(e).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if v.Kind() == reflect.Pointer && v.IsNil() == (name == api.EventTypes[i].Body) {
			t.Errorf("%s and %q: %s", e.Type, name, line)
		}
	}
	return e
}

// resource returns the summary of a resource.
func (r *ci) resource(name string) api.ResourceSummary {
	r.t.Helper()
	i := slices.IndexFunc(r.summary.Resources, func(s api.ResourceSummary) bool { return s.Name == name })
	if i < 0 {
		r.t.Fatalf("no summary of %s", name)
	}
	return r.summary.Resources[i]
}

// test returns the test case of a resource.
func (r *ci) test(name string) caseRead {
	r.t.Helper()
	i := slices.IndexFunc(r.junit.Suites[0].Cases, func(c caseRead) bool { return c.Name == name })
	if i < 0 {
		r.t.Fatalf("no test case of %s", name)
	}
	return r.junit.Suites[0].Cases[i]
}

// ended checks the exit code, the result and the status of each resource, "name: status".
func (r *ci) ended(code int, result string, want ...string) {
	r.t.Helper()
	var got []string
	for _, s := range r.summary.Resources {
		got = append(got, s.Name+": "+s.Status)
	}
	if r.code != code || r.summary.Result != result || !slices.Equal(got, want) {
		r.t.Errorf("ended with %d %q, resources %q, want %d %q %q", r.code, r.summary.Result, got, code, result, want)
	}
}

// waitedFor returns how long a resource waited for a reason, and whether it was still waiting.
func (r *ci) waitedFor(name, reason string) (d time.Duration, w api.Wait) {
	r.t.Helper()
	for _, w := range r.resource(name).Waits {
		if w.Reason == reason {
			return time.Duration(float64(w.Ms) * float64(time.Millisecond)), w
		}
	}
	r.t.Errorf("%s did not wait for %s: %+v", name, reason, r.resource(name).Waits)
	return 0, api.Wait{}
}

// TestCIWell makes everything ready; disabled and manual resources do not count.
func TestCIWell(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
config.define_string_list('to-run', args=True)
local_resource('gen', 'sleep 0.5; echo generated')
local_resource('srv', serve_cmd='touch up; exec sleep 100000', resource_deps=['gen'],
    readiness_probe=probe(period_secs=1, exec=exec_action(['test', '-e', 'up'])))
local_resource('seed', 'exit 9', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
local_resource('off', 'exit 9')
config.set_enabled_resources(['gen', 'srv', 'seed'])
`)
	r := p.ci()
	r.ended(0, "ok", "(Tiltfile): ok", "gen: ok", "srv: ok", "seed: skipped", "off: skipped")
	if got := r.resource("seed").Skipped + " " + r.resource("off").Skipped; got != "manual disabled" {
		t.Errorf("skipped since %s", got)
	}
	if d, w := r.waitedFor("srv", "waiting-for-dep"); d < 400*time.Millisecond || fmt.Sprint(w.On) != "[gen]" || w.Open {
		t.Errorf("srv waited %s: %+v", d, w)
	}
	if g := r.resource("gen"); g.TookMs < 500 || g.BuildMs < 500 || g.Builds != 1 || r.test("gen").Time < 0.5 {
		t.Errorf("gen: %+v, %+v", g, r.test("gen"))
	}
	if c := r.test("seed"); c.Skipped == nil || r.test("gen").Skipped != nil || r.test("gen").Failure != nil {
		t.Errorf("test cases: %+v", r.junit)
	}
	for _, want := range []string{"gen │ generated", "✔ ok", "SUCCESS. All workloads are healthy."} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("standard error lacks %q", want)
		}
	}

	c := p.command("ci", "--port", "0")
	var stdout bytes.Buffer
	c.Stdout = &stdout
	if err := c.Run(); err != nil {
		t.Error(err)
	}
	if !regexp.MustCompile(`(?s)gen │ generated.*\n✔ ok +gen +\S+s\n✔ ok +srv .* for gen to be ready.*SUCCESS`).MatchString(stdout.String()) {
		t.Errorf("as text:\n%s", &stdout)
	}
}

// TestCIFails ends on the first command that fails, with its last lines.
func TestCIFails(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('bad', r'printf "about to \033[31mfail\033[0m"; exit 3')
local_resource('later', 'true', resource_deps=['bad'])
`)
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "bad: failed", "later: unfinished")
	if got := r.resource("bad"); got.UpdateStatus != "error" || got.Problem == nil || !strings.Contains(got.Problem.Summary, "exit code 3") {
		t.Errorf("bad: %+v", got)
	}
	if f := r.test("bad").Failure; f == nil || f.Type != "update" || !strings.Contains(f.Message, "exit code 3") || !strings.Contains(f.Text, "\nabout to fail\n") {
		t.Errorf("test case: %+v", f)
	}
	if c := r.test("later"); c.Skipped == nil {
		t.Errorf("test case: %+v", c)
	}
	if !strings.Contains(r.stderr, "Error: bad: command") {
		t.Error("the error is not reported")
	}
}

// TestCIServerEnds checks that ci ends when a server does, to which the grace period of pods does not apply.
func TestCIServerEnds(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
ci_settings(k8s_grace_period='10m')
local_resource('srv', serve_cmd='echo gone; exit 4', readiness_probe=probe(period_secs=1, exec=exec_action(['false'])))
`)
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "srv: failed")
	if f := r.test("srv").Failure; f == nil || f.Type != "runtime" || !strings.Contains(f.Message, "exit code 4") || !strings.Contains(f.Text, "\ngone\n") {
		t.Errorf("test case: %+v", f)
	}
}

// TestCIServerEndsAtOnce checks that a server that ends right after its start does not count as ready.
func TestCIServerEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('srv', serve_cmd='echo gone; exit 4')
`)
	p.ci().ended(1, "failed", "(Tiltfile): ok", "srv: failed")
}

// TestCIReadiness bounds the time that a server may take to pass its probe.
func TestCIReadiness(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
ci_settings(readiness_timeout='2s')
local_resource('srv', serve_cmd='exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['false'])))
`)
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "srv: failed")
	got := r.resource("srv").Problem
	if got == nil || !strings.Contains(got.Summary, "did not get ready within 2s") || !strings.Contains(got.Mend, "readiness_timeout") || r.took < 2*time.Second {
		t.Errorf("after %s: %+v", r.took, got)
	}
}

// TestCITimeoutTells checks that ci reports the reason why each resource was waiting when the time was up.
func TestCITimeoutTells(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('fine', 'true', allow_parallel=True)
local_resource('srv', serve_cmd='exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['false'])), allow_parallel=True)
local_resource('user', 'true', resource_deps=['srv'], allow_parallel=True)
local_resource('slow', 'exec sleep 100000', allow_parallel=True)
`)
	r := p.ci("--timeout", "8s")
	r.ended(124, "timeout", "(Tiltfile): ok", "fine: ok", "srv: unfinished", "user: unfinished", "slow: unfinished")
	most := func(name string) time.Duration {
		return time.Duration(float64(r.resource(name).TookMs) * float64(time.Millisecond) / 2)
	}
	if d, w := r.waitedFor("srv", "not-ready"); d < most("srv") || !w.Open {
		t.Errorf("srv waited %s: %+v", d, w)
	}
	if d, w := r.waitedFor("user", "waiting-for-dep"); d < most("user") || !w.Open || fmt.Sprint(w.On) != "[srv]" {
		t.Errorf("user waited %s: %+v", d, w)
	}
	if got := r.resource("slow").Problem; got == nil || !strings.Contains(got.Summary, "is being updated") {
		t.Errorf("slow: %+v", got)
	}
	for name, want := range map[string]string{"srv": "is not ready", "user": "waits for srv to be ready", "slow": "is being updated"} {
		if f := r.test(name).Failure; f == nil || f.Type != "timeout" || !strings.Contains(f.Message, want) {
			t.Errorf("test case of %s: %+v", name, f)
		}
		if !regexp.MustCompile(`◌ unfinished +` + name + ` .*` + want).MatchString(r.stderr) {
			t.Errorf("the table does not say that %s %s", name, want)
		}
	}
}

// TestCITiltfile distinguishes an error in the Tiltfile from a failure of a resource.
func TestCITiltfile(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('gen', 'true', colour='red')
`)
	r := p.ci()
	r.ended(5, "tiltfile-error", "(Tiltfile): failed")
	if f := r.test("(Tiltfile)").Failure; f == nil || !strings.Contains(f.Text, "colour") {
		t.Errorf("test case: %+v", f)
	}
	p.write("Tiltfile", "local_resource('gen', 'true')")
	if r := p.ci("nobody"); r.code != 1 || r.summary.Result != "failed" {
		t.Errorf("with an unknown name: %d %s", r.code, r.summary.Result)
	}
}

// TestCIInterrupted checks that ci writes everything even if it is interrupted, or stopped from outside.
func TestCIInterrupted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end    func(p *project, c *exec.Cmd)
		code   int
		result string
	}{
		"interrupted": {func(p *project, c *exec.Cmd) { _ = c.Process.Signal(os.Interrupt) }, 130, "interrupted"},
		"stopped": {func(p *project, c *exec.Cmd) {
			if out, code := p.run("stop"); code != 0 {
				p.t.Errorf("stop: %d %s", code, out)
			}
		}, 1, "stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, `
-- Tiltfile --
local_resource('gen', 'true')
local_resource('slow', 'echo sleeping; exec sleep 100000', resource_deps=['gen'])
`)
			c := p.ciCommand()
			var stdout bytes.Buffer
			stderr := &output{}
			c.Stdout, c.Stderr = &stdout, stderr
			began := time.Now()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(2*patience, func() { _ = c.Process.Kill() })
			defer timer.Stop()
			s := &session{p: p, cmd: c, out: stderr, done: make(chan struct{})}
			s.says(`slow │ sleeping`)
			tc.end(p, c)
			_ = c.Wait()
			r := p.concluded(c.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(began))
			r.ended(tc.code, tc.result, "(Tiltfile): ok", "gen: ok", "slow: unfinished")
			if e := r.test("slow").Error; e == nil || e.Type != tc.result || !strings.Contains(e.Text, "is being updated") {
				t.Errorf("test case: %+v", e)
			}
		})
	}
}

// TestCIReportCannotBeWritten checks that this is found out before anything runs.
func TestCIReportCannotBeWritten(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local('touch evaluated')
local_resource('gen', 'touch ran')
`)
	for _, path := range []string{"nowhere/report.xml", "."} {
		out, code := p.run("ci", "--port", "0", "--junit", path)
		if code != 1 || !strings.Contains(out, "Error: cannot write "+path) {
			t.Errorf("%s: %d %s", path, code, out)
		}
	}
	for _, name := range []string{"evaluated", "ran"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			t.Errorf("it has %s", name)
		}
	}
	if out, code := p.run("ci", "--port", "0", "-o", "xml"); code != 1 || !strings.Contains(out, "choose text") {
		t.Errorf("%d %s", code, out)
	}
}

// until returns a shell command that fails before the given time, in seconds from now.
func until(seconds int) string {
	return fmt.Sprintf("echo trying; [ $(date +%%s) -ge %d ] || exit 7", time.Now().Unix()+int64(seconds))
}

// jobAndApp is a job that retries, and a Deployment whose container is restarted.
var jobAndApp = `
-- Tiltfile --
k8s_yaml(['job.yaml', 'app.yaml'])
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  backoffLimit: 5
  template:
    spec: {restartPolicy: Never, containers: [{name: job, image: busybox, command: [sh, -c, 'TRY; echo done']}]}
-- app.yaml --
` + deployment("app", `
containers:
- {name: app, image: busybox, command: [sh, -c, 'TRY; touch /up; exec sleep 100000'], readinessProbe: {exec: {command: [test, -e, /up]}, periodSeconds: 1}}
terminationGracePeriodSeconds: 0
`)

// TestCIGracePeriod lets a job and a Deployment fail at first: within the grace period that is not a failure.
func TestCIGracePeriod(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.ReplaceAll(jobAndApp, "TRY", until(12)))
	p.write("Tiltfile", "ci_settings(k8s_grace_period='3m')\nk8s_yaml(['job.yaml', 'app.yaml'])")
	r := p.ci()
	r.ended(0, "ok", "(Tiltfile): ok", "job: ok", "app: ok")
	if app := r.resource("app"); app.Restarts == 0 {
		t.Errorf("app: %+v", app)
	}
	if !strings.Contains(r.stdout, `"type":"pod-failing"`) || !strings.Contains(r.stderr, "job │ done") {
		t.Error("nothing has failed in between")
	}
}

// TestCIGracePeriodEnds checks that a container that is restarted repeatedly fails when the grace period is over.
func TestCIGracePeriodEnds(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.ReplaceAll(jobAndApp, "TRY", until(3600)))
	p.write("Tiltfile", "ci_settings(k8s_grace_period='15s')\nk8s_yaml('app.yaml')")
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "app: failed")
	app := r.resource("app")
	if app.RuntimeStatus != "error" || app.Restarts == 0 || app.Problem == nil || !strings.Contains(app.Problem.Summary, "container app") {
		t.Errorf("app: %+v, problem %+v", app, app.Problem)
	}
	if r.took < 15*time.Second {
		t.Errorf("it took only %s", r.took)
	}
	if f := r.test("app").Failure; f == nil || f.Type != "runtime" || !strings.Contains(f.Text, "\ntrying\n") {
		t.Errorf("test case: %+v", f)
	}
}

// TestCIJobFails checks that there is no grace period for a job that Kubernetes reports as failed.
func TestCIJobFails(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(strings.ReplaceAll(jobAndApp, "TRY", until(3600)), "backoffLimit: 5", "backoffLimit: 0", 1))
	p.write("Tiltfile", "ci_settings(k8s_grace_period='30m')\nk8s_yaml('job.yaml')")
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "job: failed")
	if f := r.test("job").Failure; f == nil || !strings.Contains(f.Text, "trying") {
		t.Errorf("test case: %+v", f)
	}
}

// TestCISecrets keeps the values of Secrets out of all reports of a failure.
func TestCISecrets(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('secret.yaml')
k8s_resource(new_name='secrets', objects=['keys:secret'])
local_resource('leak', 'echo log `+secret+`; exit 3 # `+secret+`', resource_deps=['secrets'])
-- secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: `+secret+`}
`)
	r := p.ci()
	r.ended(1, "failed", "(Tiltfile): ok", "secrets: ok", "leak: failed")
	for what, text := range map[string]string{"standard output": r.stdout, "standard error": r.stderr, "report.xml": r.report} {
		if strings.Contains(text, secret) || !strings.Contains(text, "[redacted secret keys:password]") {
			t.Errorf("%s reveals the secret", what)
		}
	}
}
