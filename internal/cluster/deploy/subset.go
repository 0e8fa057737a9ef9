package deploy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unchanged reports whether live is the result of an earlier apply of desired: it carries the same hash, and every
// field of desired still has its value. Fields that only live has (defaults, status, additions of others) do not count.
// In doubt it returns false: a needless apply does no harm.
func unchanged(desired, live *unstructured.Unstructured) bool {
	hash := annotation(desired, AnnotationAppliedHash)
	if hash == "" || annotation(live, AnnotationAppliedHash) != hash || live.GetDeletionTimestamp() != nil {
		return false
	}
	for key, want := range desired.Object {
		if key == "status" {
			continue
		}
		if !within(want, live.Object[key], key) {
			return false
		}
	}
	return true
}

// annotation returns one annotation without copying them all.
func annotation(u *unstructured.Unstructured, key string) string {
	return text(field(u.Object, "metadata", "annotations"), key)
}

// label returns one label without copying them all.
func label(u *unstructured.Unstructured, key string) string {
	return text(field(u.Object, "metadata", "labels"), key)
}

// within reports whether live holds everything that want holds. The key is the name of the field that holds want.
func within(want, live any, key string) bool {
	switch want := want.(type) {
	case nil:
		return live == nil
	case map[string]any:
		return mapWithin(want, live, key)
	case []any:
		got, ok := live.([]any)
		if !ok {
			return live == nil && len(want) == 0
		}
		return listWithin(want, got, key)
	default:
		return sameScalar(want, live, key)
	}
}

func mapWithin(want map[string]any, live any, key string) bool {
	got, ok := live.(map[string]any)
	if !ok {
		return false
	}
	quantities := quantityMaps[key]
	for k, v := range want {
		if quantities && sameQuantity(v, got[k]) {
			continue
		}
		if !within(v, got[k], k) {
			return false
		}
	}
	return true
}

// quantityMaps are the fields whose values are quantities, which the server rewrites ("1000m" becomes "1").
var quantityMaps = map[string]bool{"limits": true, "requests": true, "capacity": true, "hard": true, "overhead": true,
	"default": true, "defaultRequest": true, "max": true, "min": true}

// quantityFields are fields whose value is a quantity.
var quantityFields = map[string]bool{"sizeLimit": true, "storage": true, "divisor": true, "averageValue": true}

func sameScalar(want, live any, key string) bool {
	if want == live {
		return true
	}
	if a, ok := number(want); ok {
		if b, ok := number(live); ok {
			return a == b
		}
	}
	return quantityFields[key] && sameQuantity(want, live)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func sameQuantity(want, live any) bool {
	if want == nil || live == nil {
		return false
	}
	a, err := resource.ParseQuantity(fmt.Sprint(want))
	if err != nil {
		return false
	}
	b, err := resource.ParseQuantity(fmt.Sprint(live))
	return err == nil && a.Cmp(b) == 0
}

// listKeys holds, by field, the natural keys of lists to which others may add items. If there are several, the first
// one that every item has and that is unique is used.
var listKeys = map[string][][]listKey{
	"containers":          {{{name: "name"}}},
	"initContainers":      {{{name: "name"}}},
	"ephemeralContainers": {{{name: "name"}}},
	"volumes":             {{{name: "name"}}},
	"env":                 {{{name: "name"}}},
	"imagePullSecrets":    {{{name: "name"}}},
	"resourceClaims":      {{{name: "name"}}},
	"webhooks":            {{{name: "name"}}},
	"volumeMounts":        {{{name: "mountPath"}}},
	"volumeDevices":       {{{name: "devicePath"}}},
	"hostAliases":         {{{name: "ip"}}},
	"ownerReferences":     {{{name: "uid"}}},
	"ports": {
		{{name: "containerPort"}, {name: "protocol", missing: "TCP"}},
		{{name: "port"}, {name: "protocol", missing: "TCP"}},
	},
	"topologySpreadConstraints": {{{name: "topologyKey"}, {name: "whenUnsatisfiable"}}},
}

// listKey is one field of a natural key; missing is its value in items that lack it.
type listKey struct{ name, missing string }

// setLists are lists of independent entries: each wanted entry must be present, in any position.
var setLists = map[string]bool{"tolerations": true, "finalizers": true}

// listWithin is within for lists. A list with natural keys may have further items in live, but the wanted ones must be
// in the wanted order. A list of setLists only has to contain the wanted items. The items of any other list must agree
// one by one.
func listWithin(want, live []any, key string) bool {
	if setLists[key] {
		for _, w := range want {
			if !anyWithin(w, live, key) {
				return false
			}
		}
		return true
	}
	for _, keys := range listKeys[key] {
		wanted, ok := byKey(want, keys)
		if !ok {
			continue
		}
		got, ok := byKey(live, keys)
		if !ok {
			continue
		}
		for k, w := range wanted {
			if l, ok := got[k]; !ok || !within(w, l, "") {
				return false
			}
		}
		return sameOrder(want, live, keys)
	}
	if len(want) != len(live) {
		return false
	}
	for i, w := range want {
		if !within(w, live[i], "") {
			return false
		}
	}
	return true
}

func anyWithin(want any, live []any, key string) bool {
	for _, l := range live {
		if within(want, l, key) {
			return true
		}
	}
	return false
}

// byKey maps the items of a list by their natural key; ok is false if an item has none or two share one.
func byKey(list []any, keys []listKey) (map[string]any, bool) {
	out := make(map[string]any, len(list))
	for _, item := range list {
		k, ok := keyOf(item, keys)
		if !ok {
			return nil, false
		}
		if _, twice := out[k]; twice {
			return nil, false
		}
		out[k] = item
	}
	return out, true
}

func keyOf(item any, keys []listKey) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	out := ""
	for _, k := range keys {
		v, ok := m[k.name]
		if !ok {
			if k.missing == "" {
				return "", false
			}
			v = k.missing
		}
		out += fmt.Sprint(v) + "\x00"
	}
	return out, true
}

// sameOrder reports whether the wanted items have the same order in live, ignoring other items: the order of
// environment variables and init containers matters.
func sameOrder(want, live []any, keys []listKey) bool {
	at := 0
	for _, l := range live {
		if at == len(want) {
			break
		}
		a, _ := keyOf(want[at], keys)
		if b, _ := keyOf(l, keys); a == b {
			at++
		}
	}
	return at == len(want)
}
