package output

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/client/objects"
)

// Look configures how objects are shown.
type Look struct {
	// Watch also shows each later change; Only shows only the changes.
	Watch, Only bool
	// IgnoreMissing accepts that named objects are missing.
	IgnoreMissing bool
	// Out receives the objects, and Notes receives messages about missing objects.
	Out, Notes io.Writer
}

// Show prints the objects of targets and then, if requested, each change. Existing objects are printed even if others are
// missing.
func (f *Flags) Show(ctx context.Context, s *objects.Client, targets []objects.Target, look Look) error {
	if look.Watch || look.Only {
		return f.watch(ctx, s, targets, look)
	}
	if f.IsTable() {
		return f.showTables(ctx, s, targets, look)
	}
	return f.showObjects(ctx, s, targets, look)
}

// form returns the form in which tables are fetched.
func (f *Flags) form() objects.Form {
	switch {
	case !f.IsTable():
		return objects.Whole
	case f.Table.SortBy != "":
		return objects.WholeRows
	}
	return objects.Rows
}

// objectForm returns the form in which to fetch objects that are printed once: only the parts that the format shows, or the whole
// objects if sorting needs other fields.
func (f *Flags) objectForm() objects.Form {
	switch {
	case f.Table.SortBy != "":
		return objects.Whole
	case f.Output == "json":
		return objects.Text
	case f.Output == "name":
		return objects.Heads
	}
	return objects.Whole
}

func (f *Flags) showTables(ctx context.Context, s *objects.Client, targets []objects.Target, look Look) error {
	tables := f.NewTables(look.Out, len(targets) > 1)
	var errs []error
	for _, t := range targets {
		found, err := s.Fetch(ctx, t, f.form())
		if err = look.forgive(err); err != nil {
			errs = append(errs, err)
		}
		if found.Table == nil {
			continue
		}
		if err := f.Sort(&found); err != nil {
			return err
		}
		if err := tables.Print(t.Kind, found.Table); err != nil {
			return err
		}
	}
	if errs == nil && !tables.Any() && !look.IgnoreMissing {
		fmt.Fprintln(look.Notes, "No resources found")
	}
	return errors.Join(errs...)
}

func (f *Flags) showObjects(ctx context.Context, s *objects.Client, targets []objects.Target, look Look) error {
	p, err := f.Printer()
	if err != nil {
		return err
	}
	form := f.objectForm()
	var all objects.Found
	var errs []error
	for _, t := range targets {
		found, err := s.Fetch(ctx, t, form)
		if err = look.forgive(err); err != nil {
			errs = append(errs, err)
		}
		if err := f.Sort(&found); err != nil {
			return err
		}
		all.Objects, all.Documents = append(all.Objects, found.Objects...), append(all.Documents, found.Documents...)
	}
	single := len(targets) == 1 && len(targets[0].Names) == 1
	if single && len(all.Objects)+len(all.Documents) == 0 {
		return errors.Join(errs...)
	}
	if err := printAll(p, all, single, look.Out); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(errs...)
}

// newList returns an empty list of objects of any kinds.
func newList() *unstructured.UnstructuredList {
	return &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}},
		Items: []unstructured.Unstructured{}}
}

// printAll prints objects, or documents as JSON: a single object on its own, several in a list.
func printAll(p printers.ResourcePrinter, all objects.Found, single bool, out io.Writer) error {
	if all.Documents != nil {
		text, ok := format(all.Documents, single)
		if ok {
			_, err := out.Write(text)
			return printed(err)
		}
		if err := all.Decode(); err != nil {
			return printed(err)
		}
	}
	if single {
		return printed(p.PrintObj(&all.Objects[0], out))
	}
	list := newList()
	list.Items = append(list.Items, all.Objects...)
	return printed(p.PrintObj(list, out))
}

func printed(err error) error {
	if err != nil {
		return fmt.Errorf("print the objects: %w", err)
	}
	return nil
}

// forgive removes missing objects from an error, if they are allowed to be missing.
func (l Look) forgive(err error) error {
	if err == nil || !l.IgnoreMissing {
		return err
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok && !errors.As(err, new(apierrors.APIStatus)) {
		var rest []error
		for _, e := range many.Unwrap() {
			rest = append(rest, l.forgive(e))
		}
		return errors.Join(rest...)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
