package buildanddeploy

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/model"
)

// sequences returns how many random sequences TestInvariants runs; HONE_SEQUENCES sets another number.
func sequences() int {
	if n, err := strconv.Atoi(os.Getenv("HONE_SEQUENCES")); err == nil && n > 0 {
		return n
	}
	if testing.Short() {
		return 40
	}
	return 150
}

// TestInvariants edits a Tiltfile at random and deploys it, again and again, while requests fail and processes are killed at any point.
// At every step these hold:
//
//	I1  An object is in the ledger before it is created.
//	I2  Only objects of the project are deleted, and none that the Tiltfile declares.
//	I4  At most one resource has the record of an object.
//	I6  However an operation has ended, the next one reaches the state that the Tiltfile declares; hone down then leaves nothing.
//
// (I3, that a failed operation collects nothing, follows from the order of one deploy: TestFailedDeployCollectsNothing. I5, that a write
// of the ledger loses no other one, is TestLedger's.)
func TestInvariants(t *testing.T) {
	for seed := range sequences() {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, uint64(seed))
			for range 8 {
				w.edit()
				w.others()
				w.operate(w.fault())
				w.operate(nil)
				w.reached()
			}
			w.down()
		})
		if t.Failed() {
			t.Fatalf("sequence %d", seed)
		}
	}
}

// world is a project with its cluster and its ledger.
type world struct {
	t      *testing.T
	rand   *rand.Rand
	state  string
	server *deploytest.Server
	// declared are the values of the ConfigMaps of each resource.
	declared map[string]map[string]string
	cluster  *Cluster
	// story lists the past events, for messages.
	story []string

	mu    sync.Mutex
	fails *fault // guarded by mu
	asked int    // guarded by mu; the number of requests that the operation has made
}

// fault is something that goes wrong with a request.
type fault struct {
	// at is the number of the request, counted from 1.
	at int
	// after lets the request have its effect: only its answer is lost.
	after bool
	// kill ends the process with the request.
	kill bool
	// killed is set once the process has ended. Its writes from then on are undone.
	killed bool
	saved  string
}

var errFault = errors.New("something went wrong")

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), state: t.TempDir(), server: deploytest.New(), declared: map[string]map[string]string{}}
	w.server.Before = func(verb, resource, name string) error {
		if resource != "configmaps" {
			return nil
		}
		w.mu.Lock()
		w.asked++
		w.mu.Unlock()
		if err := w.strikes(false); err != nil {
			return err
		}
		w.allowed(verb, name)
		return nil
	}
	w.server.After = func(_, resource, _ string) error {
		if resource != "configmaps" {
			return nil
		}
		return w.strikes(true)
	}
	w.server.Put("configmaps", configMap("foreign", "theirs"))
	w.open()
	return w
}

// open starts a process: all that it knows is on disk.
func (w *world) open() {
	mapper := deploytest.Mapper()
	w.cluster = &Cluster{dyn: w.server, mapper: mapper, applier: deploy.NewApplier(w.server, mapper),
		ledgers: ledgertest.In(filepath.Join(w.state, "ledger")), project: "p", prune: PruneAll}
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("%s\nafter %s", fmt.Sprintf(format, args...), strings.Join(w.story, "; "))
}

