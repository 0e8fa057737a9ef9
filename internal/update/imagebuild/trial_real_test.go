package imagebuild

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	images "github.com/containerd/containerd/api/services/images/v1"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTrial tries images, one of them based on another one: neither the registry nor the node gets any, and no layer travels. The build that
// follows gives them the names, and the registry the digest, that the trials had.
func TestTrial(t *testing.T) {
	d := buildkittest.Start(t)
	buildkittest.Busybox(t)
	far := newLine(t, d.Socket)
	near := builderAt(t, "unix://"+d.Socket)
	socket := Probe(t.Context()).ContainerdSocket
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	registry := model.Registry{Host: buildkittest.Registry}
	for _, tt := range []struct {
		name       string
		plan       Plan
		away       Elsewhere
		supervised bool
	}{
		{"into a registry", Plan{Method: model.DeliverRegistry, Registry: registry}, near, false},
		{"into a registry of this machine", Plan{Method: model.DeliverRegistry, Registry: registry}, far.at(t), false},
		{"into a node", Plan{Method: model.DeliverContainerd, Socket: socket}, far.at(t), false},
		{"with the synclet, into a registry", Plan{Method: model.DeliverRegistry, Registry: registry}, near, true},
		{"with the synclet, into a registry of this machine", Plan{Method: model.DeliverRegistry, Registry: registry}, far.at(t), true},
		{"with the synclet, into a node", Plan{Method: model.DeliverContainerd, Socket: socket}, far.at(t), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.plan.Method == model.DeliverContainerd && socket == "" {
				t.Skip("no containerd here")
			}
			text := uuid.NewString()
			ref := "hone-test/trial-" + text[:8]
			base := Request{To: tt.plan, Registry: tt.plan.Registry, Target: model.ImageTarget{Ref: ref + "-base", Docker: &model.DockerBuild{
				Contents: "FROM busybox\nRUN echo " + text + " > /text && head -c " + strconv.Itoa(bulk) + " /dev/urandom > /bulk\nENV from=base\n"}}}
			above := Request{To: tt.plan, Registry: tt.plan.Registry, Target: model.ImageTarget{Ref: ref + "-above", DependsOn: []string{base.Target.Ref}, Docker: &model.DockerBuild{
				Contents: "FROM " + base.Target.Ref + "\nRUN test $from = base && cat /text > /made\nCMD [\"cat\", \"/made\"]\n",
				CacheTo:  []model.BuildCache{{Type: "local", Attrs: map[string]string{"dest": t.TempDir() + "/cache"}}}}}}
			var entrypoint []string
			if above.Target.Supervised = tt.supervised; tt.supervised {
				entrypoint = []string{protocol.Path, "run", "--"}
			}
			b := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return tt.away })
			t.Cleanup(b.Close)
			up, down := far.up.Load(), far.down.Load()
			on, onDigest, err := b.Try(t.Context(), base)
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			above.Deps = map[string]model.ImageResult{base.Target.Ref: on}
			tried, digest, err := b.Try(t.Context(), above)
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			t.Logf("%s, %d bytes to the builder and %d back", digest, far.up.Load()-up, far.down.Load()-down)
			if moved := far.up.Load() - up + far.down.Load() - down; moved > bulk/16 {
				t.Errorf("%d bytes moved", moved)
			}
			if got := everywhere(t, socket, ref); len(got) > 0 {
				t.Errorf("after the trials there are %q", got)
			}
			if b.Reusable(t.Context(), tried, tt.plan) {
				t.Error("the image is said to exist")
			}
			r := NewReader(docker.Optional(dead, always)).And(b)
			im, found, err := r.Inspect(t.Context(), tried, tt.plan)
			if err != nil || !found || !slices.Equal(im.Cmd, []string{"cat", "/made"}) || !slices.Equal(im.Entrypoint, entrypoint) || !slices.Contains(im.Env, "from=base") {
				t.Errorf("the image is %+v, %v, %v", im, found, err)
			}
			for program, want := range map[string][]string{"/bin/sh": {"/bin/sh"}, "/bin/none": nil} {
				if got, err := r.Programs(t.Context(), tried, tt.plan, []string{program}); err != nil || !slices.Equal(got, want) {
					t.Errorf("programs %v, %v", got, err)
				}
			}

			fresh := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return tt.away })
			t.Cleanup(fresh.Close)
			for _, req := range []Request{base, above} {
				want, sum := on, onDigest
				if len(req.Deps) > 0 {
					want, sum = tried, digest
				}
				got, err := fresh.Build(t.Context(), req)
				if err != nil {
					t.Fatal(problem.Text(err))
				}
				switch tt.plan.Method {
				case model.DeliverContainerd:
					t.Cleanup(func() { forget(t, socket, "docker.io/"+got.Cluster) })
				default:
					if is, err := b.registry.digest(t.Context(), got.Local); is != sum {
						t.Errorf("the registry has %s, %v, and the trial said %s", is, err, sum)
					}
				}
				if tag, _ := ContentTag(sum); got.Local != want.Local || got.Cluster != want.Cluster || !strings.HasSuffix(got.Local, tag) {
					t.Errorf("built %s, and the trial said %s, %s", got.Local, want.Local, sum)
				}
			}
			if got := everywhere(t, socket, ref); len(got) != 2 {
				t.Errorf("after the builds there are %q", got)
			}
			if got := runPod(t, tried.Cluster); strings.TrimSpace(got) != text {
				t.Errorf("the pod says %q", got)
			}
			if again, is, err := fresh.Try(t.Context(), above); err != nil || is != digest || again.Local != tried.Local {
				t.Errorf("on a base that is built, the trial says %s, %v, want %s", is, err, digest)
			}
		})
	}
	t.Run("several platforms", func(t *testing.T) {
		b := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return near })
		_, _, err := b.Try(t.Context(), Request{To: Plan{Method: model.DeliverRegistry, Registry: registry}, Registry: registry,
			Target: model.ImageTarget{Ref: "hone-test/several", Docker: &model.DockerBuild{Contents: "FROM busybox\n", Platform: "linux/amd64,linux/arm64"}}})
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "without --build") {
			t.Errorf("got %v", err)
		}
	})
}

