package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/jsonpath"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// kindRule is one call of k8s_kind or k8s_image_json_path: a pattern for objects, and the properties that it gives
// them.
type kindRule struct {
	builtin   string
	site      fault.Site
	which     objectPattern
	places    []imagePlace
	readiness model.PodReadiness
	// workload makes every matching object a workload, even one without images.
	workload bool
}

// imagePlace is a place where an object refers to an image: one text at path, or two fields of the mapping at path.
type imagePlace struct {
	path      jsonpath.Path
	repoField string
	tagField  string
}

// objectPattern selects objects by regular expressions that may match any part of the text; nil matches everything.
type objectPattern struct{ apiVersion, kind, name, namespace *regexp.Regexp }

// newObjectPattern compiles expressions, ignoring case; empty ones match everything.
func newObjectPattern(apiVersion, kind, name, namespace string) (p objectPattern, err error) {
	for _, part := range []struct {
		argument, text string
		re             **regexp.Regexp
	}{{"api_version", apiVersion, &p.apiVersion}, {"kind", kind, &p.kind}, {"name", name, &p.name}, {"namespace", namespace, &p.namespace}} {
		if part.text == "" {
			continue
		}
		if *part.re, err = regexp.Compile("(?i)" + part.text); err != nil {
			return p, fmt.Errorf("%s: %q is not a regular expression: %w", part.argument, part.text, err)
		}
	}
	return p, nil
}

func (p objectPattern) matches(o *k8sobject.Object) bool {
	for _, part := range []struct {
		pattern *regexp.Regexp
		text    string
	}{{p.apiVersion, o.APIVersion}, {p.kind, o.Kind}, {p.name, o.Name}, {p.namespace, o.Namespaced()}} {
		if part.pattern != nil && !part.pattern.MatchString(part.text) {
			return false
		}
	}
	return true
}

func (d *Declarations) k8sKind(c *eval.Call) (starlark.Value, error) {
	r := &kindRule{builtin: c.Name, site: c.Site(), workload: true}
	var kind, apiVersion string
	var paths value.Texts
	var imageObject starlark.Value
	var ready readiness
	if n := len(c.Args); n > 1 {
		return nil, fmt.Errorf("got %d arguments without a name, want one, the kind; write api_version=…, image_json_path=… and so on", n)
	}
	if err := c.Unpack("kind", &kind, "api_version??", &apiVersion, "image_json_path??", &paths, "image_object??", &imageObject,
		"pod_readiness??", &ready); err != nil {
		return nil, err
	}
	if kind == "" {
		return nil, errors.New("kind: the name of the kind is empty")
	}
	if len(paths.Values) > 0 && imageObject != nil {
		return nil, errors.New("give either image_json_path= or image_object=, not both")
	}
	var err error
	if r.which, err = newObjectPattern(apiVersion, kind, "", ""); err != nil {
		return nil, err
	}
	if r.places, err = imagePlaces("image_json_path", paths.Values); err != nil {
		return nil, err
	}
	if imageObject != nil {
		place, err := imageObjectPlace(imageObject)
		if err != nil {
			return nil, fmt.Errorf("image_object: %w", err)
		}
		r.places = []imagePlace{place}
	}
	r.readiness = ready.value
	d.kinds = append(d.kinds, r)
	return nil, nil
}

func (d *Declarations) k8sImageJSONPath(c *eval.Call) (starlark.Value, error) {
	r := &kindRule{builtin: c.Name, site: c.Site()}
	var paths value.Texts
	var apiVersion, kind, name, namespace string
	if err := c.Unpack("paths", &paths, "api_version??", &apiVersion, "kind??", &kind, "name??", &name, "namespace??", &namespace); err != nil {
		return nil, err
	}
	switch {
	case len(paths.Values) == 0:
		return nil, errors.New("paths: the list is empty")
	case apiVersion+kind+name+namespace == "":
		return nil, errors.New("select the objects: give at least one of api_version=, kind=, name= and namespace=")
	}
	var err error
	if r.which, err = newObjectPattern(apiVersion, kind, name, namespace); err != nil {
		return nil, err
	}
	if r.places, err = imagePlaces("paths", paths.Values); err != nil {
		return nil, err
	}
	d.kinds = append(d.kinds, r)
	return nil, nil
}

