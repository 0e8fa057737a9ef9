package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/discovery"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
)

// Kind is a kind of objects that the session serves.
type Kind struct {
	// Name is the kind: UIResource. Singular is the name in lower case.
	Name, Singular string
	// GVR identifies the kind in requests.
	GVR schema.GroupVersionResource
	// ShortNames and Categories are other names for the kind; Verbs are the operations that its objects support.
	ShortNames, Categories, Verbs []string
	Namespaced                    bool
}

// GVK returns the kind as objects name it.
func (k Kind) GVK() schema.GroupVersionKind { return k.GVR.GroupVersion().WithKind(k.Name) }

// String names the kind in full: "uiresources.tilt.dev".
func (k Kind) String() string { return k.GVR.GroupResource().String() }

// Ref names one of its objects in full: "uiresource.tilt.dev/web".
func (k Kind) Ref(name string) string { return k.Singular + "." + k.GVR.Group + "/" + name }

// Can reports whether its objects support a verb.
func (k Kind) Can(verb string) bool { return slices.Contains(k.Verbs, verb) }

// answersTo reports whether the word, in lower case, names the kind.
func (k Kind) answersTo(word string) bool {
	return word == k.GVR.Resource || word == k.Singular || slices.Contains(k.ShortNames, word)
}

// kindsOf returns all kinds, in the order of their groups.
func kindsOf(groups []discovery.Group) (out []Kind) {
	for _, g := range groups {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				if strings.Contains(r.Name, "/") {
					continue
				}
				k := Kind{Name: r.Kind, Singular: r.SingularName, GVR: schema.GroupVersionResource{Group: g.Name, Version: v.Name, Resource: r.Name}, ShortNames: r.ShortNames,
					Categories: r.Categories, Verbs: r.Verbs, Namespaced: r.Namespaced}
				if k.Singular == "" {
					k.Singular = strings.ToLower(r.Kind)
				}
				out = append(out, k)
			}
		}
	}
	return out
}

// Kinds returns all kinds, in the session's order. If two kinds have the same name, the name means the first one.
func (s *Client) Kinds() []Kind { return s.kinds }

// Kind returns the kind that a word names: by its plural, its singular or a short name, optionally followed by a dot and the
// group, or by a dot, the version, a dot and the group: "uiresources", "uir", "sessions.hone.dev",
// "sessions.v1alpha1.hone.dev".
func (s *Client) Kind(word string) (Kind, error) {
	name, group, _ := strings.Cut(strings.ToLower(word), ".")
	for _, k := range s.kinds {
		groups := []string{"", k.GVR.Group, k.GVR.Version + "." + k.GVR.Group}
		if k.answersTo(name) && slices.Contains(groups, group) {
			return k, nil
		}
	}
	return Kind{}, s.unknown(word)
}

// KindOf returns the kind of objects with the given group, version and kind.
func (s *Client) KindOf(gvk schema.GroupVersionKind) (Kind, error) {
	for _, k := range s.kinds {
		if k.GVK() == gvk {
			return k, nil
		}
	}
	for _, k := range s.kinds {
		if k.Name == gvk.Kind {
			return Kind{}, problem.New(fmt.Sprintf("the session has no %s of %s", gvk.Kind, gvk.GroupVersion()),
				fmt.Sprintf("write: apiVersion: %s", k.GVR.GroupVersion()))
		}
	}
	return Kind{}, s.unknown(strings.ToLower(gvk.Kind))
}

// expand returns the kinds that a word names: a single kind, or the kinds of a category.
func (s *Client) expand(word string) ([]Kind, error) {
	k, err := s.Kind(word)
	if err == nil {
		return []Kind{k}, nil
	}
	var all []Kind
	for _, k := range s.kinds {
		if slices.Contains(k.Categories, strings.ToLower(word)) {
			all = append(all, k)
		}
	}
	if all == nil {
		return nil, err
	}
	return all, nil
}

// unknown returns the problem that no kind has the given name.
func (s *Client) unknown(word string) error {
	name, group, _ := strings.Cut(strings.ToLower(word), ".")
	var candidates []string
	for _, k := range s.kinds {
		if k.answersTo(name) {
			return problem.New(fmt.Sprintf("no kind of %s is called %q", group, name), "did you mean "+k.String()+"?")
		}
		candidates = append(candidates, k.GVR.Resource, k.Singular)
	}
	return problem.New(fmt.Sprintf("the session has no kind %q", word),
		suggest.Mend(name, candidates, "hone api-resources lists the existing kinds"))
}

// Names returns the names of a target's objects. Names that the target itself gives need not exist.
func (s *Client) Names(ctx context.Context, t Target) ([]string, error) {
	if t.Named() {
		return t.Names, nil
	}
	all, err := s.Fetch(ctx, t, Heads)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all.Objects))
	for i := range all.Objects {
		names[i] = all.Objects[i].GetName()
	}
	return names, nil
}
