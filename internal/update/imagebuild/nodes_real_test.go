package imagebuild

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRealNodes loads an image into node containers that run a real containerd, like the nodes of kind and k3d.
func TestRealNodes(t *testing.T) {
	engine := realEngine(t)
	image := nodeImage(t)
	for _, tt := range []struct {
		name   string
		method model.DeliveryMethod
		labels []string
	}{
		{"kind", model.DeliverKIND, []string{"io.x-k8s.kind.cluster=", "io.x-k8s.kind.role=control-plane"}},
		{"k3d", model.DeliverK3D, []string{"k3d.cluster=", "app=k3d", "k3d.role=server"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := NewDeliverer(engine)
			d.lookPath = noTools
			cluster := "hone-test-" + uuid.NewString()[:8]
			tt.labels[0] += cluster
			node := startNode(t, image, cluster+"-node", tt.labels)
			result, _ := realBuild(t, engine, "hone-test/"+tt.name, model.Registry{})
			log := &recorder{}
			for range 2 {
				if err := d.Deliver(t.Context(), Plan{Method: tt.method, Cluster: cluster}, result, log, nil); err != nil {
					t.Fatalf("%s\n%s", problem.Text(err), log)
				}
			}
			full, err := fullRef(result.Cluster)
			if err != nil {
				t.Fatal(err)
			}
			if got := dockerRun(t, "exec", node, "ctr", "-n", "k8s.io", "images", "check", "name=="+full); !strings.Contains(got, "complete") {
				t.Errorf("the node's containerd has %q", got)
			}
			lostInEngine(t, engine, Plan{Method: tt.method, Cluster: cluster}, result, func() {
				dockerRun(t, "exec", node, "ctr", "-n", "k8s.io", "images", "rm", full)
			})
			if text := log.String(); strings.Count(text, "Loading into "+tt.name) != 1 || !strings.Contains(text, "Already in "+tt.name) {
				t.Errorf("the image was not loaded exactly once:\n%s", text)
			}
		})
	}
}

// lostInEngine removes an image from the engine, and then from the node. Until then it is reused, and read in the node.
func lostInEngine(t *testing.T, engine docker.Client, to Plan, result model.ImageResult, lose func()) {
	t.Helper()
	before, _, err := engine.Inspect(t.Context(), result.Local)
	if err != nil {
		t.Fatal(err)
	}
	dockerRun(t, "rmi", "-f", result.Local)
	b, r := New(engine), NewReader(engine)
	now, ok := b.still(t.Context(), result, to)
	if !ok || now.ImageID != "" {
		t.Errorf("the image is in the node: %+v, %t", now, ok)
	}
	after, found, err := r.Inspect(t.Context(), now, to)
	if err != nil || !found || !slices.Equal(after.Cmd, before.Cmd) || after.User != before.User {
		t.Errorf("the node has %+v, %t, %v; the engine had %+v", after, found, err, before)
	}
	if got, err := r.Programs(t.Context(), now, to, []string{"/bin/none", "/bin/sh"}); err != nil || !slices.Equal(got, []string{"/bin/sh"}) {
		t.Errorf("programs %v, %v", got, err)
	}
	if lose(); b.Reusable(t.Context(), result, to) {
		t.Error("the image has gone from the node, too")
	}
}

// nodeImage builds an image of busybox and this machine's containerd.
func nodeImage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"containerd", "ctr"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("needs %s: %v", program, err)
		}
		copyTree(t, path, filepath.Join(dir, "root/usr/bin", program))
		libs, _ := exec.Command("ldd", path).Output() // fails for a static program, which needs none
		for _, lib := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllSubmatch(libs, -1) {
			copyTree(t, string(lib[1]), filepath.Join(dir, "root", string(lib[1])))
		}
	}
	dockerfile := "FROM busybox\nCOPY root /\nENV PATH=/bin:/usr/bin\nVOLUME /var/lib/containerd\n"
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		t.Fatal(err)
	}
	ref := "hone-test/node:" + uuid.NewString()[:8]
	c := exec.Command("docker", "build", "-q", "-t", ref, dir)
	c.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build the node's image: %v\n%s", err, out)
	}
	t.Cleanup(func() { dockerRun(t, "rmi", "-f", ref) })
	return ref
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// startNode runs a node container until the test ends, and returns its name once its containerd answers. The container
// is not privileged, since this process itself may lack the capabilities for that: containerd only needs to mount.
func startNode(t *testing.T, image, name string, labels []string) string {
	t.Helper()
	args := []string{"run", "-d", "--name", name, "--cap-add", "SYS_ADMIN", "--security-opt", "seccomp=unconfined",
		"--security-opt", "apparmor=unconfined"}
	for _, l := range labels {
		args = append(args, "--label", l)
	}
	dockerRun(t, append(args, image, "containerd")...)
	t.Cleanup(func() { dockerRun(t, "rm", "-f", "-v", name) })
	k8stest.Eventually(t, "the node's containerd", func() error {
		if out, err := exec.Command("docker", "exec", name, "ctr", "version").CombinedOutput(); err != nil {
			return errors.New(string(out))
		}
		return nil
	})
	return name
}

func dockerRun(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	if err != nil {
		t.Errorf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
