package buildkit_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/model"
)

// lines are pods whose daemons are at the ends of lines.
type lines []*line

func (l lines) Builder(_ model.BuilderPod, replica int) (buildkit.Pod, error) {
	return member{l[replica], replica}, nil
}

// member is one of them. While its line is cut, it starts.
type member struct {
	*line
	number int
}

var _ buildkit.Pod = member{}

func (m member) Namespace() string { return "here" }
func (m member) Name() string      { return fmt.Sprintf("pod-%d", m.number) }
func (m member) String() string    { return "rootless" }

func (m member) Dial(ctx context.Context, _ func(error)) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", m.path)
}

func (m member) Ready(ctx context.Context) (string, error) {
	c, err := net.Dial("unix", m.path)
	if err != nil {
		<-ctx.Done()
		return "no node has room", nil //nolint:nilerr // it starts
	}
	return "", c.Close()
}

// heard is a logger that keeps the lines about places.
type heard struct {
	mu    sync.Mutex
	where []string
}

func (h *heard) Write(_ logstore.Level, text string) {
	if at, ok := strings.CutPrefix(text, "Building at kubernetes (kubernetes://here/"); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		name, _, _ := strings.Cut(at, ")")
		h.where = append(h.where, name)
	}
}

func (h *heard) Progress(string, string, bool) {}

// TestFleet builds images at their homes. Where a daemon has gone, or goes in the middle of the build, the other one takes its place.
func TestFleet(t *testing.T) {
	buildkittest.Busybox(t)
	all := lines{newLine(t, buildkittest.Start(t).Socket), newLine(t, buildkittest.Start(t).Socket)}
	choice, err := buildkit.Choose("", all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = choice.Close() })
	f := choice.For(model.Builder{At: model.BuilderInCluster, Pod: model.BuilderPod{Replicas: len(all)}})
	if want := "kubernetes (kubernetes://here), 2 pods"; f.Describe() != want || f.String() != "kubernetes (kubernetes://here)" || f.OnThisMachine() {
		t.Errorf("it is %s", f.Describe())
	}
	step := 0
	build := func(image string, onStep func(begun, all int)) (places string, err error) {
		log := &heard{}
		step++
		_, err = f.Build(t.Context(), docker.BuildRequest{Image: image, Log: log, OnStep: onStep,
			Contents: fmt.Sprintf("FROM busybox\nENV step=%d again=%s\nRUN test -e /none || sleep 1\n", step, dockertest.Run)})
		return strings.Join(log.where, " "), err
	}
	expect := func(image string, onStep func(begun, all int), want string) {
		t.Helper()
		if got, err := build(image, onStep); err != nil || got != want {
			t.Errorf("%s is built at %q, want %q: %v", image, got, want, problem.Text(err))
		}
	}
	homes := map[string]string{} // an image for each home
	for i := 0; len(homes) < len(all); i++ {
		image := fmt.Sprintf("image-%d", i)
		at, err := build(image, nil)
		if err != nil {
			t.Fatal(problem.Text(err))
		}
		homes[at] = image
	}
	first, second := homes["pod-0"], homes["pod-1"]
	expect(first, nil, "pod-0")
	expect(second, nil, "pod-1")

	expect(first, func(begun, steps int) {
		if begun == steps {
			all[0].cut()
		}
	}, "pod-0 pod-1")
	expect(first, nil, "pod-1")
	expect(second, nil, "pod-1")
	if err := f.Alive(t.Context()); err != nil {
		t.Error(problem.Text(err))
	}
	all[0].open(t)
	expect(first, nil, "pod-0")

	if testing.Short() {
		return // the rest waits for all daemons in vain
	}
	all[0].cut()
	all[1].cut()
	if _, err := build(second, nil); !docker.IsUnreachable(err) {
		t.Errorf("without a daemon: %v", err)
	}
	if _, err := f.Ping(t.Context()); !docker.IsStarting(err) || !strings.Contains(problem.Text(err), "no node has room") {
		t.Errorf("without a daemon: %v", err)
	}
}
