package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/utils/ptr"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

// Kinds configures how kinds of objects are listed.
type Kinds struct {
	// Group, Verbs, Categories and Namespaced limit the kinds that are listed.
	Group             string
	Verbs, Categories []string
	Namespaced        *bool
	// Output is "", wide, name, json or yaml; SortBy is "", name or kind.
	Output, SortBy string
	NoHeaders      bool
}

// Add adds the flags.
func (k *Kinds) Add(flags *pflag.FlagSet) {
	flags.StringVar(&k.Group, "api-group", "", "list only the kinds of this group: tilt.dev, hone.dev")
	flags.StringSliceVar(&k.Verbs, "verbs", nil, "list only kinds that support all of these verbs: get,patch")
	flags.StringSliceVar(&k.Categories, "categories", nil, "list only kinds in all of these categories")
	flags.StringVarP(&k.Output, "output", "o", "", "format: wide, name, json, yaml")
	flags.StringVar(&k.SortBy, "sort-by", "", "sort by name or kind")
	flags.BoolVar(&k.NoHeaders, "no-headers", false, "leave out the column headers")
}

// Print lists kinds, and returns how many it has listed.
func (k *Kinds) Print(all []objects.Kind, out io.Writer) (int, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(x objects.Kind) bool { return !k.wanted(x) })
	switch k.SortBy {
	case "":
		slices.SortStableFunc(all, func(a, b objects.Kind) int {
			return cmp.Or(-strings.Compare(a.GVR.Group, b.GVR.Group), strings.Compare(a.GVR.Resource, b.GVR.Resource))
		})
	case "name":
		slices.SortStableFunc(all, func(a, b objects.Kind) int { return strings.Compare(a.GVR.Resource, b.GVR.Resource) })
	case "kind":
		slices.SortStableFunc(all, func(a, b objects.Kind) int { return strings.Compare(a.Name, b.Name) })
	default:
		return 0, problem.New(fmt.Sprintf("kinds cannot be sorted by %q", k.SortBy), "choose name or kind")
	}
	switch k.Output {
	case "name":
		for _, x := range all {
			fmt.Fprintln(out, x)
		}
		return len(all), nil
	case "", "wide":
		return len(all), k.table(all, out)
	case "json":
		return len(all), printed((&printers.JSONPrinter{}).PrintObj(listOf(all), out))
	case "yaml":
		return len(all), printed((&inYAML{&printers.YAMLPrinter{}}).PrintObj(listOf(all), out))
	}
	return 0, problem.New(fmt.Sprintf("unknown output %q", k.Output), "choose wide, name, json or yaml")
}

// listOf returns the Kubernetes object that lists kinds.
func listOf(all []objects.Kind) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, APIResources: []metav1.APIResource{}}
	for _, k := range all {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.GVR.Resource, SingularName: k.Singular, Namespaced: k.Namespaced,
			Group: k.GVR.Group, Version: k.GVR.Version, Kind: k.Name, Verbs: k.Verbs, ShortNames: k.ShortNames, Categories: k.Categories})
	}
	return list
}

func (k *Kinds) wanted(x objects.Kind) bool {
	if cmp.Or(k.Group, x.GVR.Group) != x.GVR.Group || ptr.Deref(k.Namespaced, x.Namespaced) != x.Namespaced {
		return false
	}
	for _, v := range k.Verbs {
		if !x.Can(v) {
			return false
		}
	}
	for _, c := range k.Categories {
		if !slices.Contains(x.Categories, c) {
			return false
		}
	}
	return true
}

func (k *Kinds) table(all []objects.Kind, out io.Writer) error {
	w := tabbed(out)
	line := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	heads := []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}
	if k.Output == "wide" {
		heads = append(heads, "VERBS", "CATEGORIES")
	}
	if !k.NoHeaders && len(all) > 0 {
		line(heads...)
	}
	for _, x := range all {
		cells := []string{x.GVR.Resource, strings.Join(x.ShortNames, ","), x.GVR.GroupVersion().String(), strconv.FormatBool(x.Namespaced), x.Name}
		if k.Output == "wide" {
			cells = append(cells, strings.Join(x.Verbs, ","), strings.Join(x.Categories, ","))
		}
		line(cells...)
	}
	return w.Flush()
}
