package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/condition"
)

// Deletion configures how objects are deleted.
type Deletion struct {
	// IgnoreMissing treats missing objects as deleted.
	IgnoreMissing bool
	// Wait waits for the objects to be gone, for as long as Timeout.
	Wait    bool
	Timeout time.Duration
	// Short prints names only.
	Short bool
	// Confirm is called with the objects before anything is deleted; nil for no confirmation.
	Confirm func(refs []string) (bool, error)
	// done is the word that is printed for deleted objects.
	done string
}

// doomed is an object that will be deleted.
type doomed struct {
	kind objects.Kind
	name string
}

// Delete deletes the objects of targets. An object that cannot be deleted does not prevent the deletion of the others.
func (w *Writer) Delete(ctx context.Context, targets []objects.Target, d Deletion) error {
	d.done = "deleted"
	var errs []error
	var all []doomed
	var refs []string
	for _, t := range targets {
		names, err := w.Client.Names(ctx, t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range names {
			all, refs = append(all, doomed{t.Kind, name}), append(refs, t.Kind.Ref(name))
		}
	}
	if len(all) > 0 && d.Confirm != nil {
		if yes, err := d.Confirm(refs); !yes {
			return errors.Join(append(errs, err)...)
		}
	}
	for _, x := range all {
		if err := w.deleteOne(ctx, x.kind, x.name, d); err != nil {
			errs = append(errs, err)
		}
	}
	silent := d.Short || w.printer != nil
	if len(all) == 0 && errs == nil && !silent {
		fmt.Fprintln(w.Out, "No resources found")
	}
	return errors.Join(errs...)
}

// Pruning configures which objects apply deletes that are no longer in the files.
type Pruning struct {
	// Labels limit the objects; empty means all.
	Labels string
	// Kinds are the kinds of the objects; nil for all kinds that can be deleted.
	Kinds []objects.Kind
	Deletion
}

// Prune deletes objects that apply created and that are not among the targets.
func (w *Writer) Prune(ctx context.Context, targets []objects.Target, p Pruning) error {
	kept := map[string]bool{}
	for _, t := range targets {
		for _, name := range t.Names {
			kept[t.Kind.Ref(name)] = true
		}
	}
	if p.Kinds == nil {
		for _, k := range w.Client.Kinds() {
			if k.Can("delete") {
				p.Kinds = append(p.Kinds, k)
			}
		}
	}
	p.done, p.IgnoreMissing = "pruned", true
	var errs []error
	for _, k := range p.Kinds {
		found, err := w.Client.Fetch(ctx, objects.Target{Kind: k, Labels: p.Labels}, objects.Heads)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, u := range found.Objects {
			if u.GetAnnotations()[lastApplied] == "" || kept[k.Ref(u.GetName())] {
				continue
			}
			if err := w.deleteOne(ctx, k, u.GetName(), p.Deletion); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// DeleteAt requests the deletion of the object at a path, and prints the session's response.
func (w *Writer) DeleteAt(ctx context.Context, path string) error {
	doc, err := w.Client.DeleteRaw(ctx, path)
	if err != nil {
		return err
	}
	_, err = w.Out.Write(doc)
	return err
}

func (w *Writer) deleteOne(ctx context.Context, k objects.Kind, name string, d Deletion) error {
	if !k.Can("delete") {
		return readOnly(k)
	}
	was, err := w.Client.Get(ctx, k, name)
	if apierrors.IsNotFound(err) && d.IgnoreMissing {
		return nil
	}
	if err != nil {
		return err
	}
	if w.DryRun != DryRunClient {
		uid := was.GetUID()
		err := w.Client.Delete(ctx, k, name, metav1.DeleteOptions{DryRun: w.DryRun.all(), Preconditions: &metav1.Preconditions{UID: &uid}})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
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
	if w.printer != nil {
		if err := w.printer.PrintObj(was, w.Out); err != nil {
			return fmt.Errorf("print the object: %w", err)
		}
		return nil
	}
	return w.say(k, name, d.done)
}

// gone waits until an object no longer exists.
func (w *Writer) gone(ctx context.Context, k objects.Kind, was *unstructured.Unstructured, timeout time.Duration) error {
	c, err := condition.Parse("delete")
	if err != nil {
		return err
	}
	wait := condition.Wait{Client: w.Client, For: c, Timeout: timeout, Object: was.GetUID(),
		Met: func(objects.Kind, string, *unstructured.Unstructured) error { return nil }}
	err = wait.Run(ctx, []objects.Target{{Kind: k, Names: []string{was.GetName()}}})
	if p, ok := problem.Of(err); ok && ctx.Err() == nil {
		return problem.New(fmt.Sprintf("%s is being deleted, and is still there after %s", k.Ref(was.GetName()), timeout),
			p.Mend)
	}
	return err
}
