package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// restarting is an image with one static program in it, which reads its text once, at its start.
var restarting = `
-- Tiltfile --
load('ext://restart_process', 'docker_build_with_restart')
docker_build_with_restart('restarting', 'src', dockerfile='Dockerfile', entrypoint=['/server', '/app/text'],
    live_update=[sync('src/app', '/app')])
k8s_yaml('pod.yaml')
k8s_resource('restarting', port_forwards='$PORT0:8080')
-- Dockerfile --
FROM scratch
COPY server /server
COPY app /app
-- src/app/text --
one
-- src/app/other --
-- pod.yaml --
` + deployment("restarting", `
terminationGracePeriodSeconds: 5
containers:
- {name: main, image: restarting}
`)

// restartStep is the same with the step itself, and the image's own command; files that are not triggers do not restart
// the process.
const restartStep = `
docker_build('restarting', 'src', dockerfile='Dockerfile',
    live_update=[sync('src/app', '/app'), restart_process(trigger='src/app/text')])
k8s_yaml('pod.yaml')
k8s_resource('restarting', port_forwards='$PORT0:8080')
`

// compiled puts the program into a project.
func (p *project) compiled() *project {
	p.t.Helper()
	c := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(p.dir, "src/server"), "./testdata/restarting")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// pods returns the pods of an app that are not being deleted.
func (p *project) pods(app string) ([]corev1.Pod, error) {
	list, err := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(p.namespace).
		List(p.t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	var out []corev1.Pod
	for _, item := range list.Items {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &pod); err != nil {
			return nil, err
		}
		if pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out, nil
}

// onlyContainer returns the status of the first container of an app's only pod.
func (p *project) onlyContainer(app string) (corev1.ContainerStatus, error) {
	pods, err := p.pods(app)
	if err != nil {
		return corev1.ContainerStatus{}, err
	}
	if len(pods) != 1 || len(pods[0].Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}, fmt.Errorf("%d pods", len(pods))
	}
	return pods[0].Status.ContainerStatuses[0], nil
}

// TestRestartProcess saves a file that a program reads only at its start: the program restarts, in the same container,
// in every way of updating, and its output stays the container's. Signals reach it.
func TestRestartProcess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		docker bool
		mode   string
		change func(*project)
	}{
		"extension": {mode: "synclet"},
		"step": {mode: "synclet", change: func(p *project) {
			p.write("Tiltfile", restartStep)
			p.write("Dockerfile", "FROM scratch\nCOPY server /server\nCOPY app /app\nENTRYPOINT [\"/server\"]\nCMD [\"/app/text\"]\n")
		}},
		"without root": {mode: "synclet", change: func(p *project) {
			p.replace("Tiltfile", "live_update=[", "live_update=[initial_sync(), ")
			p.write("Dockerfile", "FROM scratch\nCOPY server /server\nUSER 10001\n")
			p.replace("pod.yaml", "      containers:", "      volumes: [{name: app, emptyDir: {}}]\n      containers:")
			p.replace("pod.yaml", "image: restarting}", `image: restarting, volumeMounts: [{name: app, mountPath: /app}],
          securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true}}`)
		}},
		"container": {docker: true, mode: "container"},
		"exec":      {mode: "exec", change: func(p *project) { p.replace("Dockerfile", "FROM scratch", "FROM busybox") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := newProject
			if tt.docker {
				begin = newDockerProject
			}
			p := begin(t, restarting).compiled()
			p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
			if tt.change != nil {
				tt.change(p)
			}
			s := p.up("--update-mode", tt.mode)
			s.ready("restarting")
			s.serves(p.ports[0], "/", "one")
			before, err := p.onlyContainer("restarting")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"two", "three", "four"} {
				began := time.Now()
				p.write("src/app/text", text)
				s.serves(p.ports[0], "/", text)
				t.Logf("%s: the new process answered %s after the save", name, time.Since(began).Round(time.Millisecond))
				s.says("started with " + text)
			}
			s.says("asked to end") // so the signal came through
			if b := s.builds("restarting", 2); b.Error != "" || b.Mode != tt.mode || b.FellBack != "" {
				t.Errorf("the update: %+v", b)
			} else if len(b.Containers) != 1 || b.Containers[0].Stages.RestartedMs == 0 {
				t.Errorf("its stages: %+v", b.Containers)
			}
			after, err := p.onlyContainer("restarting")
			if err != nil || after.ContainerID != before.ContainerID || after.RestartCount != 0 {
				t.Errorf("the container was replaced: %+v, %v", after, err)
			}
		})
	}
}

