package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/hone-dev/hone/internal/language"
	"github.com/hone-dev/hone/internal/problem"
)

// tableMedia asks for rows instead of objects.
const tableMedia = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

// Found is what there is of a target. Of a named one, what is missing is left out.
type Found struct {
	Target
	// Objects are the objects, or Table is their rows, whichever was asked for. The objects in the rows are decoded.
	Objects []unstructured.Unstructured
	Table   *metav1.Table
	// Version is the resource version from which changes follow.
	Version string
}

// Form is what objects are fetched as.
type Form int

// The forms: objects as they are, rows with the objects' metadata, and rows with whole objects.
const (
	Whole Form = iota
	Rows
	WholeRows
)

// Fetch returns what there is of a target. The error may be about some of the named objects only; then there are others.
func (s *Session) Fetch(ctx context.Context, t Target, form Form) (Found, error) {
	f := Found{Target: t}
	if !t.Named() {
		return f, s.list(ctx, &f, form)
	}
	var errs []error
	for _, name := range t.Names {
		if err := s.one(ctx, &f, name, form); err != nil {
			errs = append(errs, err)
		}
	}
	return f, errors.Join(errs...)
}

func (s *Session) list(ctx context.Context, f *Found, form Form) error {
	if form == Whole {
		l, err := s.Of(f.Kind).List(ctx, metav1.ListOptions{LabelSelector: f.Labels, FieldSelector: f.Fields})
		if err != nil {
			return Explain(err)
		}
		f.Objects, f.Version = l.Items, l.GetResourceVersion()
		return nil
	}
	t, err := s.table(ctx, f.Target, "", form)
	if err != nil {
		return err
	}
	f.Table, f.Version = t, t.ResourceVersion
	return nil
}

func (s *Session) one(ctx context.Context, f *Found, name string, form Form) error {
	if form == Whole {
		u, err := s.Get(ctx, f.Kind, name)
		if err != nil {
			return err
		}
		f.Objects, f.Version = append(f.Objects, *u), u.GetResourceVersion()
		return nil
	}
	t, err := s.table(ctx, f.Target, name, form)
	if err != nil {
		return s.missing(ctx, f.Kind, name, err)
	}
	if f.Table == nil {
		f.Table = t
	} else {
		f.Table.Rows = append(f.Table.Rows, t.Rows...)
	}
	f.Version = t.ResourceVersion
	return nil
}

// Get returns one object.
func (s *Session) Get(ctx context.Context, k Kind, name string) (*unstructured.Unstructured, error) {
	u, err := s.Of(k).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, s.missing(ctx, k, name, err)
	}
	return u, nil
}

// table fetches rows; without a name, all that the selectors leave.
func (s *Session) table(ctx context.Context, t Target, name string, form Form) (*metav1.Table, error) {
	path := []string{"apis", t.Kind.GVR.Group, t.Kind.GVR.Version, t.Kind.GVR.Resource}
	if name != "" {
		path = append(path, name)
	}
	r := s.rest.Get().AbsPath(path...).SetHeader("Accept", tableMedia)
	if form == WholeRows {
		r.Param("includeObject", string(metav1.IncludeObject))
	}
	if t.Labels != "" {
		r.Param("labelSelector", t.Labels)
	}
	if t.Fields != "" {
		r.Param("fieldSelector", t.Fields)
	}
	doc, err := r.Do(ctx).Raw()
	if err != nil {
		return nil, Explain(err)
	}
	return decodeTable(doc)
}

// decodeTable reads a table with the objects in it.
func decodeTable(doc []byte) (*metav1.Table, error) {
	t := &metav1.Table{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, t); err != nil {
		return nil, fmt.Errorf("read a table: %w", err)
	}
	for i := range t.Rows {
		o := &t.Rows[i].Object
		if len(o.Raw) == 0 {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(o.Raw); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}
		o.Object, o.Raw = u, nil
	}
	return t, nil
}

// Missing is the problem that there is no object of a name.
type Missing struct {
	*problem.Problem
	status *apierrors.StatusError
}

var _ error = Missing{}

// Unwrap returns the problem, and what the session said.
func (m Missing) Unwrap() []error { return []error{m.Problem, m.status} }

// missing adds to a session's answer that there is no such object which ones there are.
func (s *Session) missing(ctx context.Context, k Kind, name string, err error) error {
	var status *apierrors.StatusError
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return Explain(err)
	}
	p := problem.New(fmt.Sprintf("there is no %s", k.Ref(name)), "hone get "+k.GVR.Resource+" lists those that there are")
	names, listing := s.Names(ctx, k)
	switch near := language.Nearest(name, names); {
	case listing != nil:
	case len(names) == 0:
		p.Mend = fmt.Sprintf("there are no %s at all", k.GVR.Resource)
	case near != "":
		p.Mend = fmt.Sprintf("did you mean %s? %s", near, p.Mend)
	case len(names) <= 5:
		p.Mend = "there are: " + strings.Join(names, ", ")
	}
	return Missing{p, status}
}

// Document returns one object as the session writes it, with its fields in their order.
func (s *Session) Document(ctx context.Context, k Kind, name string) ([]byte, error) {
	doc, err := s.rest.Get().AbsPath("apis", k.GVR.Group, k.GVR.Version, k.GVR.Resource, name).Do(ctx).Raw()
	if err != nil {
		return nil, s.missing(ctx, k, name, err)
	}
	return doc, nil
}
