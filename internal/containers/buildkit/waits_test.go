package buildkit_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	control "github.com/moby/buildkit/api/services/control"
	"google.golang.org/grpc"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// slow is a daemon whose pod has a node after some time, which may be never.
type slow struct {
	pods

	node context.Context // done once there is one
}

func (s slow) Builder(model.BuilderPod, int) (buildkit.Pod, error) { return s, nil }

func (s slow) Ready(ctx context.Context) (string, error) {
	select {
	case <-s.node.Done():
		return "", nil
	case <-ctx.Done():
		return "rootless, Pending: no node has the architecture", nil
	}
}

// workers is a daemon that answers, and builds nothing.
type workers struct {
	control.UnimplementedControlServer
}

func (workers) ListWorkers(context.Context, *control.ListWorkersRequest) (*control.ListWorkersResponse, error) {
	return &control.ListWorkersResponse{}, nil
}

// TestWaitForArchitecture: a build says why it waits for the builder of its architecture, and when it goes on or gives up.
func TestWaitForArchitecture(t *testing.T) {
	const why = "waiting for arm64: rootless, Pending: no node has the architecture"
	for name, tt := range map[string]struct {
		node, cancel time.Duration // zero for never
		want         []string
		gives        bool // up
	}{
		"node is there":  {node: time.Nanosecond},
		"node comes":     {node: time.Minute + time.Millisecond, want: []string{why, ""}}, // not at the end of a try
		"no node comes":  {want: []string{why, ""}, gives: true},
		"build is ended": {cancel: time.Minute, want: []string{why, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node, comes := context.WithCancel(context.Background())
				defer comes()
				if tt.node > 0 {
					time.AfterFunc(tt.node, comes)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				p := slow{pods: pods{make(chan net.Conn, 16)}, node: node}
				choice, err := buildkit.Choose("", p)
				if err != nil {
					t.Fatal(err)
				}
				defer choice.Close()
				server := grpc.NewServer()
				control.RegisterControlServer(server, workers{})
				closed, close := context.WithCancel(t.Context())
				var serving sync.WaitGroup
				serving.Go(func() { _ = server.Serve(one{far: p.far, closed: closed, close: close}) })
				defer serving.Wait()
				defer server.Stop()
				var got []string
				f := choice.For(model.Builder{At: model.BuilderInCluster, Pod: model.BuilderPod{Platforms: []string{"linux/amd64", "linux/arm64"}}})
				_, err = f.Build(ctx, docker.BuildRequest{Platform: "linux/arm64", Contents: "FROM scratch\n", OnWait: func(why string) { got = append(got, why) }})
				if gave := docker.IsPassing(err) && strings.Contains(problem.Text(err), "no builder for arm64 answers"); gave != tt.gives {
					t.Errorf("the build ends with %v", err)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("the build says %q, want %q", got, tt.want)
				}
			})
		})
	}
}
