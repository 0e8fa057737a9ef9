package imagebuild

import (
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

func TestSyncletImage(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		im, err := syncletImage(arch)
		if err != nil {
			t.Fatal(err)
		}
		config, err := im.ConfigFile()
		if err != nil || config.Architecture != arch || config.Config.User != "65532:65532" {
			t.Errorf("%s: %+v, %v", arch, config, err)
		}
		again, err := syncletImage(arch)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := im.Digest()
		if two, err := again.Digest(); err != nil || one != two {
			t.Errorf("%s: the second time it is another image: %s, %s, %v", arch, one, two, err)
		}
	}
	if _, err := syncletImage("mips"); err == nil {
		t.Error("there is an image without a program")
	}
}

func TestDeliverSynclet(t *testing.T) {
	engine := dockertest.New()
	reg := model.Registry{Host: startRegistry(t, engine), HostFromCluster: "registry:5000"}
	plan := Plan{Method: model.DeliverRegistry, Registry: reg}
	image := NewSyncletImage(engine, NewDeliverer(engine))
	log := &recorder{}
	var refs []string
	for range 2 {
		ref, err := image.Deliver(t.Context(), plan, "amd64", "api", log)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if refs[0] != refs[1] || !strings.HasPrefix(refs[0], "registry:5000/hone-synclet:hone-") {
		t.Errorf("got %q", refs)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "Pushing to local registry") {
		t.Errorf("it was delivered again:\n%s", got)
	}
	// Another session finds it in the registry.
	if _, err := NewSyncletImage(engine, NewDeliverer(engine)).Deliver(t.Context(), plan, "amd64", "api", log); err != nil {
		t.Fatal(err)
	}
	if got := engine.Pushed(); len(got) != 1 {
		t.Errorf("pushed %q", got)
	}
	if ref, err := image.Deliver(t.Context(), plan, "arm64", "api", log); err != nil || ref == refs[0] {
		t.Errorf("for another architecture: %s, %v", ref, err)
	}
}

// TestDeliverSyncletBeside uses the repository of another image if there is no registry for all.
func TestDeliverSyncletBeside(t *testing.T) {
	engine := dockertest.New()
	host := startRegistry(t, engine)
	image := NewSyncletImage(engine, NewDeliverer(engine))
	plan := Plan{Method: model.DeliverPush, Why: "there is no registry"}
	ref, err := image.Deliver(t.Context(), plan, "amd64", host+"/shop/api:dev", nil)
	if err != nil || !strings.HasPrefix(ref, host+"/shop/api:synclet-hone-") {
		t.Errorf("got %q, %v", ref, err)
	}
	if diff := cmp.Diff([]string{ref}, engine.Pushed()); diff != "" {
		t.Error(diff)
	}
	if _, err := image.Deliver(t.Context(), plan, "amd64", "", nil); err == nil {
		t.Error("it went nowhere")
	}
	_, err = image.Deliver(t.Context(), plan, "amd64", "api", nil)
	if _, ok := problem.Of(err); !ok {
		t.Errorf("an image without a registry: %v", err)
	}
}

// TestDeliverSyncletWithoutEngine has another builder in place of an engine that does not answer: the image goes to the registry from here. A
// cluster whose nodes are containers needs the engine.
func TestDeliverSyncletWithoutEngine(t *testing.T) {
	host := startRegistry(t, dockertest.New())
	dead := dockertest.New()
	for _, op := range []string{"Load", "Push", "Save", "Inspect", "Containers"} {
		dead.Fail(op, dead.Unreachable())
	}
	engine := docker.Optional(dead, always)
	image := NewSyncletImage(engine, NewDeliverer(engine)).Unless(always)
	reg := model.Registry{Host: host, HostFromCluster: "registry:5000"}
	for _, tt := range []struct {
		plan Plan
		want string
	}{
		{Plan{Method: model.DeliverRegistry, Registry: reg}, "registry:5000/hone-synclet:hone-"},
		{Plan{Method: model.DeliverPush}, host + "/shop/api:synclet-hone-"},
	} {
		ref, err := image.Deliver(t.Context(), tt.plan, "amd64", host+"/shop/api:dev", nil)
		if err != nil || !strings.HasPrefix(ref, tt.want) {
			t.Fatalf("%s: %q, %v", tt.plan.Method, ref, err)
		}
		if there := strings.Replace(ref, reg.HostFromCluster, host, 1); !newRegistryClient().has(t.Context(), there) {
			t.Errorf("the registry lacks %s", there)
		}
	}
	if _, err := image.Deliver(t.Context(), Plan{Method: model.DeliverKIND, Cluster: "a"}, "amd64", "api", nil); !docker.IsUnreachable(err) {
		t.Errorf("for nodes that are containers of the engine: %v", err)
	}
}

// TestPruneSynclet keeps the image of this build of hone, and removes the images of earlier builds.
func TestPruneSynclet(t *testing.T) {
	b, engine := newTestBuilder(t)
	build := func(label, contents string) string {
		id, err := engine.Build(t.Context(), docker.BuildRequest{Contents: contents, Labels: map[string]string{Label: SyncletName, syncletLabel: label}})
		if err != nil {
			t.Fatal(err)
		}
		tag, err := ContentTag(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Tag(t.Context(), id, SyncletName+":"+tag); err != nil {
			t.Fatal(err)
		}
		engine.SetTaggedAt(id, b.now().Add(-time.Hour))
		return SyncletName + ":" + tag
	}
	image, err := syncletImage("amd64")
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	build(config.Config.Labels[syncletLabel], "FROM scratch\nLABEL a=1\n")
	old := build("another", "FROM scratch\nLABEL a=2\n")
	done, err := b.Prune(t.Context(), PruneRequest{Of: []string{SyncletName}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{old}, done.Refs); diff != "" {
		t.Error(diff)
	}
}

func TestRealSyncletImage(t *testing.T) {
	t.Parallel()
	engine := realEngine(t)
	info, err := engine.Ping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Method: model.DeliverShared, Why: "it is the same"}
	ref, err := NewSyncletImage(engine, NewDeliverer(engine)).Deliver(t.Context(), plan, info.Arch, "", nil)
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	im, found, err := engine.Inspect(t.Context(), ref)
	if err != nil || !found || im.User != syncletUser || !cmp.Equal(im.Entrypoint, []string{"/synclet"}) {
		t.Errorf("got %+v, %v, %v", im, found, err)
	}
	if got, err := engine.Programs(t.Context(), ref, []string{"/synclet", "/bin/sh"}); err != nil || !cmp.Equal(got, []string{"/synclet"}) {
		t.Errorf("it has %q, %v", got, err)
	}
}
