package buildanddeploy

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRemoveOfWhatComesBack checks that a removal which gets its turn only after the resource has come back deletes nothing. It
// would pass by the prune guard, too, which counts the objects that are declared now.
func TestRemoveOfWhatComesBack(t *testing.T) {
	app := model.ManifestName("app")
	again := model.Manifest{Name: app, AutoInit: true, K8s: &model.K8sTarget{}} // it includes another object now
	for _, tc := range []struct {
		name string
		// declared are the resources of the Tiltfile when the removal gets its turn.
		declared []model.Manifest
		// switched is set if the resource was switched off, and not dropped; on, if it is switched on again.
		switched, on bool
		stays        bool
	}{
		{"gone", nil, false, false, false},
		{"declared again", []model.Manifest{again}, false, false, true},
		{"declared as a local resource", []model.Manifest{{Name: app, Local: &model.LocalTarget{}}}, false, false, false},
		{"another is declared", []model.Manifest{{Name: "other", K8s: &model.K8sTarget{}}}, false, false, false},
		{"switched off", nil, true, false, false},
		{"switched off and on", nil, true, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.declared = map[string]map[string]string{string(app): {"o": "1"}}
			m := w.manifests()[0]
			req := (&diary{}).request(m)
			req.Namespace, req.Declared = deploytest.Namespace, func() []model.Manifest { return []model.Manifest{m} }
			if _, err := w.cluster.Deploy(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if !tc.stays {
				w.declared = nil
			}
			enough, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.on {
				cancel()
			}
			_, err := w.cluster.Remove(t.Context(), RemoveRequest{Resource: app, Undeclared: !tc.switched, Enough: enough, Namespace: deploytest.Namespace,
				Log: logstore.Discard, Declared: func() []model.Manifest { return tc.declared }})
			if err != nil {
				t.Fatal(err)
			}
			if stays := w.server.Objects("configmaps")["o"] != nil; stays != tc.stays {
				t.Errorf("the object stays: %t", stays)
			}
			if recorded := len(w.recordsBetween()[app]) > 0; recorded != tc.stays {
				t.Errorf("it is recorded: %t", recorded)
			}
		})
	}
}

// TestLeftoversWaitForRest checks that objects which a deploy no longer includes go when the declarations are final, unless they
// are declared again.
func TestLeftoversWaitForRest(t *testing.T) {
	for _, tc := range []struct {
		name          string
		atRest, again bool
		after, end    bool // whether the object is there after the deploy, and in the end
	}{
		{"at rest", true, false, false, false},
		{"files still change", false, false, true, false},
		{"files still change, and change back", false, true, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, 1)
			both, one := map[string]string{"o": "1", "p": "1"}, map[string]string{"p": "1"}
			declare := func(objects map[string]string) {
				w.declared = map[string]map[string]string{"app": objects}
			}
			deploys := func(atRest bool) {
				t.Helper()
				all := w.manifests()
				req := (&diary{}).request(all[0])
				req.Namespace, req.Declared, req.AtRest = deploytest.Namespace, func() []model.Manifest { return all }, func() bool { return atRest }
				if _, err := w.cluster.Deploy(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			there := func() bool { return w.server.Objects("configmaps")["o"] != nil }
			declare(both)
			deploys(true)
			declare(one)
			deploys(tc.atRest)
			if there() != tc.after {
				t.Errorf("after the deploy: %t", there())
			}
			err := w.cluster.Finish(t.Context(), RemoveRequest{Resource: "app", Namespace: deploytest.Namespace, Log: logstore.Discard,
				Declared: func() []model.Manifest { return w.manifests() },
				Settled: func(context.Context) error {
					if tc.again {
						declare(both)
					}
					return nil
				}})
			if err != nil || there() != tc.end {
				t.Errorf("in the end: %t, %v", there(), err)
			}
		})
	}
}

// TestAnnounce: nothing is said to be deleted that stays.
func TestAnnounce(t *testing.T) {
	own := ledger.Record{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: "own"}}
	theirs := ledger.Record{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: "theirs"}, Foreign: true}
	for _, tt := range []struct {
		name      string
		records   []ledger.Record
		byCommand bool
		want      []string
	}{
		{"its own", []ledger.Record{own}, false, []string{"Deleting the objects of web, which is disabled: configmap/own"}},
		{"of a command with a delete command", []ledger.Record{theirs}, true, []string{"Deleting the objects of web, which is disabled: configmap/theirs"}},
		{"read-only", []ledger.Record{theirs}, false, []string{"Objects of web, which is disabled, stay, because hone did not make them: configmap/theirs"}},
		{"both", []ledger.Record{own, theirs}, false, []string{"Deleting the objects of web, which is disabled: configmap/own",
			"Objects of web, which is disabled, stay, because hone did not make them: configmap/theirs"}},
		{"none", nil, false, []string{"Deleting the objects of web, which is disabled"}},
	} {
		var said []string
		log := logstore.Func(func(_ logstore.Level, text string) { said = append(said, strings.TrimSpace(text)) })
		announce(RemoveRequest{Resource: "web", Why: "which is disabled", Log: log}, tt.records, tt.byCommand)
		if diff := cmp.Diff(tt.want, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
