package output

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

// watching is one target that is shown as it changes. It belongs to one goroutine.
type watching struct {
	flags   *Flags
	look    Look
	client  *objects.Client
	target  objects.Target
	names   []string // limits the shown objects if not nil
	tables  *Tables
	printer printers.ResourcePrinter
	// shown are the last printed rows of the objects, by name.
	shown map[string]row
}

// row is the last printed row of an object.
type row struct {
	version string
	cells   *metav1.TableRow
	object  *unstructured.Unstructured
}

// watch prints the objects of targets, and their changes, until ctx is done or the session ends.
func (f *Flags) watch(ctx context.Context, s *objects.Client, targets []objects.Target, look Look) error {
	if len(targets) != 1 {
		return problem.New("only one kind can be watched at a time", "run hone get --watch once for each, or leave out --watch")
	}
	if f.Table.SortBy != "" {
		return problem.New("--watch cannot be combined with --sort-by", "leave out either --sort-by or --watch")
	}
	w := &watching{flags: f, look: look, client: s, target: targets[0], names: targets[0].Names, shown: map[string]row{}}
	if f.IsTable() {
		w.tables = f.NewTables(look.Out, false)
	} else {
		var err error
		if w.printer, err = f.Printer(); err != nil {
			return err
		}
	}
	return w.run(ctx)
}

func (w *watching) run(ctx context.Context) error {
	if !w.look.IgnoreMissing && w.names != nil {
		if _, err := w.client.Fetch(ctx, w.target, objects.Rows); err != nil {
			return err
		}
	}
	// Changes are followed from the version of a list, not from the version of an object, which may be old.
	if w.target.Names = nil; len(w.names) == 1 {
		w.target.Fields = fields.OneTermEqualSelector("metadata.name", w.names[0]).String()
	}
	for silent := w.look.Only; ; silent = false {
		found, err := w.client.Fetch(ctx, w.target, w.flags.form())
		if err != nil {
			return err
		}
		if err := w.catchUp(found, silent); err != nil {
			return err
		}
		for e, err := range w.client.Watch(ctx, w.target, found.Version, w.flags.form()) {
			if errors.Is(err, objects.ErrBehind) {
				break
			}
			if err != nil {
				return objects.Over(err)
			}
			if err := w.show(e); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// catchUp prints the differences from the last printed rows.
func (w *watching) catchUp(f objects.Found, silent bool) error {
	gone := w.shown
	w.shown = map[string]row{}
	var fresh []objects.Event
	for _, e := range events(f) {
		name, version := e.Name()
		was, known := gone[name]
		delete(gone, name)
		if known {
			e.Type = watch.Modified
		}
		if !w.wanted(name) {
			continue
		}
		w.shown[name] = remember(e, version)
		if was.version != version && !silent {
			fresh = append(fresh, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		fresh = append(fresh, gone[name].event(watch.Deleted))
	}
	return w.printMany(fresh)
}

// printMany prints changes. Without a column for events, it prints them as one table, so that the columns line up.
func (w *watching) printMany(all []objects.Event) error {
	if w.tables == nil || w.flags.Table.Events || len(all) == 0 {
		for _, e := range all {
			if err := w.print(e); err != nil {
				return err
			}
		}
		return nil
	}
	table := all[0].Table.DeepCopy()
	for _, e := range all[1:] {
		table.Rows = append(table.Rows, e.Table.Rows...)
	}
	return w.tables.Print(w.target.Kind, table)
}

// events returns an event for each object.
func events(f objects.Found) (out []objects.Event) {
	for i := range f.Objects {
		out = append(out, objects.Event{Type: watch.Added, Object: &f.Objects[i]})
	}
	if f.Table == nil {
		return out
	}
	for _, r := range f.Table.Rows {
		out = append(out, objects.Event{Type: watch.Added, Table: &metav1.Table{ColumnDefinitions: f.Table.ColumnDefinitions, Rows: []metav1.TableRow{r}}})
	}
	return out
}

func remember(e objects.Event, version string) row {
	r := row{version: version, object: e.Object}
	if e.Table != nil {
		r.cells = e.Table.Rows[0].DeepCopy() // printing changes it
	}
	return r
}

func (r row) event(what watch.EventType) objects.Event {
	e := objects.Event{Type: what, Object: r.object}
	if r.cells != nil {
		e.Table = &metav1.Table{Rows: []metav1.TableRow{*r.cells}}
	}
	return e
}

func (w *watching) wanted(name string) bool { return w.names == nil || slices.Contains(w.names, name) }

// show prints a change, if its object is wanted.
func (w *watching) show(e objects.Event) error {
	name, version := e.Name()
	if !w.wanted(name) {
		return nil
	}
	if e.Type == watch.Deleted {
		delete(w.shown, name)
	} else {
		w.shown[name] = remember(e, version)
	}
	return w.print(e)
}

func (w *watching) print(e objects.Event) error {
	if w.tables != nil {
		return w.tables.PrintEvent(w.target.Kind, e.Type, e.Table)
	}
	if w.flags.Table.Events && w.flags.Output != "name" {
		return printed(w.printer.PrintObj(&unstructured.Unstructured{Object: map[string]any{"type": string(e.Type), "object": e.Object.Object,
			"apiVersion": "v1", "kind": "WatchEvent"}}, w.look.Out))
	}
	return printed(w.printer.PrintObj(e.Object, w.look.Out))
}
