package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// startRegistry runs a registry in this process and lets the fake engine push to it. It returns the registry's host.
func startRegistry(t *testing.T, engine *dockertest.Fake) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(nopLog)))
	t.Cleanup(server.Close)
	engine.OnPush = func(ctx context.Context, ref string) error {
		parsed, err := name.ParseReference(ref)
		if err != nil {
			return err
		}
		im, err := random.Image(64, 1)
		if err != nil {
			return err
		}
		return remote.Write(parsed, im, remote.WithContext(ctx), remote.WithTransport(newRegistryClient().transport))
	}
	return strings.TrimPrefix(server.URL, "http://")
}

// built puts an image into the engine as Build would.
func built(t *testing.T, engine *dockertest.Fake, ref string, reg model.Registry) model.ImageResult {
	t.Helper()
	id := engine.AddImage(ref)
	b := New(engine)
	result, err := b.tagByContent(t.Context(), Request{Target: model.ImageTarget{Ref: ref}, Registry: reg}, id)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestDeliverRegistry(t *testing.T) {
	engine := dockertest.New()
	reg := model.Registry{Host: startRegistry(t, engine)}
	result := built(t, engine, "api", reg)
	plan := Plan{Method: model.DeliverRegistry, Registry: reg}
	d := NewDeliverer(engine)
	log := &recorder{}
	for range 2 {
		if err := d.Deliver(t.Context(), plan, result, log, nil); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("Pushing to local registry %[1]s: %[2]s\nAlready in local registry %[1]s: %[2]s\n", reg.Host, result.Local)
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := engine.Pushed(); len(got) != 1 {
		t.Errorf("pushed %v", got)
	}
	// A tag that does not come from the content does not identify it.
	mutable := model.ImageResult{Local: reg.Host + "/api:v1", ImageID: result.ImageID}
	if err := engine.Tag(t.Context(), result.ImageID, mutable.Local); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Deliver(t.Context(), plan, mutable, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := engine.Pushed(); len(got) != 3 {
		t.Errorf("pushed %v", got)
	}
	if !New(engine).Reusable(t.Context(), model.ImageResult{Local: mutable.Local}, Plan{}) {
		t.Error("an image that only the registry has cannot be reused")
	}
}

func TestDeliverPush(t *testing.T) {
	engine := dockertest.New()
	host := startRegistry(t, engine)
	d := NewDeliverer(engine)
	log := &recorder{}
	named := built(t, engine, host+"/team/api", model.Registry{})
	if err := d.Deliver(t.Context(), Plan{Method: model.DeliverPush}, named, log, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "Pushing to registry "+host) {
		t.Errorf("log %q", log)
	}
	nowhere := built(t, engine, "api", model.Registry{})
	err := d.Deliver(t.Context(), Plan{Method: model.DeliverPush, Why: "the cluster announces no registry"}, nowhere, nil, nil)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "default_registry") {
		t.Errorf("got %v", err)
	}
	engine.Fail("Push", errors.New("boom"))
	other := built(t, engine, host+"/team/web", model.Registry{})
	if err := d.Deliver(t.Context(), Plan{Method: model.DeliverPush}, other, nil, nil); err == nil || !strings.Contains(err.Error(), other.Local) {
		t.Errorf("got %v", err)
	}
}

func TestDeliverNothing(t *testing.T) {
	engine := dockertest.New()
	log := &recorder{}
	for _, method := range []model.DeliveryMethod{model.DeliverNone, model.DeliverShared} {
		if err := NewDeliverer(engine).Deliver(t.Context(), Plan{Method: method, Why: "because"}, model.ImageResult{}, log, nil); err != nil {
			t.Error(err)
		}
	}
	if log.String() != "Nothing to push: because\nNothing to push: because\n" || len(engine.Pushed()) != 0 {
		t.Errorf("log %q, pushed %v", log, engine.Pushed())
	}
}

// node returns a container that simulates containerd's command-line tool.
func node(name string, labels map[string]string, imported *[]string) dockertest.Container {
	return dockertest.Container{Name: name, Labels: labels, Exec: func(_ context.Context, argv []string, stdin io.Reader, out io.Writer) int {
		switch strings.Join(argv[:5], " ") {
		case "ctr -n k8s.io images ls":
			for _, image := range *imported {
				if argv[5] == "name=="+image {
					fmt.Fprintln(out, image, "application/vnd.oci.image.manifest.v1+json", "sha256:1", "1.0 MiB")
				}
			}
			return 0
		case "ctr -n k8s.io images import":
			data, err := io.ReadAll(stdin)
			if err != nil || len(data) == 0 {
				return 1
			}
			_, rest, _ := strings.Cut(string(data), `"RepoTags":["`)
			ref, _, _ := strings.Cut(rest, `"`)
			*imported = append(*imported, "docker.io/library/"+ref)
			return 0
		}
		return 127
	}}
}

func noTools(string) (string, error) { return "", exec.ErrNotFound }

func TestDeliverIntoNodes(t *testing.T) {
	kind := func(role string) map[string]string {
		return map[string]string{"io.x-k8s.kind.cluster": "dev", "io.x-k8s.kind.role": role}
	}
	k3d := func(role string) map[string]string {
		return map[string]string{"app": "k3d", "k3d.cluster": "dev", "k3d.role": role}
	}
	for _, tt := range []struct {
		plan    Plan
		labels  func(string) map[string]string
		roles   [2]string
		another string
	}{
		{Plan{Method: model.DeliverKIND, Cluster: "dev"}, kind, [2]string{"control-plane", "worker"}, "external-load-balancer"},
		{Plan{Method: model.DeliverK3D, Cluster: "dev"}, k3d, [2]string{"server", "agent"}, "loadbalancer"},
	} {
		t.Run(string(tt.plan.Method), func(t *testing.T) {
			engine := dockertest.New()
			var first, second, helper []string
			engine.AddContainer("n1", node("n1", tt.labels(tt.roles[0]), &first))
			engine.AddContainer("n2", node("n2", tt.labels(tt.roles[1]), &second))
			engine.AddContainer("lb", node("lb", tt.labels(tt.another), &helper))
			result := built(t, engine, "api", model.Registry{})
			d := NewDeliverer(engine)
			d.lookPath = noTools
			log := &recorder{}
			for range 2 {
				if err := d.Deliver(t.Context(), tt.plan, result, log, nil); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"docker.io/library/" + result.Local}
			if !cmp.Equal(first, want) || !cmp.Equal(second, want) || helper != nil {
				t.Errorf("imported %v, %v, %v", first, second, helper)
			}
			b := New(engine)
			engine.RemoveImage(result.ImageID)
			now, ok := b.still(t.Context(), result, tt.plan)
			if !ok || now.ImageID != "" {
				t.Errorf("all nodes have the image that the engine has lost, but it is %+v, %t", now, ok)
			}
			if err := d.Deliver(t.Context(), tt.plan, now, log, nil); err != nil {
				t.Error(err)
			}
			second = nil
			if _, ok := b.still(t.Context(), result, tt.plan); ok {
				t.Error("a node lacks the image that the engine has lost")
			}
			if strings.Count(log.String(), "Loading into") != 1 || strings.Count(log.String(), "Already in") != 2 {
				t.Errorf("log:\n%s", log)
			}
		})
	}
	t.Run("no nodes", func(t *testing.T) {
		engine := dockertest.New()
		d := NewDeliverer(engine)
		d.lookPath = noTools
		err := d.Deliver(t.Context(), Plan{Method: model.DeliverKIND, Cluster: "dev"}, built(t, engine, "api", model.Registry{}), nil, nil)
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "install kind") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nodes that refuse", func(t *testing.T) {
		engine := dockertest.New()
		refuses := dockertest.Container{Name: "n1", Labels: kind("control-plane"),
			Exec: func(_ context.Context, _ []string, stdin io.Reader, out io.Writer) int {
				fmt.Fprint(out, "ctr: no such file")
				return 127
			}}
		engine.AddContainer("n1", refuses)
		d := NewDeliverer(engine)
		result := built(t, engine, "api", model.Registry{})
		d.lookPath = noTools
		if err := d.Deliver(t.Context(), Plan{Method: model.DeliverKIND, Cluster: "dev"}, result, nil, nil); err == nil || !strings.Contains(err.Error(), "import into node n1") {
			t.Errorf("got %v", err)
		}
		d.lookPath = func(string) (string, error) { return "echo", nil }
		log := &recorder{}
		if err := d.Deliver(t.Context(), Plan{Method: model.DeliverKIND, Cluster: "dev"}, result, log, nil); err != nil {
			t.Error(err)
		}
		if text := log.String(); !strings.Contains(text, "no such file; trying kind") || !strings.Contains(text, "load docker-image") {
			t.Errorf("log:\n%s", text)
		}
	})
	t.Run("tool", func(t *testing.T) {
		engine := dockertest.New()
		d := NewDeliverer(engine)
		d.lookPath = func(string) (string, error) { return "echo", nil }
		log := &recorder{}
		if err := d.Deliver(t.Context(), Plan{Method: model.DeliverKIND, Cluster: "dev"}, built(t, engine, "api", model.Registry{}), log, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "load docker-image api:hone-") || !strings.Contains(log.String(), "--name dev") {
			t.Errorf("log:\n%s", log)
		}
	})
}
