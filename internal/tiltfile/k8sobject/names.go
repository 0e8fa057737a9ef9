package k8sobject

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/hint"
)

// nameParts are the components of an object's names, from the one that is always present to the one that is rarely
// needed.
func (o *Object) nameParts() []string { return []string{o.Name, o.Kind, o.Namespaced(), o.groupName()} }

// coreGroup stands for the API group without a name, so that a selector can choose it.
const coreGroup = "core"

func (o *Object) groupName() string { return cmp.Or(o.Group(), coreGroup) }

// possibleNames are the names of an object from the shortest to the full one.
func (o *Object) possibleNames() []string {
	parts := o.nameParts()
	out := make([]string, len(parts))
	for i, p := range parts {
		p = strings.ToLower(strings.ReplaceAll(p, ":", `\:`))
		if i > 0 {
			p = out[i-1] + ":" + p
		}
		out[i] = p
	}
	return out
}

// UniqueNames returns the shortest unique name of each object. Objects with equal full names are numbered.
func UniqueNames(objs []*Object) []string {
	count := map[string]int{}
	for _, o := range objs {
		for _, n := range o.possibleNames() {
			count[n]++
		}
	}
	out := make([]string, len(objs))
	numbered := map[string]int{}
	for i, o := range objs {
		names := o.possibleNames()
		for _, n := range names {
			if count[n] == 1 {
				out[i] = n
				break
			}
		}
		if out[i] == "" {
			full := names[len(names)-1]
			out[i] = fmt.Sprintf("%s:%d", full, numbered[full])
			numbered[full]++
		}
	}
	return out
}

// selector selects objects by name[:kind[:namespace[:group]]], ignoring case. Empty parts match everything.
type selector []string

// namespacePart is the index of the namespace in a selector.
const namespacePart = 2

// ParseSelector reads name[:kind[:namespace[:group]]]; `\:` is a colon in a name.
func ParseSelector(s string) (selector, error) {
	var parts selector
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == ':':
			b.WriteByte(':')
			i++
		case s[i] == ':':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	parts = append(parts, b.String())
	if parts[0] == "" || len(parts) > 4 {
		return nil, fmt.Errorf("%q does not have the form name[:kind[:namespace[:group]]]", s)
	}
	return parts, nil
}

// Matches reports whether the selector selects an object. An object without a namespace is in the given one, and also
// matches "default".
func (p selector) Matches(o *Object, namespace string) bool {
	names := o.nameParts()
	for i, part := range p {
		own := i == namespacePart && o.Namespace == "" && strings.EqualFold(part, namespace)
		if part != "" && !own && !strings.EqualFold(part, names[i]) {
			return false
		}
	}
	return true
}

// Pick returns the objects that the selector matches; see Matches. namespaceOf returns the namespace for objects without one in the
// cluster of a name.
func (p selector) Pick(objs []*Object, namespaceOf func(cluster string) string) []*Object {
	var out []*Object
	for _, o := range objs {
		if p.Matches(o, namespaceOf(o.Cluster)) {
			out = append(out, o)
		}
	}
	return out
}

// QuotedNames lists objects for a message, with their groups where only the groups distinguish them.
func QuotedNames(objs []*Object) string {
	count := map[string]int{}
	for _, o := range objs {
		count[strings.ToLower(o.FullName())]++
	}
	names := make([]string, len(objs))
	for i, o := range objs {
		if names[i] = o.FullName(); count[strings.ToLower(names[i])] > 1 {
			names[i] += ":" + o.groupName()
		}
	}
	return hint.Quoted(names)
}
