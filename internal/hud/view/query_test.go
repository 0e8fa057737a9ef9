package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

func TestRank(t *testing.T) {
	for _, tt := range []struct {
		query  string
		names  []model.ManifestName
		want   []model.ManifestName
		ranked bool
	}{
		{"web", []model.ManifestName{"worker-bee", "shop-web", "web"}, []model.ManifestName{"web", "shop-web", "worker-bee"}, true},
		{"shop ui", []model.ManifestName{"workshop-build-i", "shop-ui"}, []model.ManifestName{"shop-ui", "workshop-build-i"}, true},
		{"is:failing !x", []model.ManifestName{"b", "a"}, []model.ManifestName{"b", "a"}, false},
		{"", []model.ManifestName{"b", "a"}, []model.ManifestName{"b", "a"}, false},
	} {
		var rows []Row
		for _, n := range tt.names {
			rows = append(rows, Row{Name: n})
		}
		ranked := Rank(rows, tt.query)
		var got []model.ManifestName
		for _, r := range rows {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || ranked != tt.ranked {
			t.Errorf("%q: %v (-want +got):\n%s", tt.query, ranked, diff)
		}
	}
}