func (w *world) did(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// edit changes the Tiltfile: every ConfigMap is declared by one of the resources, or by none.
func (w *world) edit() {
	declared := map[string]map[string]string{}
	for i := range 6 {
		name := fmt.Sprintf("o%d", i)
		if w.rand.IntN(3) == 0 {
			continue
		}
		of := fmt.Sprintf("r%d", w.rand.IntN(4))
		if declared[of] == nil {
			declared[of] = map[string]string{}
		}
		declared[of][name] = strconv.Itoa(w.rand.IntN(3))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.declared = declared
	w.did("declared %v", declared)
}

// others do something to an object by hand.
func (w *world) others() {
	name := fmt.Sprintf("o%d", w.rand.IntN(6))
	o := w.server.Objects("configmaps")[name]
	if o == nil {
		return
	}
	switch w.rand.IntN(4) {
	case 0:
		w.server.Remove("configmaps", name)
		w.did("%s is deleted by hand", name)
	case 1:
		_ = unstructured.SetNestedField(o.Object, "by hand", "data", "key")
		w.server.Put("configmaps", o)
		w.did("%s is changed by hand", name)
	}
}

// fault returns the fault of the next operation; nil for none.
func (w *world) fault() *fault {
	if w.rand.IntN(8) == 0 {
		return nil
	}
	return &fault{at: 1 + w.rand.IntN(24), after: w.rand.IntN(2) == 0, kill: w.rand.IntN(2) == 0}
}

// strikes returns the error of a request before or after it has had its effect.
func (w *world) strikes(after bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.fails
	switch {
	case f == nil:
		return nil
	case f.killed:
		return errFault
	case f.at != w.asked || f.after != after:
		return nil
	case f.kill:
		f.killed, f.saved = true, w.save()
	}
	return errFault
}

// save copies the state on disk.
func (w *world) save() string {
	for {
		to := w.t.TempDir()
		err := os.CopyFS(to, os.DirFS(w.state))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) { // a file of a write that has just ended
			w.t.Fatal(err)
		}
	}
}

// allowed checks a request before it has its effect.
func (w *world) allowed(verb, name string) {
	live := w.server.Objects("configmaps")[name]
	w.mu.Lock()
	defer w.mu.Unlock()
	records := w.records()
	owners := map[model.ObjectID][]model.ManifestName{}
	for resource, list := range records {
		for _, r := range list {
			owners[r.ObjectID] = append(owners[r.ObjectID], resource)
		}
	}
	for id, of := range owners {
		if len(of) > 1 {
			w.failf("I4: %s is recorded for %v", id, of)
		}
	}
	id := model.ObjectID{Kind: "ConfigMap", Namespace: deploytest.Namespace, Name: name}
	switch {
	case (verb == "patch" || verb == "create") && live == nil && len(owners[id]) == 0:
		w.failf("I1: %s is created and not recorded", name)
	case verb == "delete" && live != nil && live.GetLabels()[deploy.LabelProject] != "p":
		w.failf("I2: %s is deleted and belongs to others", name)
	case verb == "delete":
		for of, objects := range w.declared {
			if _, ok := objects[name]; ok {
				w.failf("I2: %s is deleted although %s declares it", name, of)
			}
		}
	}
}

// records returns the records as another process would read them.
func (w *world) records() map[model.ManifestName][]ledger.Record {
	records, err := ledgertest.Open(w.t, filepath.Join(w.state, "ledger"), ledger.Key{Cluster: w.uid(), Project: "p"}).Resources()
	if err != nil {
		w.t.Fatal(err)
	}
	return records
}

func (w *world) uid() string {
	uid, err := w.cluster.uid(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return uid
}

// manifests returns the declared resources.
func (w *world) manifests() []model.Manifest {
	var out []model.Manifest
	for _, name := range slices.Sorted(maps.Keys(w.declared)) {
		target := &model.K8sTarget{}
		for _, o := range slices.Sorted(maps.Keys(w.declared[name])) {
			raw, err := configMap(o, w.declared[name][o]).MarshalJSON()
			if err != nil {
				w.t.Fatal(err)
			}
			target.Objects = append(target.Objects, model.K8sObject{APIVersion: "v1", Kind: "ConfigMap", Name: o, JSON: string(raw)})
		}
		out = append(out, model.Manifest{Name: model.ManifestName(name), AutoInit: true, K8s: target})
	}
	return out
}

// operate acts as a session does: it deploys the declared resources, removes the others, and completes the removals that others
// have begun.
func (w *world) operate(f *fault) {
	w.mu.Lock()
	w.fails, w.asked = f, 0
	w.mu.Unlock()
	if f != nil {
		w.did("request %d fails (after its effect: %t, with the process: %t)", f.at, f.after, f.kill)
	}
	all := w.manifests()
	declared := func() []model.Manifest { return all }
	var errs []error
	var mu sync.Mutex
	var running sync.WaitGroup
	start := func(run func() error) {
		do := func() {
			err := run()
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
		if w.rand.IntN(2) == 0 {
			running.Go(do)
		} else {
			do()
		}
	}
	moving := w.rand.IntN(4) == 0 // files still change: the leftovers of a deploy go later
	for _, m := range all {
		start(func() error {
			req := (&diary{}).request(m)
			req.Namespace, req.Declared, req.UpsertTimeout, req.Log = deploytest.Namespace, declared, time.Minute, logstore.Discard
			if moving {
				req.AtRest = func() bool { return false }
			}
			_, err := w.cluster.Deploy(w.t.Context(), req, nil)
			return err
		})
	}
	for name := range w.recordsBetween() {
		// The removal of a resource that is declared again may get its turn late.
		if _, ok := w.declared[string(name)]; !ok || w.rand.IntN(4) == 0 {
			start(func() error {
				_, err := w.cluster.Remove(w.t.Context(), RemoveRequest{Resource: name, Why: "gone", Undeclared: true, Declared: declared, Namespace: deploytest.Namespace, Log: logstore.Discard})
				return err
			})
		}
	}
	running.Wait()
	leaving, err := w.cluster.Leaving(w.t.Context())
	errs = append(errs, err)
	for _, name := range leaving {
		errs = append(errs, w.cluster.Finish(w.t.Context(), RemoveRequest{Resource: name, Declared: declared, Namespace: deploytest.Namespace, Log: logstore.Discard}))
	}
	if err := errors.Join(errs...); f == nil && err != nil {
		w.failf("an operation without a fault: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails = nil
	if f != nil && f.killed {
		if err := errors.Join(os.RemoveAll(w.state), os.CopyFS(w.state, os.DirFS(f.saved))); err != nil {
			w.t.Fatal(err)
		}
	}
	if f != nil && (f.killed || w.rand.IntN(3) == 0) {
		w.open()
	}
}

// recordsBetween returns the records while an operation runs.
func (w *world) recordsBetween() map[model.ManifestName][]ledger.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records()
}

// reached checks that the cluster and the ledger have exactly the declared objects of the project.
func (w *world) reached() {
	w.t.Helper()
	want, have, recorded := map[string]string{"foreign": "theirs"}, map[string]string{}, map[string]string{}
	wantRecorded := map[string]string{}
	for of, objects := range w.declared {
		for name, value := range objects {
			want[name], wantRecorded[name] = value, of
		}
	}
	for name, u := range w.server.Objects("configmaps") {
		have[name], _, _ = unstructured.NestedString(u.Object, "data", "key")
	}
	for of, list := range w.records() {
		for _, r := range list {
			recorded[r.Name] = string(of)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		w.failf("I6: the cluster (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantRecorded, recorded); diff != "" {
		w.failf("I6: the ledger (-want +got):\n%s", diff)
	}
}

// down deletes everything.
func (w *world) down() {
	w.declared = map[string]map[string]string{}
	w.did("down")
	if err := w.cluster.Delete(w.t.Context(), DeleteOptions{Namespaces: true, Volumes: true, Definitions: true, Wait: true, Removal: deploy.RemovalDown}, w.records(), logstore.Discard); err != nil {
		w.failf("%v", err)
	}
	w.reached()
}

func configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": deploytest.Namespace}, "data": map[string]any{"key": value}}}
}
