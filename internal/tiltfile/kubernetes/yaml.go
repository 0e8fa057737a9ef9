package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

// objectKey identifies an object, which must not be declared twice.
type objectKey struct{ cluster, group, kind, namespace, name string }

// objectIndex holds the objects from k8s_yaml, in order.
type objectIndex struct {
	List  []*k8sobject.Object
	byKey map[objectKey]*k8sobject.Object
	// differing are the objects of which an earlier declaration had other content.
	differing map[*k8sobject.Object]bool
	// namespace is for objects of the session's own cluster that name none, and gate knows the namespaces of the others.
	namespace string
	gate      *kubecontext.Gate
}

func newObjectIndex(gate *kubecontext.Gate, namespace string) objectIndex {
	return objectIndex{byKey: map[objectKey]*k8sobject.Object{}, differing: map[*k8sobject.Object]bool{}, gate: gate, namespace: namespace}
}

func (x *objectIndex) keyOf(o *k8sobject.Object) objectKey {
	return objectKey{o.Cluster, o.Group(), o.Kind, cmp.Or(o.Namespace, x.namespaceOf(o.Cluster), "default"), o.Name}
}

// placed reports whether the declaration of an object names its cluster.
func (x *objectIndex) placed() bool {
	return slices.ContainsFunc(x.List, func(o *k8sobject.Object) bool { return o.Placed })
}

// namespaceOf returns the namespace for objects that name none in the cluster of a name; empty if it is not known.
func (x *objectIndex) namespaceOf(cluster string) string {
	if in, err := x.gate.Named(cluster); err == nil && in != nil {
		return in.Namespace
	}
	return x.namespace
}

// add adds an object. It may replace an earlier declaration of the same object.
func (x *objectIndex) add(o *k8sobject.Object, allowDuplicates bool) error {
	former := x.byKey[x.keyOf(o)]
	switch {
	case former == nil:
		x.List = append(x.List, o)
	case !allowDuplicates:
		return declaredTwice(o, former)
	default:
		x.List[slices.Index(x.List, former)] = o
		x.differing[o] = x.differing[former] || former.JSON != o.JSON
	}
	x.byKey[x.keyOf(o)] = o
	return nil
}

func declaredTwice(o, former *k8sobject.Object) error {
	return problem.New(
		fmt.Sprintf("%s is declared twice, here and at %s", o.ID(), former.Site),
		"remove one of them, or pass allow_duplicates=True: then the last one counts")
}

// nameDiffering logs which declaration of an object counts, where several differ.
func (x *objectIndex) nameDiffering(log logstore.Logger) {
	for _, o := range x.List {
		if x.differing[o] {
			logstore.Infof(log, "%s: %s is declared several times, with different content: the last declaration, this one, counts", o.Site, o.ID())
		}
	}
}

func (d *Declarations) k8sYAML(c *eval.Call) (starlark.Value, error) {
	var yaml starlark.Value
	var allowDuplicates bool
	var cluster string
	if err := c.Unpack("yaml", &yaml, "allow_duplicates??", &allowDuplicates, "cluster??", &cluster); err != nil {
		return nil, err
	}
	objs, err := readObjects(c, yaml)
	if err != nil {
		return nil, err
	}
	if len(objs) == 0 {
		return nil, errors.New("there are no objects in the YAML")
	}
	at := c.Site()
	for _, o := range objs {
		o.Site, o.Cluster, o.Placed = at, cluster, cluster != ""
		if err := d.Objects.add(o, allowDuplicates); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// readObjects reads the argument of k8s_yaml and filter_yaml: a path, a blob, or a list of these.
func readObjects(c *eval.Call, v starlark.Value) ([]*k8sobject.Object, error) {
	var out []*k8sobject.Object
	for _, e := range value.OneOrMany(v) {
		var t value.Text
		if err := t.Unpack(e); err != nil {
			return nil, fmt.Errorf("yaml: got %s, want the path of a file, a blob, or a list of these", e.Type())
		}
		source := t.Source
		if !t.IsBlob {
			source = c.Abs(t.Value)
			content, err := yamlFile(c, t.Value)
			if err != nil {
				return nil, err
			}
			t.Value = content
		}
		objs, err := k8sobject.Parse(c.Memo, c.Profile, t.Value, source)
		if err != nil {
			return nil, err
		}
		out = append(out, objs...)
	}
	return out, nil
}

func yamlFile(c *eval.Call, path string) (string, error) {
	switch {
	case strings.HasPrefix(path, "http://"), strings.HasPrefix(path, "https://"):
		return "", problem.New(fmt.Sprintf("%s is not a file, and URLs are not fetched", path),
			fmt.Sprintf("k8s_yaml(local('curl -fsSL %s'))", path))
	case strings.Contains(path, "\n"):
		return "", errors.New("yaml: a string is the path of a file; wrap text in blob(…)")
	}
	content, _, err := c.Contents(path, nil)
	return content, err
}

func filterYAML(c *eval.Call) (starlark.Value, error) {
	var yaml starlark.Value
	var labels value.TextMap
	var name, namespace, kind, apiVersion string
	if err := c.Unpack("yaml", &yaml, "labels??", &labels, "name??", &name, "namespace??", &namespace, "kind??", &kind,
		"api_version??", &apiVersion); err != nil {
		return nil, err
	}
	var patterns [4]*regexp.Regexp
	for i, p := range []string{name, namespace, kind, apiVersion} {
		re, err := regexp.Compile("(?i)" + p)
		if err != nil {
			return nil, fmt.Errorf("%q is not a regular expression: %w", p, err)
		}
		patterns[i] = re
	}
	objs, err := readObjects(c, yaml)
	if err != nil {
		return nil, err
	}
	var match, rest []*k8sobject.Object
	for _, o := range objs {
		fits := o.HasLabels(labels.Values)
		for i, part := range []string{o.Name, o.Namespaced(), o.Kind, o.APIVersion} {
			fits = fits && patterns[i].MatchString(part)
		}
		if fits {
			match = append(match, o)
		} else {
			rest = append(rest, o)
		}
	}
	a, err := k8sobject.Join(match)
	if err != nil {
		return nil, err
	}
	b, err := k8sobject.Join(rest)
	return starlark.Tuple{value.NewBlob(a, "filter_yaml"), value.NewBlob(b, "filter_yaml")}, err
}

// nameFunction is the function given to workload_to_resource_function.
type nameFunction struct {
	fn   starlark.Callable
	site fault.Site
}

func (d *Declarations) workloadFunction(c *eval.Call) (starlark.Value, error) {
	var fn starlark.Callable
	if err := c.Unpack("fn", &fn); err != nil {
		return nil, err
	}
	if d.nameFn != nil {
		return nil, fmt.Errorf("there is already a function, set at %s", d.nameFn.site)
	}
	if f, ok := fn.(*starlark.Function); ok && f.NumParams() != 1 {
		return nil, fmt.Errorf("%s must take one argument, the id of a workload; it takes %d", f.Name(), f.NumParams())
	}
	d.nameFn = &nameFunction{fn, c.Site()}
	return nil, nil
}
