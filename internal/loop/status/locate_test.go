package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

func TestLocate(t *testing.T) {
	s := hudtest.New()
	s.Open(model.Tiltfile{Enabled: []model.ManifestName{"api"}, Manifests: []model.Manifest{{Name: "api", K8s: &model.K8sTarget{},
		Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{Context: "/home/dev/shop/api"},
			LiveUpdate: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/home/dev/shop/api/src", RemotePath: "/app"}}}}}}}})
	v := s.View(t.Context())
	for file, want := range map[string][]string{
		"main.go":   {"/home/dev/shop/api/main.go", "/home/dev/shop/api/src/main.go", "/home/dev/shop/main.go"},
		"/app/x.js": {"/home/dev/shop/api/src/x.js", "/app/x.js", "/home/dev/shop/api/x.js", "/home/dev/shop/x.js"},
		"./a/b.py": {"/home/dev/shop/api/a/b.py", "/home/dev/shop/api/src/a/b.py", "/home/dev/shop/a/b.py",
			"/home/dev/shop/api/b.py", "/home/dev/shop/api/src/b.py", "/home/dev/shop/b.py"},
	} {
		if diff := cmp.Diff(want, status.Locate(v, "api", file)); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	if diff := cmp.Diff([]string{"/home/dev/shop/k8s.yaml"}, status.Locate(v, model.TiltfileName, "k8s.yaml")); diff != "" {
		t.Error(diff)
	}
}
