package imagebuild

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	content "github.com/containerd/containerd/api/services/content/v1"
	leases "github.com/containerd/containerd/api/services/leases/v1"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// disturbed is a builder that counts its builds. Something happens after the first one, when the node has taken in the image.
type disturbed struct {
	Elsewhere

	builds int
	then   func()
}

// Build implements Elsewhere.
func (d *disturbed) Build(ctx context.Context, req docker.BuildRequest) (string, error) {
	id, err := d.Elsewhere.Build(ctx, req)
	if d.builds++; d.builds == 1 && d.then != nil {
		d.then()
	}
	return id, err
}

// realNode is the containerd of this machine, as pods see it.
type realNode struct {
	t      *testing.T
	socket string
	conn   *grpc.ClientConn
	ctx    context.Context
	names  []string
	bulk   string // the digest of the large layer
}

func newRealNode(t *testing.T, socket string) *realNode {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	n := &realNode{t: t, socket: socket, conn: conn, ctx: metadata.AppendToOutgoingContext(context.WithoutCancel(t.Context()), "containerd-namespace", "k8s.io")}
	t.Cleanup(func() { n.collect(); _ = conn.Close() })
	return n
}

// check reads all blobs of an image, and compares them with their digests.
func (n *realNode) check(of model.ImageResult) {
	n.t.Helper()
	n.names = append(n.names, "docker.io/"+of.Cluster)
	found, err := readInNode(n.t.Context(), nil, Plan{Method: model.DeliverContainerd, Socket: n.socket}, of, func(image v1.Image) error {
		layers, err := image.Layers()
		if err != nil {
			return err
		}
		for _, layer := range layers {
			digest, err := layer.Digest()
			if err != nil {
				return err
			}
			if size, err := layer.Size(); err == nil && size >= bulk {
				n.bulk = digest.String()
			}
		}
		return validate.Image(image)
	})
	if !found || err != nil {
		n.t.Errorf("the image %s: %v, %v", of.Cluster, found, err)
	}
}

// lose removes the large layer. Its bytes go with the garbage.
func (n *realNode) lose() {
	if _, err := content.NewContentClient(n.conn).Delete(n.ctx, &content.DeleteContentRequest{Digest: n.bulk}); err != nil {
		n.t.Error(err)
	}
	service := leases.NewLeasesClient(n.conn)
	made, err := service.Create(n.ctx, &leases.CreateRequest{})
	if err != nil {
		n.t.Error(err)
		return
	}
	if _, err := service.Delete(n.ctx, &leases.DeleteRequest{ID: made.Lease.ID, Sync: true}); err != nil {
		n.t.Error(err)
	}
}

// collect removes all images before, and lets containerd collect its garbage.
func (n *realNode) collect() {
	for _, name := range n.names {
		forget(n.t, n.socket, name)
	}
	n.names = nil
}

// TestOnlyLayersTravelIntoNode edits a file of an image with a large layer: the node has that layer, so it stays where it is. It travels if the
// node has lost it, even at the last moment.
func TestOnlyLayersTravelIntoNode(t *testing.T) {
	socket := Probe(t.Context()).ContainerdSocket
	if socket == "" {
		t.Skip("no containerd here")
	}
	far := newLine(t, buildkittest.Start(t).Socket)
	buildkittest.Busybox(t)
	n := newRealNode(t, socket)
	dead := dockertest.New()
	dead.Fail("Alive", dead.Unreachable())
	plan := Plan{Method: model.DeliverContainerd, Socket: socket}
	dir := t.TempDir()
	req := Request{To: plan, Target: model.ImageTarget{Ref: "hone-test/into-node", Docker: &model.DockerBuild{Context: dir,
		Contents: "FROM busybox\nRUN echo " + uuid.NewString() + " > /id && head -c " + strconv.Itoa(bulk) + " /dev/urandom > /bulk\n" +
			"COPY text /text\nCMD [\"sh\", \"-c\", \"wc -c < /bulk; cat /text\"]\n"}}}
	for _, tt := range []struct {
		name           string
		before, within func()
		travels        bool // the large layer
		builds         int
	}{
		{name: "first image", travels: true, builds: 1},
		{name: "edit", builds: 1},
		{name: "lost layer", before: n.lose, travels: true, builds: 1},
		{name: "layer lost meanwhile", within: n.lose, travels: true, builds: 2},
		{name: "garbage collected meanwhile", within: n.collect, builds: 1},
		{name: "garbage collected before", before: n.collect, travels: true, builds: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n.t = t
			text := uuid.NewString()
			if err := os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				tt.before()
			}
			away := &disturbed{Elsewhere: far.at(t), then: tt.within}
			before := far.down.Load()
			result, err := New(docker.Optional(dead, always)).With(func(model.Builder) Elsewhere { return away }).Build(t.Context(), req)
			if err != nil {
				t.Fatal(problem.Text(err))
			}
			moved := far.down.Load() - before
			t.Logf("%d bytes came from the builder", moved)
			if least, most := int64(bulk), int64(bulk+bulk/2); tt.travels && (moved < least || moved > most) {
				t.Errorf("%d bytes came from the builder, want %d to %d", moved, least, most)
			}
			if most := int64(100_000); !tt.travels && moved > most {
				t.Errorf("%d bytes came from the builder, want at most %d", moved, most)
			}
			if away.builds != tt.builds {
				t.Errorf("built %d times, want %d", away.builds, tt.builds)
			}
			n.check(result)
			if got := runPod(t, result.Cluster); strings.TrimSpace(got) != strconv.Itoa(bulk)+"\n"+text {
				t.Errorf("the pod says %q", got)
			}
		})
	}
	n.t = t
}
