//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/test/declared"
	"github.com/hone-dev/hone/internal/test/harness"
)

const (
	// mark is the variable that marks every process that a world's hone starts.
	mark = "HONE_CHAOS_WORLD"
	// patience is the time within which a condition must become true: scenarios check results, not speed.
	patience = 2 * time.Minute
	// still is the time after which a condition is checked again: an object that is about to be deleted also exists.
	still = 2 * time.Second
)

// kinds are the kinds that the projects declare, and others that must not appear.
var kinds = map[string]schema.GroupVersionResource{
	"ConfigMap":  {Version: "v1", Resource: "configmaps"},
	"Secret":     {Version: "v1", Resource: "secrets"},
	"Service":    {Version: "v1", Resource: "services"},
	"Deployment": {Group: "apps", Version: "v1", Resource: "deployments"},
	"Job":        {Group: "batch", Version: "v1", Resource: "jobs"},
	"Pod":        {Version: "v1", Resource: "pods"},
}

// found is an object in the cluster.
type found struct{ uid, value string }

// applied returns the objects that hone applied to the namespace, by KIND/NAME; a special value marks those that are
// being deleted.
func (w *world) applied(ctx context.Context) (map[string]found, error) {
	return w.list(ctx, deploy.LabelProject)
}

func (w *world) list(ctx context.Context, selector string) (map[string]found, error) {
	out := map[string]found{}
	for kind, gvr := range kinds {
		list, err := w.cluster.Client.Dynamic().Resource(gvr).Namespace(w.project.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", gvr.Resource, err)
		}
		for _, o := range list.Items {
			if kind == "ConfigMap" && o.GetName() == "kube-root-ca.crt" {
				continue // every namespace has it
			}
			f := found{uid: string(o.GetUID())}
			if kind == "ConfigMap" {
				f.value, _, _ = unstructured.NestedString(o.Object, "data", "value")
			}
			if o.GetDeletionTimestamp() != nil {
				f.value = "(is being deleted)"
			}
			out[kind+"/"+o.GetName()] = f
		}
	}
	return out, nil
}

// differences compares the declared objects with the existing ones.
func differences(declared map[string]string, there map[string]found) error {
	var lost, left, other []string
	for key, value := range declared {
		switch f, ok := there[key]; {
		case !ok:
			lost = append(lost, key)
		case f.value != value:
			other = append(other, fmt.Sprintf("%s (%q instead of %q)", key, f.value, value))
		}
	}
	for key := range there {
		if _, ok := declared[key]; !ok {
			left = append(left, key)
		}
	}
	var errs []error
	for _, one := range []struct {
		what string
		keys []string
	}{{"lost", lost}, {"left behind", left}, {"not as declared", other}} {
		if slices.Sort(one.keys); len(one.keys) > 0 {
			errs = append(errs, fmt.Errorf("%s: %s", one.what, strings.Join(one.keys, ", ")))
		}
	}
	return errors.Join(errs...)
}

// objectsRight waits until the cluster holds the declared objects, and checks that it stays so.
func (w *world) objectsRight(ctx context.Context) error {
	look := func() error {
		there, err := w.applied(ctx)
		if err != nil {
			return err
		}
		return differences(w.declared, there)
	}
	if err := harness.Await(ctx, patience, "the cluster to hold what is declared", look); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, still); err != nil {
		return err
	}
	if err := look(); err != nil {
		return fmt.Errorf("the cluster held the declared objects, but a moment later: %w", err)
	}
	return nil
}

// empty waits until the namespace is empty.
func (w *world) empty(ctx context.Context) error {
	return harness.Await(ctx, patience, "the namespace to be empty", func() error {
		there, err := w.list(ctx, "")
		if err == nil && len(there) > 0 {
			err = fmt.Errorf("left behind: %s", strings.Join(slices.Sorted(maps.Keys(there)), ", "))
		}
		return err
	})
}

