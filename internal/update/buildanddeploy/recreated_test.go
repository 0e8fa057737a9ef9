package buildanddeploy

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRecreatedCluster: a cluster that was deleted and made again under the same name inherits nothing from the one before: no record, no
// note, no lease and no history. Where only the process is another one, all of them are there (V21).
func TestRecreatedCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		uid  string // of the cluster in the end
		same bool
	}{"the same cluster": {"first", true}, "another cluster": {"second", false}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			from := func(uid, command string) {
				ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": uid}}}
				w.server.Put("namespaces", ns)
				w.open()
				w.cluster.namespace, w.cluster.holding, w.cluster.origin = deploytest.Namespace, newHolding(), ledger.Origin{Run: command, Command: command}
			}
			deploys := func() {
				t.Helper()
				m := w.manifests()[0]
				req := (&diary{}).request(m)
				req.Namespace, req.Declared = deploytest.Namespace, w.manifests
				if _, err := w.cluster.Deploy(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			w.declared = map[string]map[string]string{"app": {"o": "1"}}
			from("first", "up")
			deploys()
			_, done, err := w.cluster.hold(t.Context(), logstore.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer done()

			if !tc.same {
				w.server = deploytest.New()
			}
			from(tc.uid, "ci")
			memory, records, err := w.cluster.recorded(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			history, err := memory.History()
			if err != nil {
				t.Fatal(err)
			}
			holder, err := memory.Holder(t.Context(), deploytest.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			note := memory.Note(ledger.Applied, model.ObjectID{Kind: "ConfigMap", Namespace: deploytest.Namespace, Name: "o"})
			for what, there := range map[string]bool{"a record": len(records) > 0, "a note": note != nil, "a revision": len(history) > 0, "a lease": holder != nil} {
				if there != tc.same {
					t.Errorf("it has %s: %t", what, there)
				}
			}
			if tc.same {
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, over, err := w.cluster.hold(ctx, logstore.Func(func(_ logstore.Level, text string) {
				t.Errorf("it waits for the other cluster: %s", text)
				cancel()
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer over()
			deploys()
			if history, err := memory.History(); err != nil || len(history) != 1 || history[0].Number != 1 {
				t.Errorf("its own history begins with %+v, %v", history, err)
			}
		})
	}
}
