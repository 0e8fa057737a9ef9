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
)

// fieldDiff lists how an apply would change an object. It compares the object in the cluster with the one that the API server
// would store, and looks at the declared one only to tell why they differ. So defaults, foreign fields and the order of lists
// are what the API server makes of them.
type fieldDiff struct {
	owners  []owner
	applied bool // the declaration is the one that was applied last
	secret  bool
	out     []api.FieldChange
}

// owner is a field manager of an object.
type owner struct {
	name   string
	at     time.Time
	mine   bool
	fields *fieldpath.Set
}

// changedFields returns the fields of live that become those of merged, by path. desired is what is applied.
func changedFields(desired, live, merged *unstructured.Unstructured) []api.FieldChange {
	hash := annotation(desired, AnnotationAppliedHash)
	d := fieldDiff{owners: ownersOf(live), applied: hash != "" && annotation(live, AnnotationAppliedHash) == hash, secret: isSecret(live)}
	for _, key := range keysOf(live.Object, merged.Object) {
		if key != "status" {
			d.compare(nil, key, fieldpath.PathElement{FieldName: &key}, desired.Object[key], live.Object[key], merged.Object[key])
		}
	}
	slices.SortStableFunc(d.out, func(a, b api.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return d.out
}

func ownersOf(u *unstructured.Unstructured) []owner {
	var out []owner
	for _, m := range u.GetManagedFields() {
		o := owner{name: m.Manager, fields: fieldpath.NewSet(), mine: m.Manager == FieldManager && m.Subresource == ""}
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

// place is where a value is.
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

// compare compares the field `key` of a map at a place. nil stands for a field that is not there.
func (d *fieldDiff) compare(at *place, key string, element fieldpath.PathElement, want, has, will any) {
	if reflect.DeepEqual(has, will) {
		return
	}
	d.at(at.below(keyText(key), element), key, want, has, will)
}

func (d *fieldDiff) at(at *place, key string, want, has, will any) {
	if quiet[at.text] {
		return
	}
	hasMap, isMap := has.(map[string]any)
	willMap, becomesMap := will.(map[string]any)
	if (isMap || has == nil) && (becomesMap || will == nil) && (isMap && len(hasMap) > 0 || becomesMap && len(willMap) > 0) {
		wantMap, _ := want.(map[string]any)
		for _, k := range keysOf(hasMap, willMap) {
			if (key == "labels" || key == "annotations") && ownMark(k) {
				continue
			}
			d.compare(at, k, fieldpath.PathElement{FieldName: &k}, wantMap[k], hasMap[k], willMap[k])
		}
		return
	}
	hasList, isList := has.([]any)
	willList, becomesList := will.([]any)
	if (isList || has == nil) && (becomesList || will == nil) && d.list(at, key, want, hasList, willList) {
		return
	}
	d.leaf(at, want, has, will)
}

// list compares lists whose entries have keys, and reports whether they do.
func (d *fieldDiff) list(at *place, key string, want any, has, will []any) bool {
	for _, keys := range listKeys[key] {
		hasBy, ok := byKey(has, keys)
		willBy, becomes := byKey(will, keys)
		if !ok || !becomes {
			continue
		}
		wantList, _ := want.([]any)
		wantBy, _ := byKey(wantList, keys)
		for _, k := range slices.Sorted(maps.Keys(union(hasBy, willBy))) {
			item := firstValue(hasBy[k], willBy[k]).(map[string]any)
			text, element := entry(item, keys)
			if !reflect.DeepEqual(hasBy[k], willBy[k]) {
				d.at(at.below(text, element), "", wantBy[k], hasBy[k], willBy[k])
			}
		}
		return true
	}
	return false
}

// entry returns how an entry of a list is shown, and how the API server identifies it.
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

// leaf lists one field. A field that is not declared is left out, such as a default or what another writer sets.
func (d *fieldDiff) leaf(at *place, want, has, will any) {
	mine, other := d.owner(at.path)
	c := api.FieldChange{Path: at.text, From: has, To: will}
	switch {
	case want == nil && (will != nil || !mine):
		return
	case want == nil:
		c.Class = api.ChangeRemoval
	case d.applied:
		c.Class = api.ChangeDrift
	case has != nil && !mine && other != nil:
		c.Class = api.ChangeConflict
	default:
		c.Class = api.ChangeWanted
	}
	if (c.Class == api.ChangeDrift || c.Class == api.ChangeConflict) && other != nil && has != nil {
		c.Manager = other.name
		if !other.at.IsZero() {
			c.At = &other.at
		}
	}
	if s, ok := will.(string); ok && strings.HasSuffix(s, unbuiltTag) {
		c.To, c.AfterBuild = nil, true
	}
	if d.secret && (strings.HasPrefix(at.text, "data") || strings.HasPrefix(at.text, "stringData")) {
		c.From, c.To, c.Masked = nil, nil, true
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
	if o.fields.Has(path) {
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
