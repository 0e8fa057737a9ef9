package liveupdate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/hone-dev/hone/internal/docker"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/internal/process"
	"github.com/hone-dev/hone/pkg/model"
)

func needsCluster(t *testing.T) {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
}

// pods adapts the client of the cluster.
type pods struct{ *k8s.Client }

func (p pods) Exec(ctx context.Context, ns, pod, c string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	return p.Client.Exec(ctx, k8s.ExecRequest{
		Namespace: ns, Pod: pod, Container: c, Argv: argv, Stdin: stdin, Stdout: stdout, Stderr: stderr,
	})
}

// place is a real container and what updates it.
type place struct {
	updater Updater
	c       Container
	// ask runs a script in the container and returns what it writes.
	ask func(t *testing.T, script string) string
}

// realPod starts a pod in a namespace of its own.
func realPod(t *testing.T, user int64) place {
	t.Helper()
	needsCluster(t)
	kc, err := k8s.Load(k8s.Config{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kc.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	core, err := corev1client.NewForConfigAndClient(client.RESTConfig(), client.HTTPClient())
	if err != nil {
		t.Fatal(err)
	}
	c := Container{Namespace: "hone-test-" + uuid.NewString()[:8], Pod: "web", Name: "main"}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
	if _, err := core.Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := core.Namespaces().Delete(context.WithoutCancel(t.Context()), c.Namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	grace, token := int64(0), false
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: c.Pod}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: &grace, AutomountServiceAccountToken: &token,
		Containers: []corev1.Container{{
			Name: c.Name, Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{"sh", "-c", "while :; do sleep 3600; done"},
			SecurityContext: &corev1.SecurityContext{RunAsUser: &user},
		}},
	}}
	eventually(t, "the pod is created", func() error { // needs the namespace's service account
		_, err := core.Pods(c.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	eventually(t, "the pod runs", func() error {
		p, err := core.Pods(c.Namespace).Get(t.Context(), c.Pod, metav1.GetOptions{})
		if err == nil && (len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Running == nil) {
			err = fmt.Errorf("phase %s", p.Status.Phase)
		}
		return err
	})
	exec := pods{client}
	return place{ExecUpdater{exec}, c, func(t *testing.T, script string) string {
		t.Helper()
		var out bytes.Buffer
		if err := exec.Exec(t.Context(), c.Namespace, c.Pod, c.Name, []string{"sh", "-c", script}, nil, &out, &out); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, &out)
		}
		return out.String()
	}}
}

// eventually asks until there is no error.
func eventually(t *testing.T, what string, ask func() error) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// realContainer starts a container of the engine.
func realContainer(t *testing.T) place {
	t.Helper()
	needsCluster(t)
	endpoint, err := docker.Find()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := docker.New(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	cli := func(ctx context.Context, args ...string) string {
		var out bytes.Buffer
		cmd := process.Command{Cmd: model.Cmd{Argv: append([]string{"docker"}, args...)}, Stdout: &out, Stderr: os.Stderr, Plain: true}
		if err := process.Run(ctx, cmd); err != nil {
			t.Errorf("docker %v: %v", args, err)
		}
		return strings.TrimSpace(out.String())
	}
	id := cli(t.Context(), "run", "-d", "--network", "none", "busybox", "sh", "-c", "while :; do sleep 3600; done")
	t.Cleanup(func() { cli(context.WithoutCancel(t.Context()), "rm", "-f", id) })
	return place{ContainerUpdater{engine}, Container{Name: "main", ID: id}, func(t *testing.T, script string) string {
		t.Helper()
		var out bytes.Buffer
		if err := engine.ContainerExec(t.Context(), id, []string{"sh", "-c", script}, nil, &out); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, &out)
		}
		return out.String()
	}}
}

func TestRealExecUpdater(t *testing.T) {
	t.Parallel()
	p := realPod(t, 0)
	testUpdater(t, p)
	t.Run("without tar", func(t *testing.T) {
		p.ask(t, "rm /bin/tar")
		err := p.updater.Update(t.Context(), p.c, Plan{Copies: one(t)}, logstore.Discard)
		wantInfra(t, err, "tar missing in image")
		// busybox' shell has a tar of its own, so what goes through it works.
		if err := p.updater.Update(t.Context(), p.c, Plan{Copies: one(t), Deletes: []string{"/x"}}, logstore.Discard); err != nil {
			t.Error(problem.Text(err))
		}
	})
	t.Run("pod that is gone", func(t *testing.T) {
		c := p.c
		c.Pod = "other"
		err := p.updater.Update(t.Context(), c, Plan{Copies: one(t)}, logstore.Discard)
		wantInfra(t, err, "not found")
	})
}

