package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
)

// pause is the time between two requests that follow the same objects.
const pause = 50 * time.Millisecond

// Event is a change of one object.
type Event struct {
	Type watch.EventType
	// Object is the object, or Table holds its row; the form determines which is set. Only the first row has the columns.
	Object *unstructured.Unstructured
	Table  *metav1.Table
}

// Name returns the name of the changed object and its resource version.
func (e Event) Name() (name, version string) {
	switch {
	case e.Object != nil:
		return e.Object.GetName(), e.Object.GetResourceVersion()
	case len(e.Table.Rows) > 0 && e.Table.Rows[0].Object.Object != nil:
		u := e.Table.Rows[0].Object.Object.(*unstructured.Unstructured)
		return u.GetName(), u.GetResourceVersion()
	}
	return "", e.Table.ResourceVersion
}

// ErrBehind means that the session no longer has the changes since the given version: start over.
var ErrBehind = errors.New("too far behind to follow")

// Watch yields the changes of a target after a resource version, until ctx is done, which is not an error, or until the
// session ends. A named target must have the name of only one object. The version "" begins with all existing objects.
func (s *Client) Watch(ctx context.Context, t Target, from string, form Form) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ctx.Err() == nil {
			last, more, err := s.stream(ctx, t, from, form, yield)
			from = last
			switch {
			case ctx.Err() != nil || !more:
				return
			case err != nil:
				yield(Event{}, err)
				return
			}
			retry.Sleep(ctx, pause) // in case the session ends each request at once
		}
	}
}

// stream yields changes for as long as one request lasts. It returns the last version that it has received, and whether the
// caller wants more changes.
func (s *Client) stream(ctx context.Context, t Target, from string, form Form, yield func(Event, error) bool) (last string, more bool, err error) {
	body, err := s.openStream(ctx, t, from, form)
	if err != nil {
		return from, true, behind(Explain(err))
	}
	defer body.Close()
	decoder := json.NewDecoder(body)
	last = from
	for {
		var line struct {
			Type   watch.EventType `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if decoder.Decode(&line) != nil { // the request is over; the next one returns the reason
			return last, true, nil
		}
		e, version, err := decodeEvent(line.Type, line.Object, form)
		if err != nil {
			return last, true, behind(err)
		}
		if version != "" {
			last = version
		}
		if e.Type != watch.Bookmark && !yield(e, nil) {
			return last, false, nil
		}
	}
}

func (s *Client) openStream(ctx context.Context, t Target, from string, form Form) (io.ReadCloser, error) {
	r := s.rest.Get().AbsPath("apis", t.Kind.GVR.Group, t.Kind.GVR.Version, t.Kind.GVR.Resource).
		Param("watch", "true").Param("allowWatchBookmarks", "true")
	if form != Whole {
		r.SetHeader("Accept", tableMedia)
	}
	if form == WholeRows {
		r.Param("includeObject", string(metav1.IncludeObject))
	}
	if from != "" {
		r.Param("resourceVersion", from)
	}
	if t.Labels != "" {
		r.Param("labelSelector", t.Labels)
	}
	switch selector := t.Fields; {
	case t.Named():
		r.Param("fieldSelector", fields.OneTermEqualSelector("metadata.name", t.Names[0]).String())
	case selector != "":
		r.Param("fieldSelector", selector)
	}
	return r.Stream(ctx)
}

func decodeEvent(what watch.EventType, doc []byte, form Form) (e Event, version string, err error) {
	e.Type = what
	switch {
	case what == watch.Error:
		status := &metav1.Status{}
		if err := json.Unmarshal(doc, status); err != nil {
			return e, "", fmt.Errorf("read a change: %w", err)
		}
		return e, "", apierrors.FromObject(status)
	case form == Whole:
		e.Object = &unstructured.Unstructured{}
		if err := e.Object.UnmarshalJSON(doc); err != nil {
			return e, "", fmt.Errorf("read a change: %w", err)
		}
		return e, e.Object.GetResourceVersion(), nil
	}
	if e.Table, err = decodeTable(doc); err != nil {
		return e, "", err
	}
	return e, e.Table.ResourceVersion, nil
}

// behind turns the session's error that a version is too old into ErrBehind.
func behind(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return ErrBehind
	}
	return err
}

// Over returns the problem that the followed session has ended.
func Over(err error) error {
	p, ok := problem.Of(err)
	if !ok {
		return err
	}
	return problem.Wrap(p, "the session is over", "")
}
