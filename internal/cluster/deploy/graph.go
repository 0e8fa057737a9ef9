package deploy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// graph holds the dependencies among a set of objects.
type graph struct {
	objects []*unstructured.Unstructured
	ids     []model.ObjectID
	// needs[i] are the indexes of the dependencies of object i, sorted and without repetitions.
	needs [][]int
}

// newGraph finds the dependencies among objects. Kinds alone never make an edge: they only order objects that are ready
// at the same time (see rank). A cycle, which only depends-on annotations and references to fields can cause, is a problem that shows it.
func newGraph(objects []*unstructured.Unstructured) (*graph, error) {
	g := &graph{objects: objects, ids: make([]model.ObjectID, len(objects)), needs: make([][]int, len(objects))}
	x := newIndex(objects)
	for i, u := range objects {
		g.ids[i] = IDOf(u)
		deps := x.needs(u)
		if earlier, ok := x.earlierTwin(i, g.ids[i]); ok {
			deps = append(deps, earlier)
		}
		slices.Sort(deps)
		g.needs[i] = slices.DeleteFunc(slices.Compact(deps), func(d int) bool { return d == i })
	}
	if cycle := dag.Cycle(g.needs); cycle != nil {
		names := make([]string, len(cycle))
		for i, n := range cycle {
			names[i] = title(g.ids[n])
		}
		return nil, problem.New("objects depend on each other: "+strings.Join(names, " → "),
			"remove one of them from the "+AnnotationDependsOn+" annotations, or a reference to a field: ref() in the Tiltfile")
	}
	return g, nil
}
