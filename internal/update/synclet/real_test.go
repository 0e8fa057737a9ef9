//go:build linux

package synclet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/liveupdate/liveupdatetest"
	"github.com/hone-dev/hone/pkg/model"
)

// container is a real container, with a local folder that is synced to its /app.
type container struct {
	testing.TB
	local  string
	client *k8s.Client
	pool   *Pool
	report liveupdate.Report
	model.ContainerRef
	log bytes.Buffer
}

// exec runs a script in the container.
func (c *container) exec(ctx context.Context, script string, out io.Writer) error {
	return c.client.Exec(ctx, k8s.ExecRequest{
		Namespace: c.Namespace, Pod: c.Pod, Container: c.ContainerRef.Name, Argv: []string{"sh", "-c", script}, Stdout: out, Stderr: out,
	})
}

// newContainer runs a pod whose container edit may change.
func newContainer(t testing.TB, edit func(*corev1.Container)) *container {
	t.Helper()
	return newPod(t, func(p *corev1.PodSpec) { edit(&p.Containers[0]) })
}

// newPod runs a pod that edit may change.
func newPod(t testing.TB, edit func(*corev1.PodSpec)) *container {
	t.Helper()
	real := k8stest.NewReal(t)
	core, err := corev1client.NewForConfigAndClient(real.Client.RESTConfig(), real.Client.HTTPClient())
	check(t, err)
	grace, token := int64(0), false
	spec := corev1.Container{Name: "main", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{"sh", "-c", "while :; do sleep 3600; done"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: &grace, AutomountServiceAccountToken: &token, Containers: []corev1.Container{spec}}}
	edit(&pod.Spec)
	k8stest.Eventually(t, "the pod is created", func() error {
		_, err := core.Pods(real.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	c := &container{TB: t, local: t.TempDir(), client: real.Client}
	k8stest.Eventually(t, "the pod runs", func() error {
		p, err := core.Pods(real.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && (len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Running == nil) {
			err = fmt.Errorf("phase %s", p.Status.Phase)
		}
		if err == nil {
			c.ID = p.Status.ContainerStatuses[0].ContainerID
		}
		return err
	})
	c.ContainerRef = model.ContainerRef{Namespace: real.Namespace, Pod: "web", Name: "main", ID: c.ID, Image: "busybox",
		Syncs: []model.Sync{{LocalPath: c.local, RemotePath: "/app"}}}
	c.pool = NewPool(c.client)
	t.Cleanup(c.pool.Close)
	return c
}

func (c *container) update(plan liveupdate.Plan) (err error) {
	c.report, err = c.pool.Update(c.Context(), c.ContainerRef, plan, logstore.Func(func(_ logstore.Level, text string) { c.log.WriteString(text) }))
	return err
}

func (c *container) copies(names ...string) (plan liveupdate.Plan) {
	for _, n := range names {
		plan.Copies = append(plan.Copies, liveupdate.Copy{Local: filepath.Join(c.local, n), Remote: "/app/" + n})
	}
	return plan
}

func (c *container) ask(script string) string {
	c.Helper()
	var out bytes.Buffer
	if err := c.exec(c.Context(), script, &out); err != nil {
		c.Fatalf("%s: %v\n%s", script, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// place is the container for a conformance suite.
func (c *container) place() liveupdatetest.Place {
	c.Syncs[0].RemotePath = "/"
	return liveupdatetest.Place{Updater: c.pool, Container: c.ContainerRef, Ask: func(t *testing.T, script string) string {
		t.Helper()
		var out bytes.Buffer
		if err := c.exec(t.Context(), script, &out); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out.String())
		}
		return out.String()
	}}
}

// TestRealConformance is the suite that updates through exec and through the engine also pass.
func TestRealConformance(t *testing.T) {
	liveupdatetest.Conformance(t, newContainer(t, func(*corev1.Container) {}).place())
}

func TestRealKinds(t *testing.T) {
	c := newContainer(t, func(*corev1.Container) {})
	p := c.place()
	p.Container.Syncs[0].RemotePath = "/app/kinds"
	liveupdatetest.KindsConformance(t, p, c.local, "/app/kinds")
}

// TestRealRestarts begins the conversation before there is a supervisor.
func TestRealRestarts(t *testing.T) {
	c := newContainer(t, func(s *corev1.Container) { s.Command = liveupdatetest.Restarting })
	liveupdatetest.RestartConformance(t, c.place())
}

func TestRealUpdate(t *testing.T) {
	c := newContainer(t, func(*corev1.Container) {})
	writeFile(t, filepath.Join(c.local, "d/a"), "one", 0o640)
	plan := c.copies("d/a")
	plan.Runs = []model.Run{{Cmd: model.Cmd{Argv: []string{"sh", "-c", "echo ran in $PWD"}}}}
	if err := c.update(plan); err != nil {
		t.Fatal(problem.Text(err))
	}
	if got := c.ask("cat /app/d/a; stat -c ' %a' /app/d/a; find / -xdev -name '.hone*'"); got != "one 640" {
		t.Errorf("the container has %q", got)
	}
	for _, want := range []string{"Will copy 1 file(s) to container: [main]", "ran in /"} {
		if !strings.Contains(c.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, c.log.String())
		}
	}
	if r := c.report; r.Files != 1 || r.Bytes != 3 || r.Sent.IsZero() || r.Applied.Before(r.Sent) || r.Ran.Before(r.Applied) {
		t.Errorf("the update reports %+v", r)
	}
	check(t, c.update(c.copies("d/a")))
	if r := c.report; r.Files != 0 || r.Same != 1 || !r.Sent.IsZero() {
		t.Errorf("sending again what is there reports %+v", r)
	}
	check(t, c.update(liveupdate.Plan{Deletes: []string{"/app/d/a", "/app/d"}}))
	if got := c.ask("ls -A /app"); got != "" || c.report.Deletes != 2 {
		t.Errorf("the container has %q; log:\n%s", got, c.log.String())
	}
}

// TestRealBroken kills the synclet inside: the next update resumes the conversation.
func TestRealBroken(t *testing.T) {
	c := newContainer(t, func(*corev1.Container) {})
	for i := range 3 {
		writeFile(t, filepath.Join(c.local, "a"), fmt.Sprint(i), 0o644)
		check(t, c.update(c.copies("a")))
		if got := c.ask("cat /app/a; for p in /proc/[0-9]*; do case $(readlink $p/exe) in */.hone-synclet*) kill -9 ${p#/proc/};; esac; done"); got != fmt.Sprint(i) {
			t.Errorf("the container has %q", got)
		}
	}
}

// TestRealAgain starts the program of a synclet that runs, and finds none after its end.
func TestRealAgain(t *testing.T) {
	c := newContainer(t, func(*corev1.Container) {})
	writeFile(t, filepath.Join(c.local, "a"), "one", 0o644)
	check(t, c.update(c.copies("a")))
	other := NewPool(c.client)
	t.Cleanup(other.Close)
	s, err := other.openAgain(t.Context(), c.ContainerRef)
	check(t, err)
	if s == nil {
		t.Fatal("no synclet was found")
	}
	b := Batch{Puts: []Put{{Local: filepath.Join(c.local, "a"), Remote: "/app/b"}}}
	if rep, err := s.Apply(t.Context(), b); err != nil || rep.Files != 1 || c.ask("cat /app/b") != "one" {
		t.Errorf("%+v, %v", rep, err)
	}
	check(t, s.Close())
	c.pool.Close()
	eventually(t, "no synclet runs", func() bool {
		s, err := other.openAgain(t.Context(), c.ContainerRef)
		check(t, err)
		if s != nil {
			_ = s.Close()
		}
		return s == nil
	})
}

func TestRealReadOnly(t *testing.T) {
	yes := true
	c := newContainer(t, func(s *corev1.Container) { s.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: &yes} })
	writeFile(t, filepath.Join(c.local, "a"), "x", 0o644)
	err := c.update(c.copies("a"))
	if liveupdate.Classify(err) != liveupdate.Infra {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}

func TestRealUser(t *testing.T) {
	user := int64(1000)
	c := newContainer(t, func(s *corev1.Container) { s.SecurityContext = &corev1.SecurityContext{RunAsUser: &user} })
	writeFile(t, filepath.Join(c.local, "a"), "x", 0o644)
	err := c.update(c.copies("a"))
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "--chown") {
		t.Errorf("got %v", err)
	}
	c.Syncs[0].RemotePath = "/tmp/app"
	c.ID += "again"
	plan := c.copies("a")
	plan.Copies[0].Remote = "/tmp/app/a"
	check(t, c.update(plan))
	if got := c.ask("cat /tmp/app/a"); got != "x" {
		t.Errorf("the container has %q", got)
	}
}

// signal sends a signal to the synclets in the container.
func (c *container) signal(name string) {
	c.Helper()
	c.ask("for p in /proc/[0-9]*; do case $(readlink $p/exe) in */.hone-synclet*) kill -" + name + " ${p#/proc/};; esac; done")
}

// TestRealStopped stops the synclet: that is noticed, the update goes through a new one, and the old one never wakes up.
func TestRealStopped(t *testing.T) {
	c := newContainer(t, func(*corev1.Container) {})
	writeFile(t, filepath.Join(c.local, "a"), "one", 0o644)
	check(t, c.update(c.copies("a")))
	c.signal("STOP")
	writeFile(t, filepath.Join(c.local, "a"), "two", 0o644)
	check(t, c.update(c.copies("a")))
	c.signal("CONT")
	if got := c.ask("cat /app/a; ls -A /app; for p in /proc/[0-9]*; do readlink $p/exe; done | grep -c hone-synclet"); got != "twoa\n1" {
		t.Errorf("the container has %q", got)
	}
}

// TestRealDiskFull fills a volume: the message names the file and a mend, nothing is left there, and a smaller update
// works.
func TestRealDiskFull(t *testing.T) {
	c := newPod(t, func(p *corev1.PodSpec) {
		size := resource.MustParse("1Mi")
		p.Volumes = []corev1.Volume{{Name: "app", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size}}}}
		p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "app", MountPath: "/app"}}
	})
	writeFile(t, filepath.Join(c.local, "small"), "fits", 0o644)
	writeFile(t, filepath.Join(c.local, "big"), strings.Repeat("x", 3<<20), 0o644)
	err := c.update(c.copies("small", "big"))
	if p, ok := problem.Of(err); liveupdate.Classify(err) != liveupdate.Blocked || !ok || !strings.Contains(err.Error(), "/app/big: ") || p.Mend == "" {
		t.Errorf("got %v", err)
	}
	if got := c.ask("ls -A /app"); got != "" {
		t.Errorf("left over: %q", got)
	}
	writeFile(t, filepath.Join(c.local, "big"), strings.Repeat("y", 900<<10), 0o644)
	check(t, c.update(c.copies("small", "big")))
	if got := c.ask("ls -A /app; tr -d y </app/big | wc -c"); got != "big\nsmall\n0" {
		t.Errorf("the container has %q", got)
	}
}

func BenchmarkRealUpdate(b *testing.B) {
	c := newContainer(b, func(*corev1.Container) {})
	writeFile(b, filepath.Join(c.local, "a"), "x", 0o644)
	check(b, c.update(c.copies("a")))
	s, err := c.pool.Conversation(b.Context(), model.ContainerRef{ID: c.ID})
	check(b, err)
	var ping time.Duration
	n := 0
	for b.Loop() {
		check(b, os.WriteFile(filepath.Join(c.local, "a"), []byte(strings.Repeat("y", 1000)+fmt.Sprint(n)), 0o644))
		check(b, c.update(c.copies("a")))
		d, err := s.Ping(b.Context())
		check(b, err)
		ping += d
		n++
	}
	b.ReportMetric(float64(ping.Microseconds())/float64(n)/1000, "ms/ping")
}
