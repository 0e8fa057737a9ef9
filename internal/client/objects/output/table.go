package output

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/liggitt/tabwriter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

// tabbed returns a writer that aligns columns, also with the columns of lines that were flushed earlier.
func tabbed(w io.Writer) *tabwriter.Writer {
	if t, ok := w.(*tabwriter.Writer); ok {
		return t
	}
	return printers.GetNewTabWriter(w)
}

// Tables prints tables, one kind after another.
type Tables struct {
	flags   *Flags
	w       *tabwriter.Writer
	current objects.Kind
	printer printers.ResourcePrinter
	// prefix shows the kind before each name.
	prefix bool
	any    bool
}

// NewTables returns a printer of tables. If there are several kinds, names are shown with their kinds.
func (f *Flags) NewTables(w io.Writer, several bool) *Tables {
	return &Tables{flags: f, w: printers.GetNewTabWriter(w), prefix: several || f.Table.ShowKind}
}

// Print prints rows of one kind. It prints the headers before the first rows of the kind.
func (t *Tables) Print(k objects.Kind, table *metav1.Table) error {
	if len(table.Rows) == 0 {
		return nil
	}
	t.begin(k)
	t.any = true
	if err := t.printer.PrintObj(table, t.w); err != nil {
		return fmt.Errorf("print %s: %w", k, err)
	}
	return t.w.Flush()
}

// Any reports whether there was anything to print.
func (t *Tables) Any() bool { return t.any }

// PrintEvent prints a row that was added, modified or deleted.
func (t *Tables) PrintEvent(k objects.Kind, what watch.EventType, table *metav1.Table) error {
	if !t.flags.Table.Events {
		return t.Print(k, table)
	}
	t.begin(k)
	t.any = true
	if err := t.printer.PrintObj(&metav1.WatchEvent{Type: string(what), Object: runtime.RawExtension{Object: table}}, t.w); err != nil {
		return fmt.Errorf("print %s: %w", k, err)
	}
	return t.w.Flush()
}

// begin creates the printer for a kind, and prints an empty line after the previous kind.
func (t *Tables) begin(k objects.Kind) {
	if t.printer != nil && t.current.GVR == k.GVR {
		return
	}
	if t.any && !t.flags.Table.NoHeaders {
		fmt.Fprintln(t.w)
	}
	t.current = k
	f := t.flags.Table
	t.printer = printers.NewTablePrinter(printers.PrintOptions{NoHeaders: f.NoHeaders, WithKind: t.prefix, Kind: k.GVK().GroupKind(),
		Wide: t.flags.Output == "wide", ShowLabels: f.ShowLabels, ColumnLabels: f.LabelColumns})
}

// Sort sorts rows, whose objects must be whole, or objects by the requested field.
func (f *Flags) Sort(found *objects.Found) error {
	if f.Table.SortBy == "" {
		return nil
	}
	path, err := ParsePath(f.Table.SortBy)
	if err != nil {
		return problem.Wrap(err, "cannot sort", "for example: --sort-by={.metadata.creationTimestamp}")
	}
	value := func(u *unstructured.Unstructured) any {
		values, err := path.FindResults(u.Object)
		if err != nil {
			return nil
		}
		if first := slices.Concat(values...); len(first) > 0 && first[0].CanInterface() {
			return first[0].Interface()
		}
		return nil
	}
	any := false
	if found.Table != nil {
		slices.SortStableFunc(found.Table.Rows, func(a, b metav1.TableRow) int {
			x, y := value(a.Object.Object.(*unstructured.Unstructured)), value(b.Object.Object.(*unstructured.Unstructured))
			any = any || x != nil || y != nil
			return compare(x, y)
		})
		any = any || len(found.Table.Rows) < 2
	}
	slices.SortStableFunc(found.Objects, func(a, b unstructured.Unstructured) int {
		x, y := value(&a), value(&b)
		any = any || x != nil || y != nil
		return compare(x, y)
	})
	if !any && (len(found.Objects) > 1 || found.Table != nil) {
		return problem.New(fmt.Sprintf("none of the objects has %s to sort by", f.Table.SortBy), "hone explain "+found.Kind.GVR.Resource+" --recursive lists the fields")
	}
	return nil
}

// compare orders JSON values: missing values first, then by type, then by value.
func compare(a, b any) int {
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return cmp.Compare(x, y)
		}
	}
	if x, y := rank(a), rank(b); x != y {
		return cmp.Compare(x, y)
	}
	switch x := a.(type) {
	case nil:
		return 0
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		if x == b.(bool) {
			return 0
		} else if x {
			return 1
		}
		return -1
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func number(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

func rank(v any) int {
	if v == nil {
		return 0
	}
	switch reflect.TypeOf(v).Kind() {
	case reflect.Bool:
		return 1
	case reflect.Int64, reflect.Float64:
		return 2
	case reflect.String:
		return 3
	}
	return 4
}
