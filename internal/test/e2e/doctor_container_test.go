package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDoctorInContainer runs doctor in a real container, as in a development container: with the engine's socket, with an address that
// leads nowhere from in there, without both, and with the network of the machine.
func TestDoctorInContainer(t *testing.T) {
	t.Parallel()
	p := newProject(t, "")
	static := filepath.Join(p.dir, "hone")
	build := exec.Command("go", "build", "-o", static, "github.com/hone-dev/hone/cmd/hone")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build hone: %v\n%s", err, out)
	}
	const socket = "/var/run/docker.sock"
	mounted := []string{"-v", socket + ":" + socket}
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"the socket":  {mounted, []string{`hone runs in +a container`, `engine outside +it answers`, `127\.0\.0\.1:\d+ is this container itself`, `--network=host`}},
		"a name":      {append(mounted, "--add-host=host.docker.internal:host-gateway"), []string{`--server=https://host\.docker\.internal:\d+ --tls-server-name=localhost`}},
		"the network": {append(mounted, "--network=host"), []string{`engine outside +it answers`, `cluster outside +it answers`}},
		"no engine":   {nil, []string{`no socket of an engine is mounted`, `docker-outside-of-docker`}},
		"an address":  {[]string{"-e", "DOCKER_HOST=tcp://127.0.0.1:2375"}, []string{`DOCKER_HOST is tcp://127\.0\.0\.1:2375, where none answers from in here`, `host\.docker\.internal`}},
		"a codespace": {append(mounted, "-e", "CODESPACES=true"), []string{`hone runs in +a codespace`}},
	} {
		args := append([]string{"run", "--rm", "-v", static + ":/hone:ro", "-v", os.Getenv("KUBECONFIG") + ":/kubeconfig:ro", "-e", "KUBECONFIG=/kubeconfig"}, tt.args...)
		out, _ := exec.Command("docker", append(args, "busybox", "/hone", "doctor")...).CombinedOutput() // what is wrong fails it
		for _, want := range tt.says {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%s: does not say %q:\n%s", name, want, strings.TrimSpace(string(out)))
			}
		}
	}
}
