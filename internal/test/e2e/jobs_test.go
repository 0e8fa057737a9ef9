package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestJobs checks that ci follows the status of a Job in Kubernetes, whatever its containers and pods do, and however
// soon it removes itself; dependent resources begin when it is complete.
func TestJobs(t *testing.T) {
	t.Parallel()
	const second = `test -e /state/x || { touch /state/x; exit 7; }; sleep 1`
	for name, tt := range map[string]struct {
		spec, policy, script string
		args                 []string
		fails                string // part of the reason of the failure, empty if it does not fail
	}{
		"never":                               {policy: "Never", script: "sleep 3"},
		"never, fails":                        {spec: "backoffLimit: 0", policy: "Never", script: "sleep 1; exit 7", fails: "BackoffLimitExceeded"},
		"never, a later pod succeeds":         {spec: "backoffLimit: 5", policy: "Never", script: until(15)},
		"on failure":                          {policy: "OnFailure", script: "sleep 3"},
		"on failure, a second try succeeds":   {policy: "OnFailure", script: second},
		"on failure, fails":                   {spec: "backoffLimit: 1", policy: "OnFailure", script: "exit 7", fails: "BackoffLimitExceeded"},
		"removed at once":                     {spec: "ttlSecondsAfterFinished: 0", policy: "Never", script: "sleep 1"},
		"removed at once, when it is short":   {spec: "ttlSecondsAfterFinished: 0", policy: "Never", script: "true"},
		"removed at once, after a failure":    {spec: "backoffLimit: 0\n  ttlSecondsAfterFinished: 0", policy: "Never", script: "exit 7", fails: "BackoffLimitExceeded"},
		"removed at once, after a retry":      {spec: "ttlSecondsAfterFinished: 0", policy: "OnFailure", script: second},
		"removed later, what follows is slow": {spec: "ttlSecondsAfterFinished: 5", policy: "Never", script: "sleep 1"},
		"indexed":                             {spec: "completions: 3\n  parallelism: 1\n  completionMode: Indexed", policy: "Never", script: "sleep 1"},
		"too late":                            {spec: "activeDeadlineSeconds: 2", policy: "Never", script: "sleep 1000", fails: "DeadlineExceeded"},
		"suspended":                           {spec: "suspend: true", policy: "Never", script: "true", args: []string{"--timeout", "15s"}, fails: "is suspended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `
-- Tiltfile --
k8s_yaml('job.yaml')
local_resource('after', 'date +%s > after; sleep PAUSE', resource_deps=['job'])
`)
			p.replace("Tiltfile", "PAUSE", map[bool]string{true: "12", false: "0"}[strings.Contains(name, "slow")])
			spec := tt.spec
			if spec == "" {
				spec = "backoffLimit: 6"
			}
			p.write("job.yaml", fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  %s
  template:
    spec:
      restartPolicy: %s
      terminationGracePeriodSeconds: 0
      volumes: [{name: state, emptyDir: {}}]
      containers:
      - {name: job, image: busybox, command: [sh, -c, %q], volumeMounts: [{name: state, mountPath: /state}]}
`, spec, tt.policy, tt.script+"; echo done"))
			r := p.ci(tt.args...)
			if tt.fails != "" {
				want := 1
				if len(tt.args) > 0 {
					want = 124 // it waits until the time is up, and reports the reason
				}
				if r.code != want || !strings.Contains(r.stderr, tt.fails) {
					t.Errorf("exit code %d, want %d and %q", r.code, want, tt.fails)
				}
				if _, err := os.Stat(filepath.Join(p.dir, "after")); err == nil {
					t.Error("what depends on it has begun")
				}
				return
			}
			r.ended(0, "ok", "(Tiltfile): ok", "job: ok", "after: ok")
			if !strings.Contains(r.stderr, "job │ done") {
				t.Error("what its container said is missing")
			}
			b, err := os.ReadFile(filepath.Join(p.dir, "after"))
			if err != nil {
				t.Fatal(err)
			}
			began, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(spec, "ttl") {
				return
			}
			job := p.object("batch", "v1", "jobs", "job")
			text, _, _ := unstructured.NestedString(job.Object, "status", "completionTime")
			done, err := time.Parse(time.RFC3339, text)
			if err != nil || began < done.Unix() {
				t.Errorf("what depends on it began at %d, and it was complete at %s (%v)", began, text, err)
			}
		})
	}
}
