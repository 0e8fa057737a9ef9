package rest

import (
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/store"
)

// tabulator converts objects to rows of a table.
type tabulator struct {
	objects
	columns []projection.Column
	now     time.Time
	include metav1.IncludeObjectPolicy
}

// tabulator returns the tabulator for a request. It fails if the request has an unknown option.
func (h *Handler) tabulator(a *answer, k *kind, v store.View) (tabulator, error) {
	t := tabulator{h.objects(k, v), k.ColumnsIn(v), h.now(), metav1.IncludeObjectPolicy(a.r.URL.Query().Get("includeObject"))}
	switch t.include {
	case "":
		t.include = metav1.IncludeMetadata
	case metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
	default:
		return t, apierrors.NewBadRequest(fmt.Sprintf("unrecognized includeObject value: %q", t.include))
	}
	return t, nil
}

// table makes a table of a list.
func (h *Handler) table(a *answer, k *kind, v store.View, p page) ([]byte, error) {
	t, err := h.tabulator(a, k, v)
	if err != nil {
		return nil, err
	}
	table := t.head(a.version)
	table.ListMeta = p.ListMeta
	table.Rows = make([]metav1.TableRow, len(p.items))
	for i, it := range p.items {
		if table.Rows[i], err = t.row(t.make(it)); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	t.types(table)
	doc, err := json.Marshal(table)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return h.store.Redactor(v).JSON(doc), nil
}

// sendObject responds with an object, which need not exist (yet).
func (h *Handler) sendObject(a *answer, code int, k *kind, v store.View, obj projection.Object) {
	var doc []byte
	var err error
	if a.as == "Table" {
		var t tabulator
		if t, err = h.tabulator(a, k, v); err == nil {
			doc, err = t.single(obj, a.version, true)
		}
	} else {
		doc, err = h.objects(k, v).encode(obj, a.format)
	}
	if err != nil {
		a.fail(err)
		return
	}
	a.send(code, append(h.store.Redactor(v).JSON(doc), '\n'))
}

// single returns a table of one object.
func (t tabulator) single(obj projection.Object, version string, columns bool) ([]byte, error) {
	table := t.head(version)
	table.ResourceVersion = obj.GetResourceVersion()
	row, err := t.row(obj)
	if err != nil {
		return nil, err
	}
	table.Rows = []metav1.TableRow{row}
	t.types(table)
	if !columns {
		table.ColumnDefinitions = nil
	}
	return json.Marshal(table)
}

func (t tabulator) head(version string) *metav1.Table {
	table := &metav1.Table{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/" + version, Kind: "Table"}}
	table.ColumnDefinitions = append(table.ColumnDefinitions,
		metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: "The name of the object."})
	for _, c := range t.columns {
		d := metav1.TableColumnDefinition{Name: c.Name, Type: "string", Description: c.Doc}
		if c.Wide {
			d.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, d)
	}
	return table
}

// types sets the column types in the header from the cells of the first row.
func (t tabulator) types(table *metav1.Table) {
	if len(table.Rows) == 0 {
		return
	}
	for i, cell := range table.Rows[0].Cells {
		switch cell.(type) {
		case bool:
			table.ColumnDefinitions[i].Type = "boolean"
		case int64:
			table.ColumnDefinitions[i].Type = "integer"
		case float64:
			table.ColumnDefinitions[i].Type = "number"
		}
	}
}

func (t tabulator) row(obj projection.Object) (metav1.TableRow, error) {
	row := metav1.TableRow{Cells: []any{obj.GetName()}}
	for _, c := range t.columns {
		row.Cells = append(row.Cells, t.cell(c.Value(obj)))
	}
	var shown any
	switch t.include {
	case metav1.IncludeObject:
		shown = obj
	case metav1.IncludeMetadata:
		shown = partial(obj)
	default:
		return row, nil
	}
	raw, err := json.Marshal(shown)
	row.Object = runtime.RawExtension{Raw: raw}
	return row, err
}

// cell returns a value as clients print it.
func (t tabulator) cell(v any) any {
	switch x := v.(type) {
	case nil:
		return ""
	case string, bool, int64, float64:
		return x
	case int:
		return int64(x)
	case int32:
		return int64(x)
	case uint64:
		return int64(x)
	case metav1.Time:
		return t.age(x.Time)
	case *metav1.Time:
		if x == nil {
			return t.age(time.Time{})
		}
		return t.age(x.Time)
	case metav1.MicroTime:
		return t.age(x.Time)
	case time.Time:
		return t.age(x)
	}
	return fmt.Sprint(v)
}

func (t tabulator) age(at time.Time) string {
	if at.IsZero() {
		return "<none>"
	}
	return duration.HumanDuration(t.now.Sub(at))
}
