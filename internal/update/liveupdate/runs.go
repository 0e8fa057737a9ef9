package liveupdate

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// Runs knows in which runs of containers files were changed. Kubernetes reports only a second later that a container has ended, and a
// command that it is asked to run in the container meanwhile may already be in the next run, which lacks the files. So each run is asked.
// The zero value is ready for use, by several goroutines. It keeps about a hundred bytes for each container that was ever updated.
type Runs struct {
	mu sync.Mutex
	// goesOn has, by the id of a container, the question whether its run still goes on; nil where nothing can tell. Guarded by mu.
	goesOn map[string]func(context.Context) bool
}

// note remembers how to ask whether the run of a container goes on; nil means that nothing can tell.
func (r *Runs) note(id string, goesOn func(context.Context) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.goesOn == nil {
		r.goesOn = map[string]func(context.Context) bool{}
	}
	r.goesOn[id] = goesOn
}

// of returns the question about a container, and whether the container was updated here.
func (r *Runs) of(id string) (goesOn func(context.Context) bool, noted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	goesOn, noted = r.goesOn[id]
	return goesOn, noted
}

// GoesOn asks the container with an id whether the run that was updated still goes on. One that does not answer before ctx is done does
// not. Known is false if nothing in the container can tell, or it was never updated here.
func (r *Runs) GoesOn(ctx context.Context, id string) (goesOn, known bool) {
	ask, _ := r.of(id)
	if ask == nil {
		return false, false
	}
	return ask(ctx), true
}

// noteRun remembers the present run of a container, before its first update. Without cat in the image, nothing can tell runs apart.
func (u ExecUpdater) noteRun(ctx context.Context, c model.ContainerRef) error {
	if u.Runs == nil {
		return nil
	}
	if _, noted := u.Runs.of(c.ID); noted {
		return nil
	}
	var mark string
	err := persist(ctx, transient, func() (err error) {
		mark, err = u.mark(ctx, c)
		return err
	})
	if _, exited := exitOf(err); exited {
		u.Runs.note(c.ID, nil)
		return nil
	}
	if err != nil {
		return stepError(ctx, "ask for the run of "+c.Name, "cat", err, "")
	}
	u.Runs.note(c.ID, func(ctx context.Context) bool {
		is, err := u.mark(ctx, c)
		return err == nil && is == mark
	})
	return nil
}

// exitOf is exitCode for any error.
func exitOf(err error) (code int, exited bool) {
	if err == nil {
		return 0, false
	}
	return exitCode(err)
}

// The files that tell the runs of a container apart: the start of its first process, which belongs to the pod where its containers share
// their processes, and its root file system, which the runtime makes for each run.
const (
	firstProcess = "/proc/1/stat"
	mounts       = "/proc/self/mountinfo"
)

// mark returns a text that differs between the runs of a container.
func (u ExecUpdater) mark(ctx context.Context, c model.ContainerRef) (string, error) {
	var out bytes.Buffer
	err := u.Pods.Exec(ctx, k8s.ExecRequest{Cluster: c.Cluster, Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, Argv: []string{"cat", firstProcess, mounts}, Stdout: &out, Certain: true})
	if err != nil {
		return "", err
	}
	return markIn(out.String()), nil
}

// The places of fields in the two files, see proc(5): the start of a process, counted behind its name, which may contain spaces; the mount
// point, and the first field behind the numbers of the mount, which are given again.
const (
	startField = 19
	pointField = 4
	rootField  = 3
)

// markIn returns the mark in the content of the files.
func markIn(text string) string {
	stat, table, _ := strings.Cut(text, "\n")
	var mark []string
	_, behind, _ := strings.Cut(stat, ") ")
	if fields := strings.Fields(behind); len(fields) > startField {
		mark = append(mark, fields[startField])
	}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > pointField && fields[pointField] == "/" {
			mark = append(mark, fields[rootField:]...)
		}
	}
	return strings.Join(mark, " ")
}