func TestRealExecUpdaterWithoutRoot(t *testing.T) {
	t.Parallel()
	p := realPod(t, 1000)
	err := p.updater.Update(t.Context(), p.c, Plan{Copies: one(t)}, logstore.Discard)
	wantInfra(t, err, "Make the synced folders writable")
	copies := one(t)
	copies[0].Remote = "/tmp/app/a"
	if err := p.updater.Update(t.Context(), p.c, Plan{Copies: copies, Deletes: []string{"/tmp/none"}}, logstore.Discard); err != nil {
		t.Error(problem.Text(err))
	}
	if got := p.ask(t, "cat /tmp/app/a"); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestRealContainerUpdater(t *testing.T) {
	t.Parallel()
	p := realContainer(t)
	testUpdater(t, p)
	t.Run("restart", func(t *testing.T) {
		p.ask(t, "touch /dev/shm/mark") // does not outlive the container's process
		plan := Plan{Copies: one(t), Restart: true}
		if err := p.updater.Update(t.Context(), p.c, plan, logstore.Discard); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(t, "ls /dev/shm; cat /app/a"); got != "a" {
			t.Errorf("got %q", got)
		}
	})
}

func wantInfra(t *testing.T, err error, text string) {
	t.Helper()
	if Classify(err) != Infra || !strings.Contains(problem.Text(err), text) {
		t.Errorf("got %v: %s, want %q", Classify(err), textOf(err), text)
	}
}

// testUpdater is what every updater does in a real container.
func testUpdater(t *testing.T, p place) {
	dir := t.TempDir()
	update := func(t *testing.T, plan Plan) (string, error) {
		var log strings.Builder
		err := p.updater.Update(t.Context(), p.c, plan, logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) }))
		return log.String(), err
	}
	long := "/app/" + strings.Repeat("folder with a long name/", 12) + "file"
	old := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	os.Chtimes(put(t, dir, "script", []byte("#!/bin/sh\necho hi\n"), 0o755), old, old)
	big := bytes.Repeat([]byte("0123456789abcdef"), buffered/16)
	copies := []Copy{
		{Local: filepath.Join(dir, "script"), Remote: "/app/bin/script"},
		{Local: put(t, dir, "secret", []byte("s"), 0o600), Remote: "/app/secret"},
		{Local: put(t, dir, "umlaut", []byte("ü"), 0o644), Remote: "/app/ä ö"},
		{Local: put(t, dir, "long", []byte("long"), 0o644), Remote: long},
		{Local: filepath.Join(dir, "link"), Remote: "/app/link"},
		{Local: filepath.Join(dir, "dir"), Remote: "/app/dir", IsDir: true},
	}
	if err := errors.Join(os.Symlink("bin/script", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "dir"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := update(t, Plan{Copies: copies}); err != nil {
		t.Fatal(problem.Text(err))
	}
	want := "hi\n755 0 0 1580702706\n600 0 0\ns ü long bin/script dir\n"
	got := p.ask(t, `/app/link; stat -c '%a %u %g %Y' /app/bin/script; stat -c '%a %u %g' /app/secret; `+
		`echo $(cat /app/secret) $(cat '/app/ä ö') $(cat '`+long+`') $(readlink /app/link) $(cd /app; ls -d dir)`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after copying (-want +got):\n%s", diff)
	}

	plan := Plan{
		Copies:  []Copy{{Local: put(t, dir, "secret", []byte("new"), 0o600), Remote: "/app/secret"}},
		Deletes: []string{"/app/bin", "/app/ä ö", "/app/never was", "/app/$(touch pwned)"},
		Runs:    []model.Run{run("cat /app/secret; echo err >&2"), run("ls /app")},
	}
	log, err := update(t, plan)
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	for _, line := range []string{"Running cmd: ls /app\n", "new", "err\n", "dir\nfolder with a long name\nlink\nsecret\n"} {
		if !strings.Contains(log, line) {
			t.Errorf("the log lacks %q:\n%s", line, log)
		}
	}

	t.Run("large", func(t *testing.T) {
		plan := Plan{Copies: []Copy{{Local: put(t, dir, "big", big, 0o644), Remote: "/app/big"}}, Deletes: []string{"/x"}}
		if _, err := update(t, plan); err != nil {
			t.Fatal(problem.Text(err))
		}
		if got := p.ask(t, "wc -c </app/big"); strings.TrimSpace(got) != fmt.Sprint(len(big)) {
			t.Errorf("got %s bytes", got)
		}
	})
	t.Run("failing command", func(t *testing.T) {
		log, err := update(t, Plan{Copies: one(t), Runs: []model.Run{run("echo oops; exit 3"), run("touch /after")}})
		var step *RunStepError
		if !errors.As(err, &step) || step.Code != 3 || !strings.Contains(log, "oops") {
			t.Errorf("got %v, log %q", err, log)
		}
		if got := p.ask(t, "cat /app/a; ls /after 2>&1 || true"); !strings.HasPrefix(got, "a") || !strings.Contains(got, "No such file") {
			t.Errorf("afterwards: %q", got)
		}
	})
	t.Run("command that is not there", func(t *testing.T) {
		_, err := update(t, Plan{Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"no-such-program"}}}}})
		var step *RunStepError
		if !errors.As(err, &step) || step.Code != codeNotFound && step.Code != codeNotExecutable { // engines differ
			t.Errorf("got %v", err)
		}
	})
	t.Run("killed command", func(t *testing.T) {
		_, err := update(t, Plan{Runs: []model.Run{run("kill -KILL $$")}})
		wantInfra(t, err, "killed")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log := logstore.Func(func(_ logstore.Level, text string) {
			if strings.Contains(text, "up\n") && !strings.Contains(text, "Running") {
				cancel()
			}
		})
		err := p.updater.Update(ctx, p.c, Plan{Runs: []model.Run{run("echo up; exec sleep 5")}}, log)
		if Classify(err) != Cancelled {
			t.Errorf("got %v", err)
		}
	})
}
