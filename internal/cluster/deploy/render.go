package deploy

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// Rendered is an object of a resource for other programs to apply.
type Rendered struct {
	Resource model.ManifestName
	Object   *unstructured.Unstructured
}

// Render returns the objects of resources with their built images and without anything of hone: labels, annotations, the synclet. An
// image without a result keeps the name that the YAML gives it. A namespaced object whose YAML names no namespace gets the one of its
// request, if there is one. The order is the order in which Apply starts objects that do not depend on each other.
func Render(requests []InjectRequest) ([]Rendered, error) {
	var out []Rendered
	for _, req := range requests {
		req.plain, req.Synclet = true, nil
		objects, err := Inject(req, nil)
		if err != nil {
			return nil, err
		}
		for _, u := range objects {
			out = append(out, Rendered{req.Resource, u})
		}
	}
	slices.SortStableFunc(out, func(a, b Rendered) int { return IDOf(a.Object).Compare(IDOf(b.Object)) })
	return out, nil
}
