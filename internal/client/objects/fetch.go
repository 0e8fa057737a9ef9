package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
)

// tableMedia requests rows instead of objects; headMedia and headsMedia request an object and a list with metadata only.
const (
	tableMedia = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	headMedia  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
	headsMedia = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
)

// Found is the result of fetching a target. It omits named objects that do not exist.
type Found struct {
	Target
	// Objects are the objects, Documents are the objects as the session wrote them, and Table is their rows; the form
	// determines which of them is set. The objects in the rows are decoded.
	Objects   []unstructured.Unstructured
	Documents []jsontext.Value
	Table     *metav1.Table
	// Version is the resource version after which changes can be followed.
	Version string
}

// Form is the form in which objects are fetched.
type Form int

// The forms: decoded objects, their JSON text, objects with only their metadata, rows with the objects' metadata, and rows
// with whole objects.
const (
	Whole Form = iota
	Text
	Heads
	Rows
	WholeRows
)

// Fetch returns the objects of a target. If the error concerns only some of the named objects, the others are returned.
func (s *Client) Fetch(ctx context.Context, t Target, form Form) (Found, error) {
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

func (s *Client) list(ctx context.Context, f *Found, form Form) error {
	doc, err := answer(ctx, s.request(f.Target, "", form))
	if err != nil {
		return Explain(err)
	}
	if form == Rows || form == WholeRows {
		if f.Table, err = decodeTable(doc); err == nil {
			f.Version = f.Table.ResourceVersion
		}
		return err
	}
	if f.Documents, f.Version, err = split(doc); err != nil || form == Text {
		return err
	}
	return f.decode(form)
}

// split returns the text of the objects of a list, and the version of the list.
func split(doc []byte) (items []jsontext.Value, version string, err error) {
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []jsontext.Value `json:"items"`
	}
	// Errors in the text of an object are left to its decoder.
	if err := jsonv2.Unmarshal(doc, &list, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, "", fmt.Errorf("read a list: %w", err)
	}
	return list.Items, list.Metadata.ResourceVersion, nil
}

// Decode decodes the documents to objects.
func (f *Found) Decode() error {
	decoded := make([]unstructured.Unstructured, len(f.Documents))
	for i, doc := range f.Documents {
		if err := decoded[i].UnmarshalJSON(doc); err != nil {
			return fmt.Errorf("read an object: %w", err)
		}
	}
	f.Objects, f.Documents = append(f.Objects, decoded...), nil
	return nil
}

// decode decodes the documents of a form. It sets the kind of objects that have only metadata, because they do not state it.
func (f *Found) decode(form Form) error {
	known := len(f.Objects)
	if err := f.Decode(); err != nil || form != Heads {
		return err
	}
	for i := range f.Objects[known:] {
		f.Objects[known+i].SetGroupVersionKind(f.Kind.GVK())
	}
	return nil
}

func (s *Client) one(ctx context.Context, f *Found, name string, form Form) error {
	doc, err := answer(ctx, s.request(f.Target, name, form))
	if err != nil {
		return s.missing(ctx, f.Kind, name, err)
	}
	switch form {
	case Rows, WholeRows:
		return f.addRow(doc)
	case Text:
		f.Documents = append(f.Documents, doc)
		return nil
	case Whole, Heads: // decoded below
	}
	f.Documents = []jsontext.Value{doc}
	if err := f.decode(form); err != nil {
		return err
	}
	f.Version = f.Objects[len(f.Objects)-1].GetResourceVersion()
	return nil
}