// filesRight waits until every container holds the source's files, and no others.
func (w *world) filesRight(ctx context.Context) error {
	return harness.Await(ctx, patience, "the containers to hold the source's files", func() error {
		containers, err := w.cluster.Containers(ctx, w.project.Namespace, "web")
		if err != nil {
			return err
		}
		for _, c := range containers {
			if err := declared.SameTree(c.ID, "/site", filepath.Join(w.project.Dir, "site")); err != nil {
				return fmt.Errorf("pod %s: %w", c.Pod, err)
			}
		}
		return nil
	})
}

// marked returns the living processes that a world's hone has started, with their command lines.
func marked(word string) map[int]string {
	want := []byte(mark + "=" + word)
	out := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, want) }) {
			continue
		}
		line, _ := os.ReadFile(dir + "/cmdline")
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && len(line) > 0 { // otherwise it is a zombie
			out[pid] = strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// endProcesses kills the remaining processes of a world; any such process is an error.
func endProcesses(word string) error {
	var errs []error
	for pid, line := range marked(word) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		errs = append(errs, fmt.Errorf("process %d was left at the end: %s", pid, line))
	}
	return errors.Join(errs...)
}

// noProcess waits until no process is left of a session that has ended.
func (w *world) noProcess(ctx context.Context) error {
	return harness.Await(ctx, 30*time.Second, "all processes to end", func() error {
		if left := marked(w.word); len(left) > 0 {
			return fmt.Errorf("left behind: %v", left)
		}
		return nil
	})
}

// noSession checks that no session is found, and that the files of dead sessions are removed by the search.
func (w *world) noSession(ctx context.Context) error {
	living, err := w.project.Registry().List(ctx)
	if err != nil {
		return err
	}
	if len(living) > 0 {
		return fmt.Errorf("found a session that has ended: %+v", living)
	}
	entries, err := os.ReadDir(filepath.Join(w.project.State, "hone"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() && !slices.Contains([]string{".hone", "holder"}, e.Name()) { // the lock of the folder, and the name of this place
			return fmt.Errorf("a session that has ended left %s", e.Name())
		}
	}
	return nil
}

// ended checks the conditions after hone has ended in any way.
func (w *world) ended(ctx context.Context) error {
	return errors.Join(w.noProcess(ctx), w.noSession(ctx))
}

// right checks the conditions while a session runs and everything is ready.
func (w *world) right(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if err := w.objectsRight(ctx); err != nil {
		return err
	}
	if err := w.filesRight(ctx); err != nil {
		return err
	}
	return w.asDeclared(ctx)
}

// asDeclared checks that the reports of the session are true.
func (w *world) asDeclared(ctx context.Context) error {
	c := declared.Checker{Session: w.up.Client, Done: w.up.Done, Cluster: w.cluster.Client, Namespace: w.project.Namespace}
	return c.Await(ctx)
}

// stop ends the session like a user.
func (w *world) stop(ctx context.Context) error {
	if err := w.up.Stop(); err != nil {
		return err
	}
	return w.ended(ctx)
}

// recovers checks that a session begins right away and puts everything right.
func (w *world) recovers(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := w.right(ctx); err != nil {
		return err
	}
	return w.stop(ctx)
}

// down takes everything down, and checks that no object and no process is left.
func (w *world) down(ctx context.Context) error {
	if _, err := w.project.Run(ctx, "down", "--namespace", w.project.Namespace); err != nil {
		return err
	}
	if err := w.empty(ctx); err != nil {
		return err
	}
	return w.ended(ctx)
}

// aftermath checks the conditions after every fault, when no session runs: up and down must work as if nothing had happened.
func (w *world) aftermath(ctx context.Context) error {
	if err := w.recovers(ctx); err != nil {
		return err
	}
	return w.down(ctx)
}

// conclude works like aftermath, but for a session that still runs.
func (w *world) conclude(ctx context.Context) error {
	if err := w.right(ctx); err != nil {
		return err
	}
	if err := w.stop(ctx); err != nil {
		return err
	}
	return w.down(ctx)
}
