package model

import (
	"testing"
	"time"
)

func TestInPlaceText(t *testing.T) {
	got := func(pod, container string, files, deletes, ms int) ContainerUpdate {
		return ContainerUpdate{Pod: pod, Container: container, Mode: "synclet", Files: files, Deletes: deletes, Bytes: int64(files) * 100,
			Stages: Stages{Sent: time.Duration(ms) * time.Millisecond}}
	}
	restarted := got("web-1", "web", 1, 0, 4)
	restarted.Stages.Restarted = time.Millisecond
	failed, behind := got("web-2", "web", 1, 0, 4), got("web-3", "web", 1, 0, 4)
	failed.Err, behind.Behind = "it failed", true
	nothing := ContainerUpdate{Pod: "web-1", Container: "web", Mode: "synclet"}
	for _, tt := range []struct {
		name string
		in   []ContainerUpdate
		want string
	}{
		{"none", nil, ""},
		{"none that was updated", []ContainerUpdate{failed, behind}, ""},
		{"one", []ContainerUpdate{got("web-1", "web", 1, 0, 4), failed, behind}, "web of web-1: 1 file, 100 B by synclet in 4.0 ms"},
		{"restarted", []ContainerUpdate{restarted}, "web of web-1: 1 file, 100 B by synclet in 5.0 ms, restarted"},
		{"nothing to do", []ContainerUpdate{nothing}, "web of web-1: nothing to send"},
		{"a service of Compose", []ContainerUpdate{got("", "shop-web-1", 1, 0, 4)}, "shop-web-1: 1 file, 100 B by synclet in 4.0 ms"},
		{"replicas", []ContainerUpdate{got("web-1", "web", 1, 1, 4), got("web-2", "web", 1, 1, 9)}, "web in 2 pods: 1 file, 100 B, 1 delete each by synclet in 9.0 ms"},
		{"two of a pod", []ContainerUpdate{got("web-1", "web", 1, 0, 9), got("web-1", "log", 2, 0, 4)}, "web, log of web-1: 3 files, 300 B altogether by synclet in 9.0 ms"},
	} {
		if text := InPlaceText(tt.in); text != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}
