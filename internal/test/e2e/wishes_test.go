package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// hone runs a command against the session that must succeed, and returns its output.
func (s *session) hone(args ...string) string {
	s.p.t.Helper()
	out, code := s.p.run(append(args, "--port", fmt.Sprint(s.port))...)
	if code != 0 {
		s.p.t.Fatalf("hone %v: exit code %d\n%s", args, code, out)
	}
	return out
}

// TestRebuild rebuilds an image: a plain trigger takes a step that has not changed from the builder's cache, a rebuild runs
// it again. Both replace the pod.
func TestRebuild(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.Dockerfile", "COPY conf /conf", "COPY conf /conf\nRUN cat /proc/sys/kernel/random/uuid >/www/stamp")
	s := p.up()
	s.ready("web")
	stamp := func() string {
		var text string
		s.await("the stamp", func() (err error) {
			text, err = fetch(p.ports[0], "/stamp")
			return err
		})
		return text
	}
	pod := func() string {
		s.ready("web")
		pods, err := p.pods("web")
		if err != nil || len(pods) != 1 {
			t.Fatalf("%d pods, %v", len(pods), err)
		}
		return string(pods[0].UID)
	}
	firstPod, first := pod(), stamp()
	s.hone("trigger", "web")
	s.builds("web", 2)
	secondPod, second := pod(), stamp()
	if second != first || secondPod == firstPod {
		t.Errorf("a trigger: stamp %s, then %s; pod %s, then %s", first, second, firstPod, secondPod)
	}
	s.hone("trigger", "--no-cache", "web")
	b := s.builds("web", 3)
	if thirdPod, third := pod(), stamp(); third == first || thirdPod == secondPod || b.Mode != "image" || b.Reason != "triggered, from scratch" {
		t.Errorf("a rebuild: stamp %s, then %s; pod %s, then %s; %+v", first, third, secondPod, thirdPod, b)
	}
	s.says("Rebuild From Scratch")
}

// TestRestart restarts a process in its container, and then its pod, which gets the files of live updates again. A pod without a
// controller is applied again. A resource that cannot be restarted says why.
func TestRestart(t *testing.T) {
	t.Parallel()
	p := newProject(t, restarting).compiled()
	p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
	p.write("bare.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: bare, labels: {app: bare}}\n"+
		"spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: busybox, command: [sleep, '100000']}]}\n")
	p.replace("Tiltfile", "k8s_yaml('pod.yaml')", "k8s_yaml(['pod.yaml', 'bare.yaml'])")
	s := p.up()
	s.ready("restarting", "bare")
	p.write("src/app/text", "two")
	s.serves(p.ports[0], "/", "two")
	before, err := p.onlyContainer("restarting")
	if err != nil {
		t.Fatal(err)
	}
	starts := func() int { return strings.Count(s.out.String(), "started with two") }
	count := starts()
	if out := s.hone("restart", "restarting"); !strings.Contains(out, "restarting: restarted process in main of pod restarting-") {
		t.Errorf("hone restart: %s", out)
	}
	s.await("a new process", func() error {
		if starts() != count+1 {
			return fmt.Errorf("%d starts", starts())
		}
		return nil
	})
	after, err := p.onlyContainer("restarting")
	if err != nil || after.ContainerID != before.ContainerID || after.RestartCount != 0 {
		t.Errorf("the container was replaced: %+v, %v", after, err)
	}
	out, code := p.run("restart", "bare", "--port", fmt.Sprint(s.port))
	if code == 0 || !strings.Contains(out, "has no process that can be restarted in place") || !strings.Contains(out, "hone restart --pod bare") {
		t.Errorf("the process of a container without a supervisor: exit code %d\n%s", code, out)
	}

	pods, err := p.pods("bare")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	out = s.hone("restart", "--pod", "restarting", "bare")
	if !strings.Contains(out, "restarting: restarted pod restarting-") || !strings.Contains(out, "bare: restarted pod bare\n") {
		t.Errorf("hone restart --pod: %s", out)
	}
	s.await("a new pod with the synced file", func() error {
		after, err := p.onlyContainer("restarting")
		if err == nil && after.ContainerID == before.ContainerID {
			err = fmt.Errorf("the container is the same")
		}
		return err
	})
	s.serves(p.ports[0], "/", "two")
	s.await("the bare pod again", func() error {
		again, err := p.pods("bare")
		if err == nil && (len(again) != 1 || again[0].UID == pods[0].UID) {
			err = fmt.Errorf("%d pods, as before", len(again))
		}
		return err
	})
	s.ready("bare", "restarting")
	s.becomes("restarting", "restarted", func(r api.Resource) bool {
		return r.Restart != nil && r.Restart.Pods && r.Restart.Error == "" && !r.Restart.FinishedAt.IsZero()
	})
}

// TestForwardsOnTheFly adds, moves and removes port forwards of a running session. A port that another process has is named with
// its holder, and opened once it is free.
func TestForwardsOnTheFly(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	port := func(i int) string { return fmt.Sprint(p.ports[i]) }
	if out := s.hone("forwards", "add", "web", port(1)+":80"); !strings.Contains(out, "web: http://localhost:"+port(1)+"/ → "+p.namespace+"/web-") {
		t.Errorf("hone forwards add: %s", out)
	}
	s.serves(p.ports[1], "/", "one")
	if out := s.hone("forwards"); !strings.Contains(out, "(added in this session)") {
		t.Errorf("hone forwards: %s", out)
	}
	out, code := p.run("forwards", "add", "web", port(0), "--port", fmt.Sprint(s.port))
	if code == 0 || !strings.Contains(out, "port "+port(0)+" is already forwarded to resource \"web\"") {
		t.Errorf("a port of the session: exit code %d\n%s", code, out)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("localhost", port(2)))
	if err != nil {
		t.Fatal(err)
	}
	out, code = p.run("forwards", "move", "web", port(0), port(2), "--port", fmt.Sprint(s.port))
	if code == 0 || !strings.Contains(out, "hone forwards remove web "+port(2)) || !strings.Contains(out, port(2)) {
		t.Errorf("a port of another process: exit code %d\n%s", code, out)
	}
	_ = l.Close()
	s.serves(p.ports[2], "/", "one")
	if _, err := fetch(p.ports[0], "/"); err == nil {
		t.Error("the port of before answers")
	}
	s.hone("forwards", "remove", "web", port(2))
	if _, err := fetch(p.ports[2], "/"); err == nil {
		t.Error("a removed port answers")
	}
	p.replace("Tiltfile", "port_forwards='$PORT0:80'", "port_forwards=['$PORT0:80', '$PORT2:80']")
	s.serves(p.ports[2], "/", "one")
	s.serves(p.ports[1], "/", "one")
	if b := s.builds("web", 1); b.Serial != 1 {
		t.Errorf("a port led to an update: %+v", b)
	}
}
