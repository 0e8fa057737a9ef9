package liveupdate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/internal/update/liveupdate/liveupdatetest"
	"github.com/hone-dev/hone/pkg/model"
)

func needsCluster(t *testing.T) {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
}

// idle is the command of a container that is only updated.
var idle = []string{"sh", "-c", "while :; do sleep 3600; done"}

// realPod starts a pod in a namespace of its own.
func realPod(t *testing.T, user int64, command ...string) liveupdatetest.Place {
	t.Helper()
	needsCluster(t)
	if len(command) == 0 {
		command = idle
	}
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
	c := model.ContainerRef{Namespace: "hone-test-" + uuid.NewString()[:8], Pod: "web", Name: "main"}
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
			Command:         command,
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
	return liveupdatetest.Place{Updater: liveupdate.ExecUpdater{Pods: client}, Container: c, Ask: func(t *testing.T, script string) string {
		t.Helper()
		var out bytes.Buffer
		ask := k8s.ExecRequest{Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, Argv: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out}
		if err := client.Exec(t.Context(), ask); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, &out)
		}
		return out.String()
	}}
}

// eventually retries until there is no error.
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
func realContainer(t *testing.T, command ...string) liveupdatetest.Place {
	t.Helper()
	needsCluster(t)
	engine := dockertest.Real(t)
	cli := func(ctx context.Context, args ...string) string {
		var out bytes.Buffer
		cmd := process.Command{Cmd: model.Cmd{Argv: append([]string{"docker"}, args...)}, Stdout: &out, Stderr: os.Stderr, Plain: true}
		if err := process.Run(ctx, cmd); err != nil {
			t.Errorf("docker %v: %v", args, err)
		}
		return strings.TrimSpace(out.String())
	}
	id := cli(t.Context(), append([]string{"run", "-d", "--network", "none", "busybox"}, command...)...)
	t.Cleanup(func() { cli(context.WithoutCancel(t.Context()), "rm", "-f", id) })
	return liveupdatetest.Place{Updater: liveupdate.ContainerUpdater{Engine: engine}, Container: model.ContainerRef{Name: "main", ID: id}, Ask: func(t *testing.T, script string) string {
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
	liveupdatetest.Conformance(t, p)
	many := make([]string, 400) // too many for one command line
	for i := range many {
		many[i] = fmt.Sprintf("/none/%0100d", i)
	}
	t.Run("without tar", func(t *testing.T) {
		p.Ask(t, "rm /bin/tar; touch /x")
		// busybox's shell has its own tar, so everything that goes through the shell works.
		for i, deletes := range [][]string{{"/x"}, many} {
			plan := liveupdate.Plan{Copies: liveupdatetest.One(t), Deletes: deletes}
			plan.Copies[0].Remote = fmt.Sprint("/app/without tar ", i)
			if _, err := p.Updater.Update(t.Context(), p.Container, plan, logstore.Discard); err != nil {
				t.Error(problem.Text(err))
			}
		}
		if got := p.Ask(t, "cat '/app/without tar 0' '/app/without tar 1'; ls /x 2>/dev/null || echo gone"); got != "aagone\n" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("without sh", func(t *testing.T) {
		p.Ask(t, "mv /bin/sh /bin/shell; touch /gone")
		p := p
		p.Container.Syncs = []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}
		_, err := p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Copies: liveupdatetest.One(t)}, logstore.Discard)
		liveupdatetest.WantInfra(t, err, "tar missing in image")
		// A script determines which files may be deleted.
		_, err = p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Deletes: []string{"/gone"}}, logstore.Discard)
		liveupdatetest.WantInfra(t, err, "sh missing in image")
		var log strings.Builder
		plan := liveupdate.Plan{Copies: liveupdatetest.One(t), Runs: []model.Run{
			{Cmd: model.Cmd{Argv: []string{"busybox", "ln", "-s", "busybox", "/bin/tar"}}},
		}}
		_, err = p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Runs: plan.Runs}, logstore.Discard)
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		plan.Runs = []model.Run{{Cmd: model.Cmd{Argv: []string{"ls", "/app/a"}}}, {Cmd: model.Cmd{Argv: []string{"ls", "/none"}}}}
		_, err = p.Updater.Update(t.Context(), p.Container, plan, logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) }))
		var step *liveupdate.RunStepError
		if !errors.As(err, &step) || step.Code != 1 || !strings.Contains(log.String(), "\n/app/a\n") || strings.Count(log.String(), "No such file") != 1 {
			t.Errorf("got %v, log %q", err, log.String())
		}
	})
	t.Run("pod that is gone", func(t *testing.T) {
		c := p.Container
		c.Pod = "other"
		_, err := p.Updater.Update(t.Context(), c, liveupdate.Plan{Copies: liveupdatetest.One(t)}, logstore.Discard)
		liveupdatetest.WantInfra(t, err, "not found")
	})
}

func TestRealExecUpdaterKinds(t *testing.T) {
	t.Parallel()
	kinds(t, realPod(t, 0))
}

func TestRealContainerUpdaterKinds(t *testing.T) {
	t.Parallel()
	kinds(t, realContainer(t, idle...))
}

func kinds(t *testing.T, p liveupdatetest.Place) {
	local := t.TempDir()
	p.Container.Syncs = []model.Sync{{LocalPath: local, RemotePath: "/app/kinds"}}
	liveupdatetest.KindsConformance(t, p, local, "/app/kinds")
}

func TestRealExecUpdaterRestarts(t *testing.T) {
	t.Parallel()
	liveupdatetest.RestartConformance(t, realPod(t, 0, liveupdatetest.Restarting...))
}

func TestRealContainerUpdaterRestarts(t *testing.T) {
	t.Parallel()
	liveupdatetest.RestartConformance(t, realContainer(t, liveupdatetest.Restarting...))
}

func TestRealExecUpdaterWithoutRoot(t *testing.T) {
	t.Parallel()
	p := realPod(t, 1000)
	_, err := p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Copies: liveupdatetest.One(t)}, logstore.Discard)
	liveupdatetest.WantInfra(t, err, "Make the synced folders writable")
	copies := liveupdatetest.One(t)
	copies[0].Remote = "/tmp/app/a"
	if _, err := p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Copies: copies, Deletes: []string{"/tmp/none"}}, logstore.Discard); err != nil {
		t.Error(problem.Text(err))
	}
	copies[0].Owner = model.Owner{UID: 1, GID: 1, Set: true}
	_, err = p.Updater.Update(t.Context(), p.Container, liveupdate.Plan{Copies: copies}, logstore.Discard)
	liveupdatetest.WantInfra(t, err, "/tmp/app/a cannot be given to the owner that sync(…, owner=…) requests")
	if got := p.Ask(t, "cat /tmp/app/a"); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestRealContainerUpdater(t *testing.T) {
	t.Parallel()
	p := realContainer(t, idle...)
	liveupdatetest.Conformance(t, p)
	t.Run("restart", func(t *testing.T) {
		p.Ask(t, "touch /dev/shm/mark") // does not outlive the container's process
		plan := liveupdate.Plan{Copies: liveupdatetest.One(t), Restart: true}
		if _, err := p.Updater.Update(t.Context(), p.Container, plan, logstore.Discard); err != nil {
			t.Fatal(err)
		}
		if got := p.Ask(t, "ls /dev/shm; cat /app/a"); got != "a" {
			t.Errorf("got %q", got)
		}
	})
}