// addRow adds the row of one object.
func (f *Found) addRow(doc []byte) error {
	t, err := decodeTable(doc)
	if err != nil {
		return err
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
func (s *Client) Get(ctx context.Context, k Kind, name string) (*unstructured.Unstructured, error) {
	doc, err := s.Document(ctx, k, name)
	if err != nil {
		return nil, err
	}
	return decodeOne(doc)
}

func decodeOne(doc []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(doc); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	return u, nil
}

// Patch changes some fields of an object, or of its status, and returns the changed object.
func (s *Client) Patch(ctx context.Context, k Kind, name string, as types.PatchType, patch []byte, o metav1.PatchOptions, status bool) (*unstructured.Unstructured, error) {
	path := k.path(name)
	if status {
		path = append(path, "status")
	}
	r := s.rest.Patch(as).AbsPath(path...).Body(patch).Param("fieldManager", o.FieldManager)
	if o.FieldValidation != "" {
		r.Param("fieldValidation", o.FieldValidation)
	}
	for _, d := range o.DryRun {
		r.Param("dryRun", d)
	}
	doc, err := answer(ctx, r)
	if err != nil {
		return nil, Explain(err)
	}
	return decodeOne(doc)
}

// Delete requests the deletion of an object.
func (s *Client) Delete(ctx context.Context, k Kind, name string, o metav1.DeleteOptions) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	_, err = answer(ctx, s.rest.Delete().AbsPath(k.path(name)...).SetHeader("Content-Type", "application/json").Body(body))
	return Explain(err)
}

// path returns the path of an object, or of the whole collection if name is empty. Slashes in a name are not escaped, because
// client-go cannot send escaped slashes.
func (k Kind) path(name string) []string {
	out := []string{"apis", k.GVR.Group, k.GVR.Version, k.GVR.Resource}
	if name != "" {
		out = append(out, name)
	}
	return out
}

// request returns a request for an object of a target; without a name, for all objects that the selectors match.
func (s *Client) request(t Target, name string, form Form) *rest.Request {
	r := s.rest.Get().AbsPath(t.Kind.path(name)...)
	switch {
	case form == Rows:
		r.SetHeader("Accept", tableMedia)
	case form == WholeRows:
		r.SetHeader("Accept", tableMedia).Param("includeObject", string(metav1.IncludeObject))
	case form == Heads && name == "":
		r.SetHeader("Accept", headsMedia)
	case form == Heads:
		r.SetHeader("Accept", headMedia)
	}
	if t.Labels != "" {
		r.Param("labelSelector", t.Labels)
	}
	if t.Fields != "" {
		r.Param("fieldSelector", t.Fields)
	}
	return r
}

// answer sends a request and returns the body of the response. The error is the one that the session reports.
func answer(ctx context.Context, r *rest.Request) ([]byte, error) {
	result := r.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
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

// Missing is the problem that a named object does not exist.
type Missing struct {
	*problem.Problem
	status *apierrors.StatusError
}

var _ error = Missing{}

// Unwrap returns the problem and the session's own error.
func (m Missing) Unwrap() []error { return []error{m.Problem, m.status} }

// missing returns the error that an object does not exist, with a suggestion or a list of the existing objects.
func (s *Client) missing(ctx context.Context, k Kind, name string, err error) error {
	var status *apierrors.StatusError
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return Explain(err)
	}
	p := problem.New(fmt.Sprintf("there is no %s", k.Ref(name)), "hone get "+k.GVR.Resource+" lists the existing ones")
	names, listing := s.Names(ctx, Target{Kind: k})
	switch near := suggest.Nearest(name, names); {
	case listing != nil:
	case len(names) == 0:
		p.Mend = fmt.Sprintf("there are no %s", k.GVR.Resource)
	case near != "":
		p.Mend = fmt.Sprintf("did you mean %s? %s", near, p.Mend)
	case len(names) <= 5:
		p.Mend = "there are: " + strings.Join(names, ", ")
	}
	return Missing{p, status}
}

// Document returns the text of one object as the session writes it, with the fields in the session's order.
func (s *Client) Document(ctx context.Context, k Kind, name string) ([]byte, error) {
	doc, err := answer(ctx, s.request(Target{Kind: k}, name, Text))
	if err != nil {
		return nil, s.missing(ctx, k, name, err)
	}
	return doc, nil
}
