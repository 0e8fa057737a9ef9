package dockertest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
)

func TestFakeConformance(t *testing.T) {
	f := New()
	var n atomic.Int64
	Conformance(t, Subject{
		Client: f,
		Container: func(_ *testing.T, labels map[string]string) string {
			id := fmt.Sprintf("container-%d", n.Add(1))
			f.AddContainer(id, Container{Name: "web-" + id, Image: "busybox", Labels: labels})
			return id
		},
		Writes: func(*testing.T) string {
			id := fmt.Sprintf("container-%d", n.Add(1))
			long, at := strings.Repeat("x", 20_000), time.Now()
			c := Container{Name: id, Image: "busybox", State: docker.ContainerState{Status: "exited", ExitCode: 3, StartedAt: at, FinishedAt: at}}
			for _, text := range []string{"out", "err", "o" + long, "e" + long} {
				c.Log = append(c.Log, Line{Time: at, Text: text})
			}
			f.AddContainer(id, c)
			return id
		},
		Started: func(t *testing.T, id string) string {
			c, ok := f.Container(id)
			if !ok {
				t.Fatalf("no container %s", id)
			}
			return strconv.Itoa(c.Restarts)
		},
	})
}

func TestFakeFail(t *testing.T) {
	f := New()
	boom := errors.New("boom")
	f.Fail("Tag", boom)
	if err := f.Tag(t.Context(), "busybox", "b:1"); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if err := f.Tag(t.Context(), "busybox", "b:1"); err != nil {
		t.Errorf("the failure stayed: %v", err)
	}
	f.Fail("Ping", f.Unreachable())
	_, err := f.Ping(t.Context())
	if _, ok := problem.Of(err); !ok || !docker.IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
	f.RemoveImage("b:1")
	if _, found, _ := f.Inspect(t.Context(), "busybox"); found {
		t.Error("the image is still there")
	}
}
