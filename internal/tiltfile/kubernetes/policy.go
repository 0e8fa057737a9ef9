package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// policy holds the arguments of k8s_resource that allow or forbid hone to change the objects of a resource. Empty values
// decide nothing.
type policy struct {
	adopt, onRemove, apply choice
	readOnly, shared, keep value.Bool
	ignore                 ignored
}

// choice takes one of the values that an annotation may have.
type choice struct {
	annotation string
	value      string
}

// Unpack implements starlark.Unpacker.
func (c *choice) Unpack(v starlark.Value) error {
	text, ok := starlark.AsString(v)
	if !ok {
		return fmt.Errorf("got %s, want string", v.Type())
	}
	if err := model.CheckPolicy(c.annotation, text); err != nil {
		return fmt.Errorf("got %s, want %s", v, strings.TrimPrefix(err.Error(), fmt.Sprintf("%s: %q is not ", c.annotation, text)))
	}
	c.value = text
	return nil
}

// ignored takes JSON pointers: a list for all objects, or a dict of lists by kind.
type ignored struct{ byKind map[string][]string }

// allKinds stands for every kind.
const allKinds = ""

// Unpack implements starlark.Unpacker.
func (g *ignored) Unpack(v starlark.Value) error {
	g.byKind = map[string][]string{}
	add := func(kind string, v starlark.Value) error {
		for _, e := range value.OneOrMany(v) {
			pointer, ok := starlark.AsString(e)
			if !ok {
				return fmt.Errorf("got %s, want a JSON pointer such as \"/spec/replicas\"", e.Type())
			}
			if len(model.Pointers(pointer)) != 1 || model.CheckPolicy(model.AnnotationIgnore, pointer) != nil {
				return fmt.Errorf("%q is not a JSON pointer such as \"/spec/replicas\"", pointer)
			}
			g.byKind[kind] = append(g.byKind[kind], pointer)
		}
		return nil
	}
	d, ok := v.(starlark.IterableMapping)
	if !ok {
		return add(allKinds, v)
	}
	for _, item := range d.Items() {
		kind, ok := starlark.AsString(item[0])
		if !ok || kind == allKinds {
			return fmt.Errorf("got %s, want the name of a kind", item[0])
		}
		if err := add(kind, item[1]); err != nil {
			return err
		}
	}
	return nil
}

func newPolicy() policy {
	return policy{adopt: choice{annotation: model.AnnotationAdopt}, onRemove: choice{annotation: model.AnnotationOnRemove},
		apply: choice{annotation: model.AnnotationApply}}
}

// merge adds the policy of another call: its values replace earlier ones, and its fields to ignore are added.
func (p *policy) merge(o policy) {
	for to, from := range map[*choice]choice{&p.adopt: o.adopt, &p.onRemove: o.onRemove, &p.apply: o.apply} {
		if from.value != "" {
			*to = from
		}
	}
	if o.readOnly.IsSet {
		p.readOnly = o.readOnly
	}
	if o.shared.IsSet {
		p.shared = o.shared
	}
	if o.keep.IsSet {
		p.keep = o.keep
	}
	for kind, pointers := range o.ignore.byKind {
		if p.ignore.byKind == nil {
			p.ignore.byKind = map[string][]string{}
		}
		p.ignore.byKind[kind] = append(p.ignore.byKind[kind], pointers...)
	}
}

// annotations returns the annotations with which the policy marks objects of a kind.
func (p *policy) annotations(kind string) map[string]string {
	out := map[string]string{}
	for _, c := range []choice{p.adopt, p.onRemove, p.apply} {
		if c.value != "" {
			out[c.annotation] = c.value
		}
	}
	if p.keep.IsSet && p.keep.Value {
		out[model.AnnotationApply] = model.ApplyKeep
	}
	if p.readOnly.IsSet && p.readOnly.Value {
		out[model.AnnotationReadOnly] = model.ReadOnlyTrue
	}
	if p.shared.IsSet && p.shared.Value {
		out[model.AnnotationShared] = model.SharedTrue
	}
	pointers := slices.Concat(p.ignore.byKind[allKinds], p.ignore.byKind[kind])
	if len(pointers) > 0 {
		out[model.AnnotationIgnore] = strings.Join(pointers, " ")
	}
	return out
}

// annotate adds the annotations of the policy to the objects of a resource. An annotation in the YAML is more specific,
// and stays.
func (p *policy) annotate(objs []*k8sobject.Object) error {
	for _, o := range objs {
		more := p.annotations(o.Kind)
		if len(more) == 0 {
			continue
		}
		var err error
		if o.JSON, err = o.Annotated(more); err != nil {
			return fmt.Errorf("%s: %w", o.FullName(), err)
		}
	}
	return nil
}

// unknownKinds returns the kinds for which fields are ignored although none of the objects has that kind.
func (p *policy) unknownKinds(objs []*k8sobject.Object) []string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(p.ignore.byKind)) {
		if kind != allKinds && !slices.ContainsFunc(objs, func(o *k8sobject.Object) bool { return o.Kind == kind }) {
			out = append(out, kind)
		}
	}
	return out
}
