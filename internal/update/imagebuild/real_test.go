package imagebuild

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	images "github.com/containerd/containerd/api/services/images/v1"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/model"
)

// realEngine returns the engine of the test cluster.
func realEngine(t *testing.T) docker.Client {
	t.Helper()
	return dockertest.Real(t)
}

// kubectl runs a command on the test cluster.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "kubectl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// runPod runs the image in a pod that must not pull and returns its output.
func runPod(t *testing.T, image string) string {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("needs kubectl")
	}
	ns := "hone-test-" + uuid.NewString()[:8]
	kubectl(t, "create", "namespace", ns)
	t.Cleanup(func() { kubectl(t, "delete", "namespace", ns, "--wait=false") })
	kubectl(t, "-n", ns, "run", "probe", "--image", image, "--image-pull-policy", "IfNotPresent", "--restart", "Never",
		`--overrides={"spec":{"automountServiceAccountToken":false}}`)
	kubectl(t, "-n", ns, "wait", "pod/probe", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=50s")
	return kubectl(t, "-n", ns, "logs", "probe")
}

// removeImage removes an image that a test built from the engine.
func removeImage(t *testing.T, engine docker.Client, result model.ImageResult) {
	t.Cleanup(func() {
		if err := engine.Remove(context.WithoutCancel(t.Context()), result.Local); err != nil && !docker.IsNotFound(err) {
			t.Errorf("clean up: %v", err)
		}
	})
}

// realBuild builds an image that prints a unique text.
func realBuild(t *testing.T, engine docker.Client, ref string, reg model.Registry) (model.ImageResult, string) {
	t.Helper()
	text := uuid.NewString()
	target := model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{
		Contents: fmt.Sprintf("FROM busybox\nRUN echo %s > /text\nCMD [\"cat\", \"/text\"]\n", text),
	}}
	result, err := New(engine).Build(t.Context(), Request{Target: target, Registry: reg})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, engine, result)
	return result, text
}

func TestRealRegistry(t *testing.T) {
	engine := realEngine(t)
	reg := model.Registry{Host: "localhost:5000"}
	result, text := realBuild(t, engine, "hone-test/registry", reg)
	d := NewDeliverer(engine)
	log := &recorder{}
	plan := Plan{Method: model.DeliverRegistry, Registry: reg}
	if err := d.Deliver(t.Context(), plan, result, log, nil); err != nil {
		t.Fatal(problem.Text(err))
	}
	began := time.Now()
	if err := d.Deliver(t.Context(), plan, result, log, nil); err != nil {
		t.Fatal(problem.Text(err))
	}
	t.Logf("unchanged image: %s\n%s", time.Since(began), log)
	if !strings.Contains(log.String(), "Already in local registry localhost:5000") {
		t.Errorf("log:\n%s", log)
	}
	t.Cleanup(func() { forget(t, Probe(context.WithoutCancel(t.Context())).ContainerdSocket, result.Cluster) })
	if got := runPod(t, result.Cluster); strings.TrimSpace(got) != text {
		t.Errorf("the pod says %q", got)
	}
}

func TestRealContainerd(t *testing.T) {
	engine := realEngine(t)
	found := Probe(t.Context())
	if found.ContainerdSocket == "" {
		t.Fatal("the cluster's containerd was not found")
	}
	info, err := engine.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan := found.Choose(model.Cluster{Product: model.ProductHone, Nodes: 1, Runtime: "containerd", Server: "https://127.0.0.1:6443"},
		info, model.Registry{}, model.ImageTarget{Ref: "hone-test-import"})
	if plan.Method != model.DeliverContainerd {
		t.Fatalf("planned %+v", plan)
	}
	result, text := realBuild(t, engine, "hone-test-import", model.Registry{})
	t.Cleanup(func() { forget(t, plan.Socket, "docker.io/library/"+result.Cluster) })
	d := NewDeliverer(engine)
	log := &recorder{}
	for range 2 {
		began := time.Now()
		if err := d.Deliver(t.Context(), plan, result, log, nil); err != nil {
			t.Fatal(problem.Text(err))
		}
		t.Logf("took %s", time.Since(began))
	}
	if !strings.Contains(log.String(), "Already in the node's containerd") {
		t.Errorf("log:\n%s", log)
	}
	if got := runPod(t, result.Cluster); strings.TrimSpace(got) != text {
		t.Errorf("the pod says %q", got)
	}
	node, err := containerd.Dial(plan.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if there, err := node.Has(t.Context(), "docker.io/library/hone-test-no-such-image:1"); there || err != nil {
		t.Errorf("unknown image: %v, %v", there, err)
	}
	if err := node.Import(t.Context(), strings.NewReader("no archive at all"), "docker.io/library/x:1"); err == nil {
		t.Error("imported nonsense")
	}
}

// forget removes an image and the names that pulling gave it from the node's containerd, and collects the garbage.
func forget(t *testing.T, socket, name string) {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(context.WithoutCancel(t.Context()), "containerd-namespace", "k8s.io")
	service := images.NewImagesClient(conn)
	got, err := service.Get(ctx, &images.GetImageRequest{Name: name})
	if status.Code(err) == codes.NotFound {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	same, err := service.List(ctx, &images.ListImagesRequest{Filters: []string{"target.digest==" + got.Image.Target.Digest}})
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range same.Images {
		if _, err := service.Delete(ctx, &images.DeleteImageRequest{Name: im.Name, Sync: true}); err != nil && status.Code(err) != codes.NotFound {
			t.Errorf("clean up %s: %v", im.Name, err)
		}
	}
}

func TestRealBase(t *testing.T) {
	engine := realEngine(t)
	base, _ := realBuild(t, engine, "hone-test-base", model.Registry{})
	target := model.ImageTarget{Ref: "hone-test-child", DependsOn: []string{"hone-test-base"}, Docker: &model.DockerBuild{
		Contents: "ARG BASE=hone-test-base\nFROM ${BASE}\nFROM busybox\nCOPY --from=hone-test-base /text /text\nCMD cat /text\n",
	}}
	deps := map[string]model.ImageResult{"hone-test-base": base}
	b := New(engine)
	child, err := b.Build(t.Context(), Request{Target: target, Deps: deps})
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	removeImage(t, engine, child)
	again, err := b.Build(t.Context(), Request{Target: target, Deps: deps})
	if err != nil || again.Local != child.Local {
		t.Errorf("an unchanged image became %s, was %s: %v", again.Local, child.Local, err)
	}
	if !b.Reusable(t.Context(), child, Plan{}) {
		t.Error("the image cannot be reused")
	}
}
