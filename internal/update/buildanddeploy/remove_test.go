package buildanddeploy

import (
	"context"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRemoveOfWhatComesBack: a removal that gets its turn only after the resource has come back deletes nothing. It would pass by the
// brake, too, which counts what is declared now.
func TestRemoveOfWhatComesBack(t *testing.T) {
	app := model.ManifestName("app")
	again := model.Manifest{Name: app, AutoInit: true, K8s: &model.K8sTarget{}} // it includes another object now
	for _, tc := range []struct {
		name string
		// declared is what the Tiltfile declares when the removal gets its turn.
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
