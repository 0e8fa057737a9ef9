package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/objects"
	"github.com/hone-dev/hone/internal/objects/condition"
	"github.com/hone-dev/hone/internal/problem"
)

// Deletion says how objects are deleted.
type Deletion struct {
	// IgnoreMissing takes objects that are not there for deleted.
	IgnoreMissing bool
	// Wait waits for the objects to be gone, for as long as Timeout.
	Wait    bool
	Timeout time.Duration
	// Short prints names only.
	Short bool
}

// Delete deletes the objects of targets. What can be deleted is, also when something else cannot.
func (w *Writer) Delete(ctx context.Context, targets []objects.Target, d Deletion) error {
	var errs []error
	any := false
	for _, t := range targets {
		names, err := w.names(ctx, t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range names {
			any = true
			if err := w.deleteOne(ctx, t.Kind, name, d); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if !any && errs == nil && !d.Short {
		fmt.Fprintln(w.Out, "No resources found")
	}
	return errors.Join(errs...)
}

func (w *Writer) names(ctx context.Context, t objects.Target) ([]string, error) {
	if t.Named() {
		return t.Names, nil
	}
	found, err := w.Session.Fetch(ctx, t, objects.Whole)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, u := range found.Objects {
		names = append(names, u.GetName())
	}
	return names, nil
}

func (w *Writer) deleteOne(ctx context.Context, k objects.Kind, name string, d Deletion) error {
	if !k.Can("delete") {
		return readOnly(k)
	}
	was, err := w.Session.Get(ctx, k, name)
	if apierrors.IsNotFound(err) && d.IgnoreMissing {
		return nil
	}
	if err != nil {
		return err
	}
	if w.DryRun != DryRunClient {
		uid := was.GetUID()
		err := w.Session.Of(k).Delete(ctx, name, metav1.DeleteOptions{DryRun: w.DryRun.all(), Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) {
			return objects.Explain(err)
		}
	}
	if d.Wait && w.DryRun == DryRunNone {
		if err := w.gone(ctx, k, was, d.Timeout); err != nil {
			return err
		}
	}
	if d.Short {
		_, err := fmt.Fprintln(w.Out, k.Ref(name))
		return err
	}
	return w.say(k, name, "deleted")
}

// gone waits until an object is no longer there.
func (w *Writer) gone(ctx context.Context, k objects.Kind, was *unstructured.Unstructured, timeout time.Duration) error {
	c, err := condition.Parse("delete")
	if err != nil {
		return err
	}
	wait := condition.Wait{Session: w.Session, For: c, Timeout: timeout, Object: was.GetUID(),
		Met: func(objects.Kind, string, *unstructured.Unstructured) error { return nil }}
	err = wait.Run(ctx, []objects.Target{{Kind: k, Names: []string{was.GetName()}}})
	if p, ok := problem.Of(err); ok && ctx.Err() == nil {
		return problem.New(fmt.Sprintf("%s is being deleted, and is still there after %s", k.Ref(was.GetName()), timeout),
			p.Mend)
	}
	return err
}
