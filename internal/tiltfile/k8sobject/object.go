// Package k8sobject reads Kubernetes objects from YAML, with the parts that assembly needs: pods, images, labels,
// names.
package k8sobject

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/internal/tiltfile/profile"
	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
	"github.com/hone-dev/hone/pkg/model"
)

// Object is a Kubernetes object with the parts that assembly needs.
type Object struct {
	model.K8sObject
	labels map[string]string
	// podLabels are the labels of the pods that the object makes; HasPods distinguishes "no labels" from "no pods".
	podLabels map[string]string
	HasPods   bool
	// Workload is set if a rule for the object's kind makes it a workload, or finds images in it; Readiness and
	// Locators come from such rules.
	Workload  bool
	Readiness model.PodReadiness
	Locators  []model.ImageLocator
	// Images and EnvValues are the references and values in its pod specification, in order.
	Images    []string
	EnvValues []string
	// selector is a Service's.
	selector map[string]string
	Secret   map[string]string
	// yaml is the source text; empty for an object from a list.
	yaml string
	Site fault.Site
	// Cluster is the name of the declared cluster that it belongs to; empty for the session's own. Placed is set if the declaration of the
	// object names its cluster.
	Cluster string
	Placed  bool
}

// Namespaced returns the namespace, or "default" where the YAML has none.
func (o *Object) Namespaced() string {
	if o.Namespace == "" {
		return "default"
	}
	return o.Namespace
}

// FullName is the name that identifies the object in messages.
func (o *Object) FullName() string { return fmt.Sprintf("%s:%s:%s", o.Name, o.Kind, o.Namespaced()) }

// text returns the object as YAML.
func (o *Object) text() (string, error) {
	if o.yaml != "" {
		return o.yaml, nil
	}
	out, err := yamltext.FromJSON([]byte(o.JSON))
	return string(out), err
}

// Parse reads the objects in a YAML stream; a list is replaced by its items. Documents are read in parallel, since long
// streams take most of the time of an evaluation.
//
// A document is read once as long as the memo remembers it: each caller gets copies of its objects, so that assembly
// may write into them. The maps that they share are never written to. The profile records whether the memo knew all
// documents. Memo and profile may be nil.
func Parse(m *memo.Memo, p *profile.Profiler, stream, source string) ([]*Object, error) {
	docs := yamlstream.Split(stream)
	parsed, errs := make([][]*Object, len(docs)), make([]error, len(docs))
	var next, made atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(docs)+7)/8) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(docs); i = int(next.Add(1)) - 1 {
				var known bool
				if parsed[i], known, errs[i] = documentObjects(m, docs[i], source); !known {
					made.Add(1)
				}
			}
		})
	}
	workers.Wait()
	if err := joinDocumentErrors(errs); err != nil {
		p.Answered(false)
		return nil, err
	}
	p.Answered(made.Load() == 0)
	return slices.Concat(parsed...), nil
}

// joinDocumentErrors returns the first error, with the others as its detail.
func joinDocumentErrors(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	p := problem.New(fmt.Sprintf("%s (the first of %d errors)", lines[0], len(errs)), "")
	p.Detail = fault.Tail(strings.Join(lines[1:], "\n"), fault.ShownErrors)
	return p
}

// documentObjects returns copies of the objects in a document.
func documentObjects(m *memo.Memo, d yamlstream.Document, source string) (objs []*Object, known bool, err error) {
	key := memo.Key{Kind: memo.Document, Content: d.Text}
	if v, ok := m.Get(key); ok {
		return copies(v.([]*Object)), true, nil
	}
	key.Content = strings.Clone(d.Text)
	d.Text = key.Content
	if objs, err = objectsOf(d, source); err != nil {
		return nil, false, err
	}
	m.Put(key, objs, 0)
	return copies(objs), false, nil
}

// copies returns objects that may be changed without changing the given ones.
func copies(objs []*Object) []*Object {
	values, out := make([]Object, len(objs)), make([]*Object, len(objs))
	for i, o := range objs {
		values[i], out[i] = *o, &values[i]
		values[i].Images, values[i].EnvValues = slices.Clip(o.Images), slices.Clip(o.EnvValues)
	}
	return out
}

