package buildanddeploy

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// TestCompose checks that a service ends with something to do about it, in every mode, and that nobody else tries.
func TestCompose(t *testing.T) {
	m := model.Manifest{Name: "db", Compose: &model.ComposeTarget{Service: "postgres", Project: model.ComposeProject{Name: "shop",
		Files: []model.ComposeFile{{Path: "/src/compose.yml"}, {Content: "services: {}", Source: "blob()"}}}}}
	for _, mode := range model.UpdateModes {
		d := &diary{}
		chain := NewComposite(Local{}, Compose{}, way{name: "container", d: d}, way{name: "exec", d: d}, way{name: "image", d: d})
		req := d.request(m)
		req.Mode = mode
		_, err := chain.BuildAndDeploy(t.Context(), req)
		p, ok := problem.Of(err)
		if !ok || !strings.Contains(p.Summary, `"postgres"`) || !strings.Contains(p.Mend, "docker compose -p shop -f /src/compose.yml up -d postgres") {
			t.Errorf("%s: got %v, want a problem that tells how to start postgres", mode, err)
		}
		if d.text() != "" {
			t.Errorf("%s: more was done: %s", mode, d.text())
		}
	}
}
