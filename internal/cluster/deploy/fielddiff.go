package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// fieldDiff lists how an apply would change an object. It compares the object in the cluster with the one that the API server
// would store, and uses the declared one only to explain the differences. So both sides have the API server's defaults, foreign
// fields and order of lists.
type fieldDiff struct {
	owners  []owner
	applied bool // the declaration is the one that was applied last
	known   bool // the declaration that was applied last is known
	secret  bool
	out     []api.FieldChange
}

// owner is a field manager of an object.
type owner struct {
	name   string
	at     time.Time
	mine   bool
	fields *fieldpath.Set
	// all means that it owns every field.
	all bool
}

// changedFields returns the fields in which live and merged differ, by path. desired is the object to apply, as the field manager mine,
// and prior the object that was applied last; nil if that one is unknown.
func changedFields(mine string, prior, desired, live, merged *unstructured.Unstructured) []api.FieldChange {
	hash := annotation(desired, AnnotationAppliedHash)
	d := fieldDiff{owners: ownersOf(live, mine), applied: hash != "" && annotation(live, AnnotationAppliedHash) == hash,
		known: prior != nil, secret: isSecret(live)}
	was := map[string]any{}
	if prior != nil {
		was = prior.Object
	}
	return d.objects(was, desired, live, merged)
}

