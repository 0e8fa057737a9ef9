package deploy

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// The same folder on two machines is one project: their checkouts have the same path, as in containers for development. Each object
// therefore names its holder, the place that records it, and no other place overwrites or deletes it. Places that go by the same name
// share their objects. Objects of versions that named no holder belong to whoever works on the project.

// maker is the maker of an object: a project, in a place, and the ApplySet of its objects, if there is one.
type maker struct{ project, holder, set string }

// makerOf returns the maker that a declared object is marked for.
func makerOf(desired *unstructured.Unstructured) maker {
	o := maker{project: project(desired), holder: annotation(desired, AnnotationHolder), set: label(desired, storage.PartOf)}
	if by := annotation(desired, sharerPrefix+o.project); by != unheld {
		o.holder = cmp.Or(by, o.holder)
	}
	return o
}

// holderOf returns the holder of a live object of the project; empty if it is unknown, or if the object is not the project's.
func (a *Applier) holderOf(project string, live *unstructured.Unstructured) string {
	if id := a.sharer(project, live); id != "" {
		if by := annotation(live, sharerPrefix+id); by != unheld {
			return by
		}
		return ""
	}
	if a.owns(project, live) {
		return annotation(live, AnnotationHolder)
	}
	return ""
}

// heldElsewhere returns the holder of an object of the project if another place holds it; else "".
func (a *Applier) heldElsewhere(project string, live *unstructured.Unstructured) string {
	by := a.holderOf(project, live)
	if by == "" || len(a.holders) == 0 || slices.Contains(a.holders, by) {
		return ""
	}
	return by
}

// refusedHeld returns the problem for an object of the project that another place holds.
func refusedHeld(t target, by string) error {
	return problem.New(fmt.Sprintf("%s exists already: this project was deployed by %s", title(t.id), by),
		fmt.Sprintf("to work on it together, go by one name everywhere: HONE_HOLDER=%s\nto take it over for good: hone up --adopt, or the key Y on its screen;\n"+
			"to keep apart, use a namespace of your own: --namespace", by)).See("preview")
}
