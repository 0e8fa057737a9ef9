package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// FieldRef is a reference to a field of an object in the cluster. The text of a declaration holds it as a token, which is replaced
// by the field's value when the declaration is applied.
type FieldRef struct {
	// Kind is the kind as written, in any case, or the kind and the API group: "service", "Certificate.cert-manager.io".
	Kind string
	// Namespace is empty for the namespace of the object that has the reference.
	Namespace, Name string
	// Path is a JSON path in the object, such as "spec.clusterIP".
	Path string
}

// fieldRefPattern matches the tokens. Neither part has parentheses, and an object has no colon.
var fieldRefPattern = regexp.MustCompile(`\$\(hone\.ref:([^():"\\]+):([^()"\\]+)\)`)

// ParseFieldRef reads "kind/name" or "kind/namespace/name", and takes the path as it is.
func ParseFieldRef(object, path string) (FieldRef, error) {
	parts := strings.Split(object, "/")
	r := FieldRef{Path: path}
	switch len(parts) {
	case 2:
		r.Kind, r.Name = parts[0], parts[1]
	case 3:
		r.Kind, r.Namespace, r.Name = parts[0], parts[1], parts[2]
	}
	kind, _, _ := strings.Cut(r.Kind, ".")
	switch {
	case kind == "" || r.Name == "" || slices.Contains(parts, ""):
		return FieldRef{}, fmt.Errorf("%q is not an object such as service/db or service/shop/db", object)
	case strings.EqualFold(kind, "secret") || strings.EqualFold(kind, "secrets"):
		return FieldRef{}, fmt.Errorf("%q: the values of a Secret would get into other objects; a container refers to them by valueFrom.secretKeyRef", object)
	case fieldRefPattern.FindString(r.Token()) != r.Token() || strings.Contains(object, ":"):
		return FieldRef{}, fmt.Errorf("%q and %q: an object and a path have no parentheses, double quotes or backslashes, and an object has no colon", object, path)
	}
	return r, nil
}

// Object returns the object as it was written: "service/db" or "service/shop/db".
func (r FieldRef) Object() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// JSONPath returns the path in the form of a JSON path: with a leading dot.
func (r FieldRef) JSONPath() string {
	if strings.ContainsAny(r.Path[:1], ".[{$") {
		return r.Path
	}
	return "." + r.Path
}

// Token returns the text that stands for the field's value in a declaration.
func (r FieldRef) Token() string { return "$(hone.ref:" + r.Object() + ":" + r.Path + ")" }

// Names reports whether the reference of an object in a namespace is to the object id. Both namespaces are as declared: empty for
// the session's.
func (r FieldRef) Names(id ObjectID, namespace string) bool {
	kind, group, grouped := strings.Cut(r.Kind, ".")
	if r.Namespace != "" {
		namespace = r.Namespace
	}
	ofKind := strings.EqualFold(kind, id.Kind) && (!grouped || strings.EqualFold(group, id.Group))
	there := id.Namespace == namespace || id.Namespace == ""
	return ofKind && there && r.Name == id.Name
}

// FieldRefs returns the references whose tokens a text has, in its order. Something that looks like a token and is not valid is an
// error.
func FieldRefs(text string) ([]FieldRef, error) {
	if !strings.Contains(text, "$(hone.ref:") {
		return nil, nil
	}
	var out []FieldRef
	for _, m := range fieldRefPattern.FindAllStringSubmatch(text, -1) {
		r, err := ParseFieldRef(m[1], m[2])
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// ReplaceFieldRefs replaces each token in a text by the result of value for its reference. An invalid token stays.
func ReplaceFieldRefs(text string, value func(FieldRef) string) string {
	return fieldRefPattern.ReplaceAllStringFunc(text, func(token string) string {
		m := fieldRefPattern.FindStringSubmatch(token)
		r, err := ParseFieldRef(m[1], m[2])
		if err != nil {
			return token
		}
		return value(r)
	})
}
