// Package description prints the details of an object of a session: its fields in the session's order, its conditions as a
// table, and the events of the resource that it belongs to.
package description

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/client/objects"
)

// Describer describes objects of a session.
type Describer struct {
	Client *objects.Client
	Out    io.Writer
	// Events adds the events of the resource.
	Events bool
	// Now is the time that ages are relative to.
	Now time.Time

	any bool
}

// Describe describes the objects of a target: the objects with its names, else the objects whose names have them as a prefix,
// else all objects that the selectors match.
func (d *Describer) Describe(ctx context.Context, t objects.Target) error {
	if !t.Named() {
		return d.all(ctx, t)
	}
	var errs []error
	for _, name := range t.Names {
		err := d.one(ctx, t.Kind, name)
		if err != nil && errors.As(err, new(objects.Missing)) {
			err = d.prefix(ctx, t.Kind, name, err)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Any reports whether there was anything to describe.
func (d *Describer) Any() bool { return d.any }

func (d *Describer) all(ctx context.Context, t objects.Target) error {
	found, err := d.Client.Fetch(ctx, t, objects.Whole)
	if err != nil {
		return err
	}
	for _, u := range found.Objects {
		if err := d.one(ctx, t.Kind, u.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// prefix describes the objects whose names begin with a prefix, if there are any.
func (d *Describer) prefix(ctx context.Context, k objects.Kind, prefix string, missing error) error {
	names, err := d.Client.Names(ctx, objects.Target{Kind: k})
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) })
	if len(names) == 0 {
		return missing
	}
	for _, n := range names {
		if err := d.one(ctx, k, n); err != nil {
			return err
		}
	}
	return nil
}

func (d *Describer) one(ctx context.Context, k objects.Kind, name string) error {
	doc, err := d.Client.Document(ctx, k, name)
	if err != nil {
		return err
	}
	f, err := parse(doc)
	if err != nil {
		return err
	}
	if d.any {
		fmt.Fprint(d.Out, "\n\n")
	}
	d.any = true
	w := newWriter(d.Out, d.Now)
	w.head(f)
	w.section(slices.DeleteFunc(slices.Clone(f), func(x field) bool {
		return slices.Contains([]string{"kind", "apiVersion", "metadata", "status"}, x.name)
	}), 0)
	w.status(f.get("status"))
	if k.Singular == "uiresource" {
		d.buttons(ctx, w, name)
	}
	if d.Events {
		d.events(ctx, w, resourceOf(k, f))
	}
	return w.out.Flush()
}

// head writes the identity of the object.
func (w *writer) head(f fields) {
	m := f.sub("metadata")
	w.section(fields{
		{"name", m.get("name")}, {"kind", f.get("kind")}, {"APIVersion", f.get("apiVersion")},
		{"labels", pairs(m.sub("labels"))}, {"annotations", pairs(m.sub("annotations"))},
		{"created", m.get("creationTimestamp")}, {"deleted", m.get("deletionTimestamp")}, {"finalizers", m.get("finalizers")},
		{"ownerReferences", m.get("ownerReferences")},
	}, 0)
}

// pairs renders labels and annotations, without the annotation of apply.
func pairs(f fields) value {
	var out []string
	for _, x := range f {
		if !strings.HasSuffix(x.name, "/last-applied-configuration") {
			out = append(out, fmt.Sprintf("%s=%v", x.name, x.v))
		}
	}
	return strings.Join(out, "\n")
}

// status writes the status, with the conditions as a table.
func (w *writer) status(v value) {
	f, ok := v.(fields)
	if !ok || empty(v) {
		return
	}
	conditions, _ := f.get("conditions").([]value)
	rest := slices.DeleteFunc(slices.Clone(f), func(x field) bool { return x.name == "conditions" })
	fmt.Fprintln(w.out, "Status:")
	w.section(rest, 1)
	if len(conditions) == 0 {
		return
	}
	fmt.Fprintln(w.out, "Conditions:")
	t := printers.GetNewTabWriter(w.out)
	fmt.Fprintln(t, "  TYPE\tSTATUS\tSINCE\tREASON\tMESSAGE")
	for _, c := range conditions {
		c, _ := c.(fields)
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", c.text("type"), c.text("status"), w.age(c.text("lastTransitionTime")), dash(c.text("reason")), dash(c.text("message")))
	}
	_ = t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
