package docker

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/hone-dev/hone/internal/problem"
)

func TestFakeConformance(t *testing.T) {
	f := NewFake()
	var n atomic.Int64
	testConformance(t, subject{
		client: f,
		container: func(_ *testing.T, labels map[string]string) string {
			id := fmt.Sprintf("container-%d", n.Add(1))
			f.AddContainer(id, FakeContainer{Name: "web-" + id, Image: "busybox", Labels: labels})
			return id
		},
		started: func(t *testing.T, id string) string {
			c, ok := f.Container(id)
			if !ok {
				t.Fatalf("no container %s", id)
			}
			return strconv.Itoa(c.Restarts)
		},
	})
}

func TestFakeFail(t *testing.T) {
	f := NewFake()
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
	if _, ok := problem.Of(err); !ok || !IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
	f.RemoveImage("b:1")
	if _, found, _ := f.Inspect(t.Context(), "busybox"); found {
		t.Error("the image is still there")
	}
}
