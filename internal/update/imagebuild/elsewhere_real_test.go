package imagebuild

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// always is for an engine that is never needed.
func always() bool { return true }

// builderAt returns the builder at an address.
func builderAt(t *testing.T, address string) *buildkit.Fleet {
	t.Helper()
	choice, err := buildkit.Choose(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = choice.Close() })
	return choice.For(model.Builder{})
}

// TestElsewhere has a real daemon build images for each way into a cluster.
func TestElsewhere(t *testing.T) {
	d := buildkittest.Start(t)
	buildkittest.Busybox(t)
	away := builderAt(t, "unix://"+d.Socket)
	engine := realEngine(t)
	socket := Probe(t.Context()).ContainerdSocket
	text := uuid.NewString()
	request := func(ref string, plan Plan) Request {
		return Request{To: plan, Registry: plan.Registry, Target: model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{
			Contents: fmt.Sprintf("FROM busybox\nRUN echo %s > /text\nCMD [\"cat\", \"/text\"]\n", text)}}}
	}
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	dead.Fail("Load", dead.Unreachable())

	t.Run("registry", func(t *testing.T) {
		reg := model.Registry{Host: "localhost:5000"}
		plan := Plan{Method: model.DeliverRegistry, Registry: reg}
		req := request("hone-test/elsewhere", plan)
		b := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return away })
		result, err := b.Build(t.Context(), req)
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		t.Cleanup(func() { forget(t, socket, result.Cluster) })
		if again, err := b.Build(t.Context(), req); err != nil || again.Local != result.Local {
			t.Errorf("built again: %v, %v", again, err)
		}
		if !b.Reusable(t.Context(), result, plan) {
			t.Error("the image is not reusable")
		}
		log := &recorder{}
		if err := NewDeliverer(docker.Optional(dead, always)).Deliver(t.Context(), plan, result, log, nil); err != nil {
			t.Fatal(problem.Text(err))
		}
		if got := runPod(t, result.Cluster); strings.TrimSpace(got) != text {
			t.Errorf("the pod says %q", got)
		}
		above := request("hone-test/above", plan)
		above.Deps = map[string]model.ImageResult{"hone-test/elsewhere": result}
		above.Target.Docker.Contents = "FROM hone-test/elsewhere\nRUN test -f /text\n"
		if _, err := b.Build(t.Context(), above); err != nil {
			t.Error(problem.Text(err))
		}
	})
	t.Run("node", func(t *testing.T) {
		plan := Plan{Method: model.DeliverContainerd, Socket: socket}
		b := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return away })
		result, err := b.Build(t.Context(), request("hone-test-elsewhere", plan))
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		t.Cleanup(func() { forget(t, socket, "docker.io/library/"+result.Cluster) })
		log := &recorder{}
		if err := NewDeliverer(docker.Optional(dead, always)).Deliver(t.Context(), plan, result, log, nil); err != nil {
			t.Fatal(problem.Text(err))
		}
		if !strings.Contains(log.String(), "Already in the node's containerd") {
			t.Errorf("log:\n%s", log)
		}
		if got := runPod(t, result.Cluster); strings.TrimSpace(got) != text {
			t.Errorf("the pod says %q", got)
		}
		if !b.Reusable(t.Context(), result, plan) {
			t.Error("the node has the image, which is not reusable")
		}
	})
	t.Run("engine", func(t *testing.T) {
		req := request("hone-test-loaded", Plan{Method: model.DeliverKIND})
		result, err := New(engine).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req)
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		removeImage(t, engine, result)
		im, found, err := engine.Inspect(context.WithoutCancel(t.Context()), result.Local)
		if err != nil || !found || im.ID != result.ImageID || len(im.Tags) != 1 {
			t.Errorf("%+v, %v, %v", im, found, err)
		}
		_, err = New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req)
		if p, ok := problem.Of(err); !ok || docker.IsUnreachable(err) || !strings.Contains(p.Mend, "start the engine") {
			t.Errorf("without the engine: %v", err)
		}
	})
	t.Run("failure", func(t *testing.T) {
		req := request("hone-test-broken", Plan{Method: model.DeliverContainerd, Socket: socket})
		req.Target.Docker.Contents = "FROM busybox\nRUN exit 4 # " + text + "\n"
		if _, err := New(engine).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req); err == nil || !strings.Contains(err.Error(), "exit code 4") {
			t.Errorf("got %v", err)
		}
		req.To.Socket += ".none"
		req.Target.Docker.Contents = "FROM busybox\nRUN true # " + text + "\n"
		if _, err := New(engine).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req); err == nil || !strings.Contains(err.Error(), "import") {
			t.Errorf("got %v", err)
		}
	})
}