// objects compares all fields of an object.
func (d *fieldDiff) objects(was map[string]any, desired, live, merged *unstructured.Unstructured) []api.FieldChange {
	for _, key := range keysOf(live.Object, merged.Object) {
		if key != "status" {
			d.compare(nil, key, fieldpath.PathElement{FieldName: &key}, values{was[key], desired.Object[key], live.Object[key], merged.Object[key]})
		}
	}
	slices.SortStableFunc(d.out, func(a, b api.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return d.out
}

// ownersOf returns the field managers of an object; mine is the name under which hone itself writes it.
func ownersOf(u *unstructured.Unstructured, mine string) []owner {
	var out []owner
	for _, m := range u.GetManagedFields() {
		o := owner{name: m.Manager, fields: fieldpath.NewSet(), mine: m.Manager == mine && m.Subresource == ""}
		if m.FieldsV1 == nil || o.fields.FromJSON(m.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if m.Time != nil {
			o.at = m.Time.UTC()
		}
		out = append(out, o)
	}
	return out
}

// quiet are the fields that the API server or hone itself writes with every change.
var quiet = map[string]bool{
	"metadata.managedFields": true, "metadata.resourceVersion": true, "metadata.generation": true, "metadata.uid": true,
	"metadata.creationTimestamp": true, "metadata.selfLink": true,
}

// ownMark reports whether hone itself sets a label or an annotation with this key.
func ownMark(key string) bool {
	return slices.Contains(markLabels, key) || slices.Contains(markAnnotations, key) || key == LabelTemplateHash
}

// values are the values of one field: applied last, declared, in the cluster now, and in the cluster after the apply. nil stands
// for a field that is not there.
type values struct{ was, want, has, will any }

// place is the path of a value, as text and as the API server writes it.
type place struct {
	text string
	path fieldpath.Path
}

func (p *place) below(text string, element fieldpath.PathElement) *place {
	next := &place{text: text}
	if p != nil {
		next.text, next.path = p.text+text, slices.Clone(p.path)
	} else {
		next.text = strings.TrimPrefix(text, ".")
	}
	next.path = append(next.path, element)
	return next
}

// compare compares the field `key` of a map at a place.
func (d *fieldDiff) compare(at *place, key string, element fieldpath.PathElement, v values) {
	if reflect.DeepEqual(v.has, v.will) {
		return
	}
	d.at(at.below(keyText(key), element), key, v)
}

// at lists the changes of one field. Maps, and lists whose entries have keys, are compared entry by entry, so that only the
// entries that differ are listed; where the other side has none, it counts as empty. Any other value is listed as a whole.
func (d *fieldDiff) at(at *place, key string, v values) {
	if quiet[at.text] {
		return
	}
	hasMap, isMap := orNone[map[string]any](v.has)
	willMap, becomesMap := orNone[map[string]any](v.will)
	if isMap && becomesMap && len(hasMap)+len(willMap) > 0 {
		wasMap, _ := v.was.(map[string]any)
		wantMap, _ := v.want.(map[string]any)
		for _, k := range keysOf(hasMap, willMap) {
			if (key == "labels" || key == "annotations") && ownMark(k) {
				continue
			}
			d.compare(at, k, fieldpath.PathElement{FieldName: &k}, values{wasMap[k], wantMap[k], hasMap[k], willMap[k]})
		}
		return
	}
	hasList, isList := orNone[[]any](v.has)
	willList, becomesList := orNone[[]any](v.will)
	if isList && becomesList && d.list(at, key, v, hasList, willList) {
		return
	}
	d.leaf(at, v)
}

// orNone returns a value as a T; ok is false for a value of another type. No value counts as an empty T.
func orNone[T any](value any) (out T, ok bool) {
	if value == nil {
		return out, true
	}
	out, ok = value.(T)
	return out, ok
}

// list compares lists whose entries have keys, and reports whether they do.
func (d *fieldDiff) list(at *place, key string, v values, has, will []any) bool {
	for _, keys := range listKeys[key] {
		hasBy, ok := byKey(has, keys)
		willBy, becomes := byKey(will, keys)
		if !ok || !becomes {
			continue
		}
		wasList, _ := v.was.([]any)
		wasBy, _ := byKey(wasList, keys)
		wantList, _ := v.want.([]any)
		wantBy, _ := byKey(wantList, keys)
		for _, k := range slices.Sorted(maps.Keys(union(hasBy, willBy))) {
			item := firstValue(hasBy[k], willBy[k]).(map[string]any)
			text, element := entry(item, keys)
			if !reflect.DeepEqual(hasBy[k], willBy[k]) {
				d.at(at.below(text, element), "", values{wasBy[k], wantBy[k], hasBy[k], willBy[k]})
			}
		}
		return true
	}
	return false
}

// entry returns the text that stands for an entry of a list in a path, and the path element by which the API server identifies
// it.
func entry(item map[string]any, keys []listKey) (string, fieldpath.PathElement) {
	var shown []string
	fields := value.FieldList{}
	for _, k := range keys {
		v, ok := item[k.name]
		if !ok {
			v = k.missing
		}
		shown = append(shown, fmt.Sprintf("%s=%v", k.name, v))
		fields = append(fields, value.Field{Name: k.name, Value: value.NewValueInterface(v)})
	}
	fields.Sort()
	return "[" + strings.Join(shown, ",") + "]", fieldpath.PathElement{Key: &fields}
}

// leaf lists one field. It leaves out a field that is not declared, such as a default or a field that another writer sets.
//
// The declaration has changed if the value applied last differs from the declared one: both are compared as they were written, so
// that defaults and conversions of the API server do not count. The field's manager decides whether the cluster was changed
// since.
func (d *fieldDiff) leaf(at *place, v values) {
	mine, other := d.owner(at.path)
	c := api.FieldChange{Path: at.text, From: v.has, To: v.will}
	same := d.applied || d.known && reflect.DeepEqual(v.was, v.want)
	switch {
	case v.want == nil && (v.will != nil || !mine):
		return
	case v.want == nil:
		c.Class = api.ChangeRemoval
	case same:
		c.Class = api.ChangeDrift
	case v.has != nil && !mine && other != nil:
		c.Class, c.Applied = api.ChangeConflict, v.was
	default:
		c.Class = api.ChangeWanted
	}
	byOthers := c.Class == api.ChangeDrift || c.Class == api.ChangeConflict
	if byOthers && other != nil && v.has != nil {
		c.Manager = other.name
		if !other.at.IsZero() {
			c.At = &other.at
		}
	}
	if afterBuild(v.will) {
		c.To, c.AfterBuild = nil, true
	}
	if s, ok := v.will.(string); ok {
		if refs, _ := model.FieldRefs(s); len(refs) > 0 {
			c.To, c.AfterApply = nil, true
		}
	}
	if d.secret && secretAt(at.path, v.was, v.want, v.has, v.will) {
		c.From, c.To, c.Applied, c.Masked = nil, nil, nil, true
	}
	d.out = append(d.out, c)
}

// owner reports whether hone owns the field at a path, and returns the other manager that wrote it last; nil if there is none. A
// field within a list or a map that has one owner as a whole belongs to that owner.
func (d *fieldDiff) owner(path fieldpath.Path) (mine bool, other *owner) {
	for i := range d.owners {
		o := &d.owners[i]
		if !o.has(path) {
			continue
		}
		if o.mine {
			mine = true
		} else if other == nil || other.at.Before(o.at) {
			other = o
		}
	}
	return mine, other
}

func (o *owner) has(path fieldpath.Path) bool {
	if o.all || o.fields.Has(path) {
		return true
	}
	for n := len(path) - 1; n > 0; n-- {
		if o.fields.Has(path[:n]) && o.fields.WithPrefix(path[n-1]).Empty() {
			below := o.fields
			for _, e := range path[:n] {
				below = below.WithPrefix(e)
			}
			return below.Empty()
		}
	}
	return false
}

// plainKey matches the keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func keyText(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	quoted, _ := json.Marshal(key) // a string always works
	return "[" + string(quoted) + "]"
}

func keysOf(a, b map[string]any) []string { return slices.Sorted(maps.Keys(union(a, b))) }

func union(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

func firstValue(a, b any) any {
	if a != nil {
		return a
	}
	return b
}
