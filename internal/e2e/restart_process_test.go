package e2e

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// restarting is a program that reads its text once, at its start, and runs as a user who is not root. At the end of the
// text may stand a command that ends it.
const restarting = `
-- Tiltfile --
load('ext://restart_process', 'docker_build_with_restart')
docker_build_with_restart('restarting', 'src', entrypoint=['/app/server.sh', 'one arg'],
    live_update=[fall_back_on('src/Dockerfile'), sync('src/app', '/app')])
k8s_yaml('pod.yaml')
k8s_resource('restarting', port_forwards='$PORT0:8080')
-- src/Dockerfile --
FROM busybox
COPY app /app
RUN mkdir /www && chown -R 1000:1000 /app /www
USER 1000
-- src/app/server.sh --
#!/bin/sh
trap 'echo "asked to end"; kill $!; exit 0' TERM
echo "started with $1 $2"
cp /app/text /www/index.html
. /app/end.sh
httpd -f -p 8080 -h /www &
wait
-- src/app/text --
one
-- src/app/end.sh --
-- pod.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: restarting}
spec:
  selector: {matchLabels: {app: restarting}}
  template:
    metadata: {labels: {app: restarting}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - {name: main, image: restarting, args: [from-yaml]}
`

// pods returns the pods of an app that are not on their way out.
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

// TestRestartProcess saves a file that a program reads only at its start: the program starts anew, in the same
// container. Signals reach it, and its exit code is the container's.
func TestRestartProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t, restarting)
	p.env = []string{"XDG_DATA_HOME=" + t.TempDir()}
	s := p.up()
	s.ready("restarting")
	s.serves(p.ports[0], "/", "one")
	s.says("started with one arg from-yaml")
	before, err := p.onlyContainer("restarting")
	if err != nil {
		t.Fatal(err)
	}

	p.write("src/app/text", "two")
	s.serves(p.ports[0], "/", "two")
	s.says("asked to end") // so the signal came through
	if b := s.builds("restarting", 2); b.Error != "" {
		t.Errorf("the update failed: %s", b.Error)
	}
	after, err := p.onlyContainer("restarting")
	if err != nil || after.ContainerID != before.ContainerID || after.RestartCount != 0 {
		t.Errorf("the container was replaced: %+v, %v", after, err)
	}

	p.write("src/app/end.sh", "exit 42\n")
	s.await("the exit code", func() error {
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
		if last.ExitCode != 42 {
			t.Fatalf("the container ended with %d, want 42", last.ExitCode)
		}
		return nil
	})
}
