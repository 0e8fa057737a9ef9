package imagebuild

import (
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// bulk is the size of the base's content, which is random, in bytes.
const bulk = 8 << 20

// line counts the bytes that go to a daemon, and those that come from it.
type line struct {
	address  string
	up, down count
}

// count counts the bytes that are written to it.
type count struct{ atomic.Int64 }

// Write implements io.Writer.
func (c *count) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}

// newLine returns a line to the socket of a daemon. A builder at the other end is not on this machine, as far as hone knows.
func newLine(t *testing.T, socket string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{address: listener.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for near, err := listener.Accept(); err == nil; near, err = listener.Accept() {
			far, err := net.Dial("unix", socket)
			if err != nil {
				_ = near.Close()
				continue
			}
			all.Go(func() { _, _ = io.Copy(near, io.TeeReader(far, &l.down)); _ = near.Close() })
			all.Go(func() { _, _ = io.Copy(far, io.TeeReader(near, &l.up)); _ = far.Close() })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); all.Wait() })
	return l
}

// at returns the builder at the end of a line.
func (l *line) at(t *testing.T) *buildkit.Fleet {
	t.Helper()
	return builderAt(t, "tcp://"+l.address)
}

// TestBasesElsewhere builds images on the base of another one, which no registry has that the builder reaches. The base goes nowhere while the
// builder has it. A new builder, which has nothing, gets it.
func TestBasesElsewhere(t *testing.T) {
	first, second := newLine(t, buildkittest.Start(t).Socket), newLine(t, buildkittest.Start(t).Socket)
	buildkittest.Busybox(t)
	engine := realEngine(t)
	socket := Probe(t.Context()).ContainerdSocket
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	dead.Fail("Load", dead.Unreachable())
	for _, tt := range []struct {
		name   string
		plan   Plan
		engine docker.Client
		// again is set if the layers of the base have other digests here than at the builder.
		again bool
	}{
		{"node", Plan{Method: model.DeliverContainerd, Socket: socket}, docker.Optional(dead, always), false},
		{"registry of this machine", Plan{Method: model.DeliverRegistry, Registry: model.Registry{Host: buildkittest.Registry}}, docker.Optional(dead, always), false},
		{"engine", Plan{Method: model.DeliverKIND}, engine, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.plan.Method == model.DeliverContainerd && socket == "" {
				t.Skip("no containerd here")
			}
			text := uuid.NewString()
			base := Request{To: tt.plan, Registry: tt.plan.Registry, Target: model.ImageTarget{Ref: "hone-test/base-elsewhere", Docker: &model.DockerBuild{
				BuildArgs: map[string]*string{"text": &text},
				Contents:  "FROM busybox\nARG text\nRUN echo $text > /text && head -c " + strconv.Itoa(bulk) + " /dev/urandom > /bulk\nENV from=base\n"}}}
			above := Request{To: tt.plan, Registry: tt.plan.Registry, Target: model.ImageTarget{Ref: "hone-test/above-elsewhere", DependsOn: []string{base.Target.Ref}, Docker: &model.DockerBuild{
				Contents: "FROM hone-test/base-elsewhere AS made\nRUN cat /text > /made\nFROM hone-test/base-elsewhere\nCOPY --from=made /made /made\nCOPY --from=hone-test/base-elsewhere /text /copied\n" +
					"RUN --mount=from=hone-test/base-elsewhere,target=/other test -f /other/text && test \"$from\" = base && test -f /bulk\nCMD [\"cat\", \"/made\", \"/copied\"]\n"}}}
			clean := map[string]bool{}
			build := func(at *line, req Request) (model.ImageResult, int64) {
				t.Helper()
				away, before := at.at(t), at.up.Load()
				result, err := New(tt.engine).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req)
				if err != nil {
					t.Fatal(problem.Text(err))
				}
				known := clean[result.Local]
				clean[result.Local] = true
				switch {
				case known:
				case tt.engine == engine:
					removeImage(t, engine, result)
				case tt.plan.Method == model.DeliverContainerd:
					t.Cleanup(func() { forget(t, socket, "docker.io/"+result.Cluster) })
				}
				return result, at.up.Load() - before
			}
			made, _ := build(first, base)
			above.Deps = map[string]model.ImageResult{base.Target.Ref: made}
			down := first.down.Load()
			result, moved := build(first, above)
			if down = first.down.Load() - down; down > bulk/16 && tt.plan.Method == model.DeliverContainerd {
				t.Errorf("%d bytes came from the builder, and the node has the base", down)
			}
			down = first.down.Load()
			again, movedAgain := build(first, above)
			down = first.down.Load() - down
			t.Logf("moved to the builder that has the base: %d bytes, unchanged %d, and %d back", moved, movedAgain, down)
			if down > bulk/16 && tt.plan.Method != model.DeliverKIND {
				t.Errorf("%d bytes came from the builder, and the cluster has them", down)
			}
			if moved > bulk/16 && !tt.again {
				t.Errorf("%d bytes moved to the builder that has the base", moved)
			}
			if movedAgain > bulk/16 || again.Cluster != result.Cluster {
				t.Errorf("unchanged, %d bytes moved, and %s became %s", movedAgain, result.Cluster, again.Cluster)
			}
			fresh, moved := build(second, above)
			t.Logf("moved to a new builder: %d bytes", moved)
			if moved < bulk/2 || fresh.Local == "" {
				t.Errorf("%d bytes moved to a builder that lacks the base", moved)
			}
			if tt.plan.Method == model.DeliverKIND {
				return
			}
			for _, r := range []model.ImageResult{result, fresh} {
				if tt.plan.Method == model.DeliverRegistry {
					t.Cleanup(func() { forget(t, socket, r.Cluster) })
				}
				if got := runPod(t, r.Cluster); strings.TrimSpace(got) != text+"\n"+text {
					t.Errorf("the pod says %q", got)
				}
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		plan := Plan{Method: model.DeliverContainerd, Socket: socket}
		name := "hone-test/gone:" + uuid.NewString()
		lost := model.ImageResult{Local: name, Cluster: name}
		away := first.at(t)
		b := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return away })
		_, err := b.Build(t.Context(), Request{To: plan, Deps: map[string]model.ImageResult{"hone-test/gone": lost}, Target: model.ImageTarget{Ref: "hone-test/on-gone", Docker: &model.DockerBuild{Contents: "FROM hone-test/gone\n"}}})
		if !docker.IsPassing(err) || !strings.Contains(problem.Text(err), "has gone") || b.Reusable(t.Context(), lost, plan) {
			t.Errorf("got %v", err)
		}
	})
}
