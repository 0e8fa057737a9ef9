package buildanddeploy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRevisionsOfRemovals: a command that takes objects away ends its revision, with the result and the counts.
func TestRevisionsOfRemovals(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func(*world) error
		want api.Revision
	}{
		"down": {func(w *world) error {
			return w.cluster.TakeDown(w.t.Context(), DeleteOptions{Wait: true, Removal: deploy.RemovalDown}, w.recordsBetween(), nil, nil, logstore.Discard)
		}, api.Revision{Phase: api.RevisionSucceeded, RevisionCounts: api.RevisionCounts{Deleted: 2}}},
		"down that fails": {func(w *world) error {
			w.server.Before = func(verb, resource, name string) error {
				if verb == "delete" && name == "o" {
					return errors.New("no")
				}
				return nil
			}
			if err := w.cluster.TakeDown(w.t.Context(), DeleteOptions{Wait: true, Removal: deploy.RemovalDown}, w.recordsBetween(), nil, nil, logstore.Discard); err == nil {
				w.t.Error("it did not fail")
			}
			return nil
		}, api.Revision{Phase: api.RevisionFailed, Failures: "app", RevisionCounts: api.RevisionCounts{Deleted: 1}, Objects: 1}},
		"gc": {func(w *world) error {
			return w.cluster.Prune(w.t.Context(), nil, func(model.ManifestName) bool { return true }, deploytest.Namespace, logstore.Discard)
		}, api.Revision{Phase: api.RevisionSucceeded, RevisionCounts: api.RevisionCounts{Deleted: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.declared = map[string]map[string]string{"app": {"o": "1"}, "other": {"p": "1"}}
			for _, m := range w.manifests() {
				req := (&diary{}).request(m)
				req.Namespace, req.Declared = deploytest.Namespace, w.manifests
				if _, err := w.cluster.Deploy(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			w.open()
			w.declared, w.cluster.origin = nil, ledger.Origin{Run: "2", Command: name}
			if err := tc.run(w); err != nil {
				t.Fatal(err)
			}
			all, err := w.cluster.memory.History()
			if err != nil {
				t.Fatal(err)
			}
			got := all[len(all)-1]
			if got.Command != name || got.Ended.Before(got.Began) {
				t.Errorf("%q ended %s after it began", got.Command, got.Ended.Sub(got.Began))
			}
			got = api.Revision{Phase: got.Phase, Failures: got.Failures, RevisionCounts: got.RevisionCounts, Objects: got.Objects}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("its revision (-want +got):\n%s", diff)
			}
		})
	}
}
