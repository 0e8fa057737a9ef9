package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhere checks how the clusters in the header give way.
func TestWhere(t *testing.T) {
	own, eu, asia := Cluster{Name: "dev", Namespace: "default"}, Cluster{Name: "eu", Namespace: "shop", State: ClusterAway}, Cluster{Name: "asia", Namespace: "shop"}
	well := eu
	well.State = ClusterAnswers
	for _, tc := range []struct {
		name     string
		clusters []Cluster
		want     map[int]string
	}{
		{"one", nil, map[int]string{100: "dev/default", 3: "dev/default"}},
		{"all answer", []Cluster{own, well, asia}, map[int]string{31: "dev/default, eu/shop, asia/shop", 30: "dev, eu, asia", 13: "dev, eu, asia", 12: "3 clusters", 3: "3 clusters"}},
		{"one is away", []Cluster{own, eu, asia}, map[int]string{47: "dev/default, eu/shop does not answer, asia/shop", 46: "dev, eu does not answer, asia", 28: "3 clusters: eu does not answer"}},
	} {
		for width, want := range tc.want {
			if got := (Header{Target: "dev/default", Clusters: tc.clusters}).Where(width).String(); got != want {
				t.Errorf("%s in %d columns: %q, not %q", tc.name, width, got, want)
			}
		}
	}
	for _, s := range (Header{Clusters: []Cluster{own, eu}}).Where(100) {
		if s.Text == "eu/shop" && s.Tone != Bad {
			t.Errorf("a cluster that does not answer is %v", s.Tone)
		}
	}
}

func TestGroupsOfClusters(t *testing.T) {
	rows := []Row{{Name: "gen"}, {Name: "a", Cluster: "eu"}, {Name: "b", Cluster: "eu", Group: "web"}, {Name: "c", Cluster: "dev", Group: "web"}, {Name: "d", Group: "web"}, {Name: "(Tiltfile)"},
		{Name: "e", Cluster: "dev", Group: "db"}}
	var names, groups []string
	for _, r := range Arrange(rows, ByGroup) {
		names = append(names, string(r.Name))
	}
	for _, g := range Groups(rows) {
		groups = append(groups, g.Name)
	}
	if diff := cmp.Diff([]string{"(Tiltfile)", "e", "c", "b", "a", "d", "gen"}, names); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"dev · db", "dev · web", "eu · web", "eu", "web", ""}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if !rows[2].Matches("cluster:eu") || rows[3].Matches("cluster:eu") || rows[0].Matches("cluster:eu") {
		t.Error("cluster:eu matches wrongly")
	}
}