// TestCrashingProcess breaks a program and fixes it: hone shows that, without a new container. Without hone the
// container ends with the exit code of its process.
func TestCrashingProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t, restarting).compiled()
	p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
	p.replace("Tiltfile", "live_update=[sync('src/app', '/app')]", "live_update=[sync('src/app', '/app')], trigger='src/app/text'")
	s := p.up()
	s.ready("restarting")
	s.serves(p.ports[0], "/", "one")
	before, err := p.onlyContainer("restarting")
	if err != nil {
		t.Fatal(err)
	}
	crashes := func(text string) {
		t.Helper()
		r := s.becomes("restarting", text, func(r api.Resource) bool { return r.RuntimeStatus == "error" && r.RuntimeText == text })
		if !strings.Contains(r.RuntimeError, "the process in main ended with exit code 3") || !strings.Contains(r.RuntimeError, "the next change restarts it") {
			t.Errorf("it says %q", r.RuntimeError)
		}
	}
	p.write("src/app/text", "exit now")
	crashes("exited 3")
	s.says("The process in main ended with exit code 3;")
	p.write("src/app/other", "does not matter, but a crashed process may start") // no trigger
	crashes("exited 3 ×2")
	p.write("src/app/text", "two")
	s.serves(p.ports[0], "/", "two")
	s.says("The process in main runs again")
	s.ready("restarting")
	after, err := p.onlyContainer("restarting")
	if err != nil || after.ContainerID != before.ContainerID || after.RestartCount != 0 {
		t.Errorf("the container was replaced: %+v, %v", after, err)
	}

	p.write("src/app/text", "exit again")
	crashes("exited 3")
	s.stop()
	k8stest.Eventually(t, "the exit code", func() error {
		c, err := p.onlyContainer("restarting")
		if err != nil {
			return err
		}
		last := c.LastTerminationState.Terminated
		if last == nil {
			last = c.State.Terminated
		}
		if last == nil {
			return errors.New("not ended")
		}
		if last.ExitCode != 3 {
			t.Fatalf("the container ended with %d, want 3", last.ExitCode)
		}
		return nil
	})
}

// TestKilledProcess kills a container's first process like a user: hone reports that, not that memory ran out, and the
// container that replaces it gets the earlier changes.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t, restarting).compiled()
	p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
	p.replace("Dockerfile", "FROM scratch", "FROM busybox")
	s := p.up()
	s.ready("restarting")
	p.write("src/app/text", "two")
	s.serves(p.ports[0], "/", "two")
	pods, err := p.pods("restarting")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	kill := exec.Command("kubectl", "exec", "-n", p.namespace, pods[0].Name, "--", "kill", "1")
	if out, err := kill.CombinedOutput(); err != nil && !strings.Contains(err.Error(), "137") { // it may end with the container
		t.Fatalf("%v\n%s", err, out)
	}
	s.says(`The process in main ended with exit code \d+, and its container ends with it`)
	s.ready("restarting")
	s.serves(p.ports[0], "/", "two")
	if said := s.out.String(); strings.Contains(said, "memory") {
		t.Errorf("it speaks of memory:\n%s", said)
	}
}

// TestRestartOfCustomDeploy restarts a program in pods that a command deploys: the supervisor comes with the image.
func TestRestartOfCustomDeploy(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"synclet", "exec"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, restarting).compiled()
			p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
			p.replace("Tiltfile", "k8s_yaml('pod.yaml')",
				`k8s_custom_deploy('restarting', apply_cmd='sed "s#image: restarting#image: $TILT_IMAGE_0#" pod.yaml | kubectl apply -n $NS -o yaml -f -',
    delete_cmd='kubectl delete -n $NS --ignore-not-found -f pod.yaml', deps=['pod.yaml'], image_deps=['restarting'])`)
			if mode == "exec" {
				p.replace("Dockerfile", "FROM scratch", "FROM busybox")
			}
			s := p.up("--update-mode", mode)
			s.ready("restarting")
			s.says("Putting the synclet into the image")
			s.serves(p.ports[0], "/", "one")
			before, err := p.onlyContainer("restarting")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"two", "three"} {
				p.write("src/app/text", text)
				s.serves(p.ports[0], "/", text)
			}
			if b := s.builds("restarting", 2); b.Mode != mode || b.Error != "" || b.FellBack != "" {
				t.Errorf("the update: %+v", b)
			}
			after, err := p.onlyContainer("restarting")
			if err != nil || after.ContainerID != before.ContainerID || after.RestartCount != 0 {
				t.Errorf("the container was replaced: %+v, %v", after, err)
			}
		})
	}
}
