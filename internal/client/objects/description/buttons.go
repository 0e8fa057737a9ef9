package description

import (
	"context"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
)

// buttonType is the annotation of the buttons that every resource has, which hone enable and hone disable click.
const buttonType = "tilt.dev/uibutton-type"

// buttons writes the buttons of a resource, with the names and inputs for hone click.
func (d *Describer) buttons(ctx context.Context, w *writer, resource string) {
	k, err := d.Client.Kind("uibuttons")
	if err != nil {
		return
	}
	list, err := d.Client.Of(k).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	t := printers.GetNewTabWriter(w.out)
	any := false
	for _, u := range list.Items {
		of, _, _ := unstructured.NestedString(u.Object, "spec", "location", "componentID")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "location", "componentType")
		if of != resource || kind != "Resource" || u.GetAnnotations()[buttonType] != "" {
			continue
		}
		if !any {
			fmt.Fprintln(w.out, "Buttons:")
			fmt.Fprintln(t, "  NAME\tTEXT\tINPUTS\tCLICK IT BY")
			any = true
		}
		text, _, _ := unstructured.NestedString(u.Object, "spec", "text")
		by := "hone click " + shellquote.Join(u.GetName())
		if off, _, _ := unstructured.NestedBool(u.Object, "spec", "disabled"); off {
			by = "disabled"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", u.GetName(), text, dash(inputs(u)), by)
	}
	_ = t.Flush()
}

// inputs lists the inputs of a button, each with the values that it accepts: "SHARD=main, SIZE=s|l, DRY=true|false". Inputs
// that the Tiltfile has fixed are omitted.
func inputs(u unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(u.Object, "spec", "inputs")
	var out []string
	for _, x := range all {
		in, _ := x.(map[string]any)
		name, _, _ := unstructured.NestedString(in, "name")
		if in["hidden"] != nil {
			continue
		}
		takes, _, _ := unstructured.NestedString(in, "text", "defaultValue")
		if in["bool"] != nil {
			takes = "true|false"
		}
		if choices, ok, _ := unstructured.NestedStringSlice(in, "choice", "choices"); ok {
			takes = strings.Join(choices, "|")
		}
		out = append(out, name+"="+takes)
	}
	return strings.Join(out, ", ")
}