// everywhere returns the images whose names begin with ref, in the test's registry and in a node's containerd.
func everywhere(t *testing.T, socket, ref string) (out []string) {
	t.Helper()
	for _, end := range []string{"-base", "-above"} {
		repo, err := name.NewRepository(buildkittest.Registry + "/" + escaper.Replace(ref+end))
		if err != nil {
			t.Fatal(err)
		}
		tags, _ := remote.List(repo, newRegistryClient().options(context.WithoutCancel(t.Context()))...) // the error of a repository that is not there
		for _, tag := range tags {
			out = append(out, repo.Tag(tag).String())
		}
	}
	if socket == "" {
		return out
	}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := images.NewImagesClient(conn).List(metadata.AppendToOutgoingContext(context.WithoutCancel(t.Context()), "containerd-namespace", "k8s.io"), &images.ListImagesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range list.Images {
		if strings.Contains(im.Name, ref+"-") {
			out = append(out, im.Name)
		}
	}
	return out
}

// replicas are the sockets of the daemons of a builder, by the numbers of its pods.
type replicas []string

func (r replicas) Builder(_ model.BuilderPod, number int) (buildkit.Pod, error) {
	return onNodes{r[number], strconv.Itoa(number)}, nil
}

// TestTrialAtReplicas tries an image at one of two daemons that is based on an image which the other one has tried: the daemon gets the layers that
// it lacks from hone, which has the other one read them out of its cache. The base is made once. The builds that follow have the same digests.
func TestTrialAtReplicas(t *testing.T) {
	buildkittest.Busybox(t)
	choice, err := buildkit.Choose("", replicas{buildkittest.Start(t).Socket, buildkittest.Start(t).Socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = choice.Close() })
	declared := model.Builder{At: model.BuilderInCluster, Pod: model.BuilderPod{Replicas: 2}}
	socket := Probe(t.Context()).ContainerdSocket
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	registry := model.Registry{Host: buildkittest.Registry}
	for name, plan := range map[string]Plan{
		"into a registry": {Method: model.DeliverRegistry, Registry: registry},
		"into a node":     {Method: model.DeliverContainerd, Socket: socket},
	} {
		t.Run(name, func(t *testing.T) {
			if plan.Method == model.DeliverContainerd && socket == "" {
				t.Skip("no containerd here")
			}
			text, log := uuid.NewString(), &recorder{}
			// The first one has its home at the first daemon, and the second one at the second.
			base := Request{To: plan, Registry: plan.Registry, Logger: log, Target: model.ImageTarget{Ref: "hone-test-home-a", Docker: &model.DockerBuild{
				Contents: "FROM busybox\nRUN echo " + text + " > /text && head -c 100000 /dev/urandom > /random\n"}}}
			above := Request{To: plan, Registry: plan.Registry, Logger: log, Target: model.ImageTarget{Ref: "hone-test-home-b", DependsOn: []string{base.Target.Ref}, Docker: &model.DockerBuild{
				Contents: "FROM " + base.Target.Ref + "\nRUN cat /text > /made\nCMD [\"cat\", \"/made\"]\n"}}}
			away := func(model.Builder) Elsewhere { return nextDoor{choice.For(declared)} }
			b := New(docker.Optional(dead, always)).With(away)
			t.Cleanup(b.Close)
			var tried []string
			for _, req := range []*Request{&base, &above} {
				result, digest, err := b.Try(t.Context(), *req)
				if err != nil {
					t.Fatal(problem.Text(err))
				}
				tried = append(tried, digest)
				above.Deps = map[string]model.ImageResult{base.Target.Ref: result}
			}
			for number := range 2 {
				if want := "Building at kubernetes (kubernetes://here/" + strconv.Itoa(number) + ")"; !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, log)
				}
			}
			fresh := New(docker.Optional(dead, always)).With(away)
			t.Cleanup(fresh.Close)
			for i, req := range []*Request{&base, &above} {
				result, err := fresh.Build(t.Context(), *req)
				if err != nil {
					t.Fatal(problem.Text(err))
				}
				if plan.Method == model.DeliverContainerd {
					t.Cleanup(func() { forget(t, socket, "docker.io/library/"+result.Cluster) })
				}
				if tag, _ := ContentTag(tried[i]); !strings.HasSuffix(result.Local, tag) {
					t.Errorf("built %s, and the trial said %s", result.Local, tried[i])
				}
				above.Deps = map[string]model.ImageResult{base.Target.Ref: result}
			}
			if got := runPod(t, above.Deps[base.Target.Ref].Cluster); strings.TrimSpace(got) != text {
				t.Errorf("the pod says %q", got)
			}
		})
	}
}