func imagePlaces(argument string, paths []string) ([]imagePlace, error) {
	var out []imagePlace
	for _, text := range paths {
		p, err := jsonpath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", argument, err)
		}
		out = append(out, imagePlace{path: p})
	}
	return out, nil
}

// imageObjectPlace reads {'json_path': …, 'repo_field': …, 'tag_field': …}.
func imageObjectPlace(v starlark.Value) (place imagePlace, err error) {
	var m value.TextMap
	if err := m.Unpack(v); err != nil {
		return place, err
	}
	keys := []string{"json_path", "repo_field", "tag_field"}
	for _, k := range keys {
		if m.Values[k] == "" {
			return place, fmt.Errorf("%s is missing; write {'json_path': '{.spec.image}', 'repo_field': 'repo', 'tag_field': 'tag'}", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m.Values)) {
		if k != keys[0] && k != keys[1] && k != keys[2] {
			return place, fmt.Errorf("unexpected key %q%s", k, hint.DidYouMean(k, keys))
		}
	}
	place.repoField, place.tagField = m.Values["repo_field"], m.Values["tag_field"]
	place.path, err = jsonpath.Parse(m.Values["json_path"])
	return place, err
}

// applyKinds finds the images that the rules point to, and marks the objects that are workloads because of a rule.
func (d *Declarations) applyKinds() error {
	for _, o := range d.Objects.List {
		var root any
		for _, r := range d.kinds {
			if !r.which.matches(o) {
				continue
			}
			if root == nil {
				if err := json.Unmarshal([]byte(o.JSON), &root); err != nil {
					return fmt.Errorf("read %s: %w", o.ID(), err)
				}
			}
			if err := r.apply(o, root); err != nil {
				return d.ErrorAt(r.site, "%s: %w", r.builtin, err)
			}
			d.ruled[o] = append(d.ruled[o], fault.Call{Name: r.builtin, Site: r.site})
		}
	}
	return nil
}

// apply applies a rule to an object, whose decoded content is root.
func (r *kindRule) apply(o *k8sobject.Object, root any) error {
	o.Workload = o.Workload || r.workload
	if r.readiness != "" {
		o.Readiness = r.readiness
	}
	for _, place := range r.places {
		refs, err := place.images(root)
		if err != nil {
			return fmt.Errorf("%s in %s %w", place.path, o.FullName(), err)
		}
		if len(refs) > 0 {
			o.Workload = true
		}
		o.Images = value.AppendNew(o.Images, refs)
		o.Locators = append(o.Locators, model.ImageLocator{Object: o.ID(), Path: place.path.String(),
			RepoField: place.repoField, TagField: place.tagField})
	}
	return nil
}

// images returns the image references of an object at the place; its errors continue "PATH in OBJECT …".
func (p imagePlace) images(root any) ([]string, error) {
	var out []string
	for _, v := range p.path.Find(root) {
		ref, err := p.image(v)
		if err != nil {
			return nil, err
		}
		if ref == "" {
			continue
		}
		if _, err := image.ParseRef(ref); err != nil {
			return nil, fmt.Errorf("is wrong: %w", err)
		}
		out = append(out, ref)
	}
	return out, nil
}

func (p imagePlace) image(v any) (string, error) {
	if p.repoField == "" {
		ref, ok := v.(string)
		if !ok && v != nil {
			return "", fmt.Errorf("is %s, want the reference of an image", valueKind(v))
		}
		return ref, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return "", fmt.Errorf("is %s, want a mapping with %s and %s", valueKind(v), p.repoField, p.tagField)
	}
	repo, ok := m[p.repoField].(string)
	if !ok {
		return "", fmt.Errorf("has no text in %s, which should name the image's repository", p.repoField)
	}
	if tag, ok := m[p.tagField].(string); ok && tag != "" && repo != "" {
		repo += ":" + tag
	}
	return repo, nil
}

// valueKind names the kind of a decoded value.
func valueKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "a bool"
	case nil:
		return "empty"
	}
	return "a number"
}
