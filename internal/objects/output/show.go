package output

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/objects"
)

// Look says how somebody looks at objects.
type Look struct {
	// Watch goes on to show what changes; Only shows nothing but that.
	Watch, Only bool
	// IgnoreMissing takes named objects that are not there for nothing wrong.
	IgnoreMissing bool
	// Out is where objects are printed, Notes where it is said that there are none.
	Out, Notes io.Writer
}

// Show prints the objects of targets, and goes on to print what changes if asked to. What is there is printed also when
// something else is missing.
func (f *Flags) Show(ctx context.Context, s *objects.Session, targets []objects.Target, look Look) error {
	if look.Watch || look.Only {
		return f.watch(ctx, s, targets, look)
	}
	if f.IsTable() {
		return f.showTables(ctx, s, targets, look)
	}
	return f.showObjects(ctx, s, targets, look)
}

// form is what tables are fetched as.
func (f *Flags) form() objects.Form {
	switch {
	case !f.IsTable():
		return objects.Whole
	case f.Table.SortBy != "":
		return objects.WholeRows
	}
	return objects.Rows
}

func (f *Flags) showTables(ctx context.Context, s *objects.Session, targets []objects.Target, look Look) error {
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

func (f *Flags) showObjects(ctx context.Context, s *objects.Session, targets []objects.Target, look Look) error {
	p, err := f.Printer()
	if err != nil {
		return err
	}
	list := newList()
	var errs []error
	for _, t := range targets {
		found, err := s.Fetch(ctx, t, objects.Whole)
		if err = look.forgive(err); err != nil {
			errs = append(errs, err)
		}
		if err := f.Sort(&found); err != nil {
			return err
		}
		list.Items = append(list.Items, found.Objects...)
	}
	single := len(targets) == 1 && len(targets[0].Names) == 1
	if single && len(list.Items) == 0 {
		return errors.Join(errs...)
	}
	if err := printAll(p, list, single, look.Out); err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(errs...)
}

// newList returns an empty list of objects of any kinds.
func newList() *unstructured.UnstructuredList {
	return &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}},
		Items: []unstructured.Unstructured{}}
}

func printAll(p printers.ResourcePrinter, list *unstructured.UnstructuredList, single bool, out io.Writer) error {
	if single {
		return printed(p.PrintObj(&list.Items[0], out))
	}
	return printed(p.PrintObj(list, out))
}

func printed(err error) error {
	if err != nil {
		return fmt.Errorf("print the objects: %w", err)
	}
	return nil
}

// forgive takes out of an error what is missing, if that is fine.
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