// objectsOf reads the objects in one document.
func objectsOf(d yamlstream.Document, source string) ([]*Object, error) {
	data, err := d.JSON(source)
	if err != nil || string(data) == "null" {
		return nil, err
	}
	objs, err := parseDocument(data)
	if err != nil {
		line := d.FirstLine()
		if in := (*fieldError)(nil); errors.As(err, &in) {
			line = d.LineOf(in.path...)
		}
		return nil, errors.New(d.At(source, line) + err.Error())
	}
	if len(objs) == 1 && objs[0].JSON == string(data) {
		objs[0].yaml = strings.TrimLeft(d.Text, "\r\n")
	}
	return objs, nil
}

// typeMeta has the fields that every object has, and those that some kinds need.
type typeMeta struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      json.RawMessage `json:"items"`
	Metadata   struct {
		Name         string         `json:"name"`
		GenerateName string         `json:"generateName"`
		Namespace    string         `json:"namespace"`
		Labels       map[string]any `json:"labels"`
	} `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
	Template   json.RawMessage `json:"template"`
	Data       json.RawMessage `json:"data"`
	StringData json.RawMessage `json:"stringData"`
	BinaryData json.RawMessage `json:"binaryData"`
}

func parseDocument(data []byte) ([]*Object, error) {
	var head typeMeta
	if err := json.Unmarshal(data, &head); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) && typeErr.Field == "" {
			return nil, fmt.Errorf("want an object with apiVersion and kind, got %s", jsonKind(typeErr.Value))
		}
		if typeErr != nil {
			return nil, fmt.Errorf("%s must be %s, not %s", typeErr.Field, jsonKind(typeErr.Type.Kind().String()), jsonKind(typeErr.Value))
		}
		return nil, err
	}
	if items, ok := head.list(); ok {
		return parseList(head, items)
	}
	o, err := newObject(head, data)
	if err != nil {
		return nil, err
	}
	return []*Object{o}, nil
}

// list returns the items of a list. Only an object with items whose kind ends in List is one; the kind List needs no
// items.
func (h typeMeta) list() (items []json.RawMessage, ok bool) {
	if !strings.HasSuffix(h.Kind, "List") || json.Unmarshal(h.Items, &items) != nil && h.Items != nil {
		return nil, false
	}
	return items, h.Kind == "List" || h.Items != nil
}

// jsonKind names a kind of Go or JSON value in the terms of YAML.
func jsonKind(kind string) string {
	switch kind {
	case "map", "struct", "object":
		return "a mapping"
	case "slice", "array":
		return "a list"
	}
	return "a " + kind
}

// parseList flattens a list. Items of a typed list may leave out kind and version.
func parseList(list typeMeta, items []json.RawMessage) ([]*Object, error) {
	var out []*Object
	for i, raw := range items {
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
			return nil, fmt.Errorf("item %d of the %s is not an object", i+1, list.Kind)
		}
		if kind := strings.TrimSuffix(list.Kind, "List"); kind != "" && fields["kind"] == nil {
			fields["kind"], fields["apiVersion"] = kind, list.APIVersion
		}
		data, err := canonicalJSON(fields)
		if err != nil {
			return nil, err
		}
		objs, err := parseDocument(data)
		if err != nil {
			if in := (*fieldError)(nil); errors.As(err, &in) {
				in.path = append([]string{"items", strconv.Itoa(i)}, in.path...)
			}
			return nil, fmt.Errorf("item %d of the %s: %w", i+1, list.Kind, err)
		}
		out = append(out, objs...)
	}
	return out, nil
}

// canonicalJSON returns the form in which objects are kept: keys sorted, no blanks.
func canonicalJSON(v any) ([]byte, error) { return json.Marshal(v) }

func newObject(head typeMeta, data []byte) (*Object, error) {
	switch {
	case head.Kind == "" && head.APIVersion == "":
		return nil, errors.New("this is not a Kubernetes object: it has neither apiVersion nor kind")
	case head.Kind == "":
		return nil, errors.New("the object has no kind")
	case head.APIVersion == "":
		return nil, fmt.Errorf("the %s has no apiVersion", head.Kind)
	case head.Metadata.Name == "" && head.Metadata.GenerateName != "":
		return nil, fmt.Errorf("the %s has generateName, but needs a metadata.name so that it can be applied again", head.Kind)
	case head.Metadata.Name == "":
		return nil, fmt.Errorf("the %s has no metadata.name", head.Kind)
	}
	o := &Object{
		K8sObject: model.K8sObject{APIVersion: head.APIVersion, Kind: head.Kind, Namespace: head.Metadata.Namespace,
			Name: head.Metadata.Name, JSON: string(data)},
		labels: stringMap(head.Metadata.Labels),
	}
	switch {
	case o.Kind == "Service" && o.Group() == "":
		o.selector = serviceSelector(head.Spec)
	case o.Kind == "Secret" && o.Group() == "":
		o.Secret = secretValues(head)
		return o, checkBase64(o, "data", head.Data, "write it as it is under stringData")
	case o.Kind == "ConfigMap" && o.Group() == "":
		return o, checkBase64(o, "binaryData", head.BinaryData, "write it as it is under data")
	default:
		o.readPods(head)
	}
	return o, nil
}

func serviceSelector(spec json.RawMessage) map[string]string {
	var s struct {
		Selector map[string]any `json:"selector"`
	}
	_ = json.Unmarshal(spec, &s)
	return stringMap(s.Selector)
}

// secretValues returns the plain values of a Secret. A value that is not base64 is taken as it is.
func secretValues(head typeMeta) map[string]string {
	out := map[string]string{}
	var data, stringData map[string]any
	_, _ = json.Unmarshal(head.Data, &data), json.Unmarshal(head.StringData, &stringData)
	for k, v := range stringMap(data) {
		out[k] = v
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v)); err == nil {
			out[k] = string(plain)
		}
	}
	for k, v := range stringMap(stringData) {
		out[k] = v
	}
	return out
}

// stringMap keeps the values that are strings: the others are left for the API server to refuse.
func stringMap(m map[string]any) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// HasLabels reports whether the object has all of the labels.
func (o *Object) HasLabels(want map[string]string) bool {
	for k, v := range want {
		if got, ok := o.labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// Join returns the objects as one YAML stream.
func Join(objs []*Object) (string, error) {
	var b strings.Builder
	for i, o := range objs {
		if i > 0 {
			b.WriteString("---\n")
		}
		t, err := o.text()
		if err != nil {
			return "", err
		}
		b.WriteString(t)
		if !strings.HasSuffix(t, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String(), nil
}

// SetNamespace puts a namespace into the object's text, which must then be parsed again.
func (o *Object) SetNamespace(namespace string) error {
	fields, meta, err := o.decode()
	if err != nil {
		return err
	}
	meta["namespace"] = namespace
	text, err := yamltext.Marshal(fields)
	o.yaml, o.Namespace = string(text), namespace
	return err
}

// decode returns the object's fields, and its metadata among them.
func (o *Object) decode() (fields, meta map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(o.JSON))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, nil, err
	}
	meta, ok := fields["metadata"].(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("%s has no metadata", o.ID())
	}
	return fields, meta, nil
}

// Annotated returns the object as JSON with more annotations. Its own annotations stay unchanged.
func (o *Object) Annotated(more map[string]string) (string, error) {
	fields, meta, err := o.decode()
	if err != nil {
		return "", err
	}
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	for k, v := range more {
		if _, has := annotations[k]; !has {
			annotations[k] = v
		}
	}
	data, err := canonicalJSON(fields)
	return string(data), err
}

// clusterScoped are the built-in kinds of Kubernetes that have no namespace.
var clusterScoped = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"CustomResourceDefinition": true, "StorageClass": true, "PriorityClass": true, "RuntimeClass": true,
	"IngressClass": true, "VolumeAttachment": true, "CSIDriver": true, "CSINode": true, "APIService": true,
	"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true, "PodSecurityPolicy": true,
	"ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true, "CertificateSigningRequest": true,
}

// ClusterScoped reports whether kind is a built-in kind of Kubernetes that has no namespace.
func ClusterScoped(kind string) bool { return clusterScoped[kind] }

// ClusterScopedKinds are the built-in kinds of Kubernetes that have no namespace, sorted.
func ClusterScopedKinds() []string { return slices.Sorted(maps.Keys(clusterScoped)) }
