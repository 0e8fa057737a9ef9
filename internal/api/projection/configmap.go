package projection

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

const kindConfigMap = "ConfigMap"

func configMap() Kind {
	type object = *v1alpha1.ConfigMap
	return Kind{
		Name: kindConfigMap, ShortNames: []string{"cm"},
		Doc:    "ConfigMap is data that other objects refer to. RESOURCE-disable disables a resource while its isDisabled is \"true\".",
		Tables: tables(state.ConfigMaps, state.Resources),
		Items:  configMaps,
		New:    func() Object { return &v1alpha1.ConfigMap{} },
		Columns: []Column{
			column("Data", "The data of the config map.", func(o object) any {
				var words []string
				for _, k := range slices.Sorted(maps.Keys(o.Data)) {
					words = append(words, k+"="+o.Data[k])
				}
				return strings.Join(words, ",")
			}),
		},
		Write: writeConfigMap,
	}
}

// configMaps lists the config maps that disable resources, and the declared config maps that have other names.
func configMaps(v store.View) iter.Seq[Item] {
	s := sourceOf(v)
	items := toggles(s, kindConfigMap, (*toggleHead).disableName, func(e *store.Entry[state.Resource], off bool) *v1alpha1.ConfigMap {
		return &v1alpha1.ConfigMap{ObjectMeta: metaOfResource(e), Data: map[string]string{disabledKey: strconv.FormatBool(off)}}
	})
	for i := range each(s, kindConfigMap, state.ConfigMaps.In(v), func(e *store.Entry[model.ConfigMap]) *v1alpha1.ConfigMap {
		return &v1alpha1.ConfigMap{ObjectMeta: metaOf(&e.Meta, e.Value.Annotations), Data: maps.Clone(e.Value.Data)}
	}) {
		if _, taken := resourceOfSwitch(v, i.Name); !taken {
			items = append(items, i)
		}
	}
	return inOrder(items)
}

// resourceOfSwitch returns the resource that a config map of the given name switches off.
func resourceOfSwitch(v store.View, configMap string) (model.ManifestName, bool) {
	resource, ok := strings.CutSuffix(configMap, disableName(""))
	if !ok {
		return "", false
	}
	e := state.Resources.In(v).Ref(resource)
	return model.ManifestName(resource), e != nil && (e.Phase == store.Running || e.Value.Next != nil)
}
