package rest

import (
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// options are the options of a list or watch request.
type options struct {
	metav1.ListOptions
	selector
}

// parse reads the options of a list or a watch from a query.
func parse(query url.Values) (o options, err error) {
	if err := metav1.Convert_url_Values_To_v1_ListOptions(&query, &o.ListOptions, nil); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	if o.labels, err = labels.Parse(o.LabelSelector); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	if o.fields, err = fields.ParseSelector(o.FieldSelector); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	for _, r := range o.fields.Requirements() {
		if r.Field != "metadata.name" && r.Field != "metadata.namespace" {
			return o, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	if o.Limit < 0 {
		return o, apierrors.NewBadRequest("limit must not be negative")
	}
	return o, nil
}

// selector selects objects.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

// everything reports whether all objects are selected.
func (s selector) everything() bool { return s.labels.Empty() && s.fields.Empty() }

// matches reports whether an item, which may be nil, is selected. It creates the object only if labels matter.
func (s selector) matches(o objects, it *item) bool {
	if it == nil || !s.fields.Empty() && !s.fields.Matches(fields.Set{"metadata.name": it.Name, "metadata.namespace": ""}) {
		return false
	}
	return s.labels.Empty() || s.labels.Matches(labels.Set(o.make(it).GetLabels()))
}
