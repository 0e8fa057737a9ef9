package model

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContainerRef(t *testing.T) {
	syncs, own := []Sync{{LocalPath: "/a", RemotePath: "/b"}}, []Sync{{LocalPath: "/c", RemotePath: "/d"}}
	m := Manifest{Name: "web", K8s: &K8sTarget{CustomDeploy: &CustomDeploy{LiveUpdate: LiveUpdate{Syncs: own}}},
		Images: []ImageTarget{{Ref: "plain", LiveUpdate: LiveUpdate{Syncs: syncs}}, {Ref: "supervised", Supervised: true, LiveUpdate: LiveUpdate{Syncs: syncs}}}}
	p := Pod{Namespace: "ns", Name: "web-1", UID: "uid", Resource: "web"}
	c := Container{Name: "main", ID: "c1", Runtime: "containerd", Image: "reg/plain:1", StartedAt: time.Unix(5, 0), SyncletPath: "/put/there"}
	ref := func(change func(*ContainerRef)) ContainerRef {
		r := ContainerRef{Resource: "web", Namespace: "ns", Pod: "web-1", Name: "main", ID: "c1", Runtime: "containerd", Image: "reg/plain:1",
			Ref: "plain", Synclet: "/put/there", StartedAt: time.Unix(5, 0), Syncs: syncs}
		change(&r)
		return r
	}
	for of, want := range map[string]ContainerRef{
		"plain":      ref(func(*ContainerRef) {}),
		"supervised": ref(func(r *ContainerRef) { r.Ref, r.Synclet = "supervised", SyncletPath }),
		"":           ref(func(r *ContainerRef) { r.Ref, r.Syncs = "", own }),
	} {
		if diff := cmp.Diff(want, m.ContainerRef(p, c, of)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", of, diff)
		}
	}
	want := ContainerUpdate{Namespace: "ns", Pod: "web-1", Container: "main", ID: "c1", Mode: "exec"}
	if diff := cmp.Diff(want, m.ContainerRef(p, c, "plain").UpdateBy("exec")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
