package e2e

import (
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// TestSidecar saves files that a native sidecar serves, an init container that keeps running: they go into it in place, in each way,
// with a restart of its process where that is declared, and the pod stays.
func TestSidecar(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode, shell string
	}{
		"synclet": {"synclet", "FROM busybox"},
		"exec":    {"exec", "FROM busybox"},
		"bare":    {"synclet", "FROM scratch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, restarting).compiled()
			p.env = append(p.env, "XDG_DATA_HOME="+t.TempDir())
			p.replace("Dockerfile", "FROM scratch", tt.shell)
			p.replace("pod.yaml", "      containers:\n      - {name: main, image: restarting}",
				"      initContainers:\n      - {name: side, image: restarting, restartPolicy: Always}\n"+
					"      containers:\n      - {name: main, image: busybox, command: [sleep, '100000']}")
			s := p.up("--update-mode", tt.mode)
			s.ready("restarting")
			s.serves(p.ports[0], "/", "one")
			pod := current(t, s, "restarting")
			for _, text := range []string{"two", "three"} {
				p.write("src/app/text", text)
				s.serves(p.ports[0], "/", text)
			}
			b := s.builds("restarting", 2)
			if b.Mode != tt.mode || b.Error != "" || b.FellBack != "" || len(b.Containers) != 1 || b.Containers[0].Container != "side" {
				t.Errorf("the update: %+v", b)
			}
			if now := current(t, s, "restarting"); now.Name != pod.Name || now.Restarts != 0 {
				t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
			}
			if tt.mode == "exec" {
				return // no client stays connected to the supervisor
			}
			p.write("src/app/text", "exit now") // the states of processes are also reported for a sidecar
			s.becomes("restarting", "exited 3", func(r api.Resource) bool { return r.RuntimeText == "exited 3" })
			s.says("The process in side ended with exit code 3")
		})
	}
}
