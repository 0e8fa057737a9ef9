package liveupdate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// procOf is the content of the two files in a run: the process has a name with spaces, and started after a number of ticks.
func procOf(ticks int, upper string) string {
	return fmt.Sprintf("1 (a (b) c) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %d 4096 1\n", ticks) +
		"812 700 0:63 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l,upperdir=" + upper + "\n" +
		"813 812 0:65 / /proc rw - proc proc rw\n"
}

// proc answers cat as a container does.
type proc struct {
	says string
	err  error
}

func (p *proc) Exec(_ context.Context, req k8s.ExecRequest) error {
	if p.err != nil {
		return p.err
	}
	_, err := req.Stdout.Write([]byte(p.says))
	return err
}

// TestRunsTellRestartsApart asks a container that was updated, in the same run and in others.
func TestRunsTellRestartsApart(t *testing.T) {
	c := model.ContainerRef{Namespace: "n", Pod: "p", Name: "main", ID: "c1"}
	same := procOf(100, "/u/1")
	for _, tc := range []struct {
		name          string
		first         proc
		then          proc
		goesOn, known bool
	}{
		{"the same run", proc{says: same}, proc{says: same}, true, true},
		{"the same run, with other mounts", proc{says: same}, proc{says: same + "900 812 0:70 / /mnt rw - tmpfs tmpfs rw\n"}, true, true},
		{"another run", proc{says: same}, proc{says: procOf(200, "/u/2")}, false, true},
		{"another run in a pod that shares its processes", proc{says: same}, proc{says: procOf(100, "/u/2")}, false, true},
		{"it does not answer", proc{says: same}, proc{err: errors.New("container not found")}, false, true},
		{"an image without cat", proc{err: &k8s.ExitError{Code: codeNotFound}}, proc{says: same}, false, false},
	} {
		runs, pod := &Runs{}, tc.first
		u := ExecUpdater{Pods: &pod, Runs: runs}
		if err := u.noteRun(t.Context(), c); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		pod = tc.then
		if goesOn, known := runs.GoesOn(t.Context(), c.ID); goesOn != tc.goesOn || known != tc.known {
			t.Errorf("%s: goes on %t, known %t", tc.name, goesOn, known)
		}
		if goesOn, known := runs.GoesOn(t.Context(), "c0"); goesOn || known {
			t.Errorf("%s: another container goes on %t, known %t", tc.name, goesOn, known)
		}
	}
	err := ExecUpdater{Pods: &proc{err: errors.New("no route")}, Runs: &Runs{}}.noteRun(t.Context(), c)
	if infra := (*InfraError)(nil); !errors.As(err, &infra) {
		t.Errorf("a failing connection: %v", err)
	}
}
