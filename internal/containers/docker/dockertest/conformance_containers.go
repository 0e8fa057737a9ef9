package dockertest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/containers/docker"
)

func testContainers(t *testing.T, s Subject) {
	label := map[string]string{"hone-test": t.Name() + Run}
	id := s.Container(t, label)
	got, err := s.Client.Containers(t.Context(), label)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Name == "" || got[0].Labels["hone-test"] != t.Name()+Run {
		t.Errorf("got %+v, %v", got, err)
	}
	none, err := s.Client.Containers(t.Context(), map[string]string{"hone-test": "nobody"})
	if err != nil || len(none) != 0 {
		t.Errorf("got %+v, %v", none, err)
	}
}

func testRestart(t *testing.T, s Subject) {
	id := s.Container(t, nil)
	for _, gently := range []bool{false, true} {
		before := s.Started(t, id)
		if err := s.Client.RestartContainer(t.Context(), id, gently); err != nil {
			t.Fatal(err)
		}
		if s.Started(t, id) == before {
			t.Errorf("the container was not restarted (gently: %t)", gently)
		}
	}
	if err := s.Client.RestartContainer(t.Context(), "0123456789abcdef", true); !docker.IsNotFound(err) {
		t.Errorf("no container: %v", err)
	}
}

// testContainerStates checks running containers and a stopped one, and removes one.
func testContainerStates(t *testing.T, s Subject) {
	label := "hone-test-" + uuid.NewString()
	labels := map[string]string{label: "yes"}
	id := s.Container(t, labels)
	find := func(labels map[string]string) []docker.ContainerState {
		t.Helper()
		list, err := s.Client.ContainerStates(t.Context(), labels)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, value := range []string{"yes", ""} {
		list := find(map[string]string{label: value})
		if len(list) != 1 || list[0].ID != id || list[0].Image != "busybox" || list[0].Labels[label] != "yes" || !list[0].Running() {
			t.Errorf("label %q: %+v", value, list)
		}
	}
	if list := find(map[string]string{label: "no"}); len(list) > 0 {
		t.Errorf("another label: %+v", list)
	}
	if s.Writes == nil {
		return
	}
	id = s.Writes(t)
	deadline := time.Now().Add(30 * time.Second)
	for {
		var state docker.ContainerState
		for _, c := range find(nil) {
			if c.ID == id {
				state = c
			}
		}
		if state.Status == "exited" {
			if state.ExitCode != 3 || state.StartedAt.IsZero() || state.FinishedAt.IsZero() || state.Running() {
				t.Errorf("a container that has ended: %+v", state)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the container has not ended: %+v", state)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := s.Client.RemoveContainer(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := s.Client.RemoveContainer(t.Context(), id); !docker.IsNotFound(err) {
		t.Errorf("remove it again: %v", err)
	}
}

// testWatchContainers watches a new container and a restarted one.
func testWatchContainers(t *testing.T, s Subject) {
	label := "hone-test-" + uuid.NewString()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changed, ended := make(chan struct{}, 1000), make(chan error, 1)
	go func() { ended <- s.Client.WatchContainers(ctx, label, func() { changed <- struct{}{} }) }()
	next := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatalf("not told of %s", what)
		}
	}
	next("the beginning")
	id := s.Container(t, map[string]string{label: "yes"})
	next("a container")
	for len(changed) > 0 {
		<-changed
	}
	if err := s.Client.RestartContainer(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	next("its restart")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the end: %v", err)
	}
}

// testLogs reads the log of a container: whole lines with their times, from both streams.
func testLogs(t *testing.T, s Subject) {
	if _, err := s.Client.ContainerLogs(t.Context(), "hone-no-such-container", time.Time{}, false); !docker.IsNotFound(err) {
		t.Errorf("a container that does not exist: %v", err)
	}
	id := s.Writes(t)
	body, err := s.Client.ContainerLogs(t.Context(), id, time.Time{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	data, err := io.ReadAll(body) // until the container ends
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	var last time.Time
	for line := range strings.Lines(string(data)) {
		stamp, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			t.Fatalf("line %.100q: %v", line, err)
		}
		got[text]++
		if at.After(last) {
			last = at
		}
	}
	long := strings.Repeat("x", 20_000)
	if want := map[string]int{"out": 1, "err": 1, "o" + long: 1, "e" + long: 1}; !cmp.Equal(got, want) {
		t.Errorf("%d lines: %.300v", len(got), got)
	}
	body, err = s.Client.ContainerLogs(t.Context(), id, last.Add(time.Second), false)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
		t.Errorf("after the end there is %.100q, %v", rest, err)
	}
}
