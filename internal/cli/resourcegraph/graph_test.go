package resourcegraph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// shop has images with a base, dependencies, a resource without any, and names that every format has to escape.
func shop() model.Tiltfile {
	base := model.ImageTarget{Ref: "base"}
	image := func(ref string) []model.ImageTarget {
		return []model.ImageTarget{base, {Ref: ref, DependsOn: []string{"base"}}}
	}
	hostile := `a"b<c>&d\n;[x](javascript:alert(1))` + "\x1b[31m\x00"
	return model.Tiltfile{Manifests: []model.Manifest{
		{Name: "uncategorized", K8s: &model.K8sTarget{}},
		{Name: "db", K8s: &model.K8sTarget{}},
		{Name: "api", Images: image("shop/api"), ResourceDeps: []model.ManifestName{"db", "absent"},
			K8s: &model.K8sTarget{PortForwards: []model.PortForward{{LocalPort: 8080, LinkPath: "health"}}}},
		{Name: "web", Images: image("shop/web"), ResourceDeps: []model.ManifestName{"api", "db"}, K8s: &model.K8sTarget{}},
		{Name: "tests", Local: &model.LocalTarget{Links: []model.Link{{URL: "javascript:alert(1)"}, {URL: `https://ci.example/"?a=1&b=2`}}}, ResourceDeps: []model.ManifestName{"web"}},
		{Name: model.ManifestName(hostile), Compose: &model.ComposeTarget{}, ResourceDeps: []model.ManifestName{"tests"}},
		{Name: "a-name-that-is-much-too-long-for-a-box", Local: &model.LocalTarget{}},
	}}
}

// TestFormats compares each format with its golden file. The files are also what a browser, Mermaid and Graphviz were shown.
func TestFormats(t *testing.T) {
	g := Of(shop())
	g.Show(api.View{Resources: []api.Resource{{Name: "db", Status: "ok"}, {Name: "api", Status: "failed"}, {Name: "shop/api", Status: "ok"}, {Name: "web", Status: "waiting"}}})
	for name, write := range map[string]func(io.Writer) error{"shop.dot": g.Dot, "shop.mmd": g.Mermaid, "shop.svg": g.SVG} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x00\x1b") || strings.Contains(b.String(), `"javascript:`) {
				t.Errorf("it passes on what it must not:\n%q", b.String())
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s differs (-update rewrites it):\n%s", file, diff)
			}
		})
	}
}

// TestChosen draws only the enabled resources and their dependencies.
func TestChosen(t *testing.T) {
	tf := shop()
	tf.Enabled = []model.ManifestName{"api"}
	var names []string
	for _, n := range Of(tf).Nodes {
		names = append(names, n.Name)
	}
	if diff := cmp.Diff([]string{"uncategorized", "db", "base", "shop/api", "api"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestLayout checks random graphs: no two boxes share a place, every edge goes to the right, and the picture is well-formed XML.
func TestLayout(t *testing.T) {
	for seed := range int64(30) {
		r := rand.New(rand.NewSource(seed))
		g := Graph{Nodes: make([]Node, r.Intn(40))}
		for i := range g.Nodes {
			g.Nodes[i] = Node{Name: fmt.Sprint("n", i), Kind: api.TypeK8s}
		}
		for range len(g.Nodes) * 2 {
			if a, b := r.Intn(len(g.Nodes)), r.Intn(len(g.Nodes)); a < b {
				g.Edges = append(g.Edges, Edge{a, b, true})
			}
		}
		l := lay(len(g.Nodes), g.Edges)
		taken := map[place]bool{}
		for _, p := range l.places {
			if taken[p] || p.row < 0 || p.row > float64(l.rows-1) || p.layer >= float64(l.layers) {
				t.Errorf("seed %d: %+v is taken or outside", seed, p)
			}
			taken[p] = true
		}
		for i, e := range g.Edges {
			at := l.places[e.From].layer
			for _, p := range append(l.bends[i], l.places[e.To]) {
				if p.layer != at+1 {
					t.Errorf("seed %d: edge %+v goes from layer %g to %g", seed, e, at, p.layer)
				}
				at = p.layer
			}
		}
		var b bytes.Buffer
		if err := g.SVG(&b); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// TestCircle lays out a graph that the Tiltfile should not have.
func TestCircle(t *testing.T) {
	if l := lay(3, []Edge{{0, 1, true}, {1, 2, true}, {2, 0, true}}); len(l.places) != 3 {
		t.Errorf("%+v", l)
	}
}
