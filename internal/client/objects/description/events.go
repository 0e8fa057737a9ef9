package description

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/pkg/api"
)

const (
	// eventsTable is the table of events; sessions of older versions have none.
	eventsTable = "events"
	// shownEvents is the number of newest events that are shown.
	shownEvents = 20
	// resourceAnnotation is the annotation with the name of the resource that an object belongs to.
	resourceAnnotation = "tilt.dev/resource"
)

// resourceOf returns the name of the resource that an object is or belongs to; "" if there is none.
func resourceOf(k objects.Kind, f fields) string {
	m := f.sub("metadata")
	if r := m.sub("annotations").text(resourceAnnotation); r != "" {
		return r
	}
	if k.GVR.Group == api.TablesGroup {
		if r := f.sub("entry").text("resource"); r != "" || k.GVR.Resource != "resources" && k.GVR.Resource != "updates" {
			return r
		}
		return f.text("id")
	}
	if k.Singular == "uiresource" {
		return m.text("name")
	}
	return ""
}

// events writes the newest events of a resource, if the session keeps any.
func (d *Describer) events(ctx context.Context, w *writer, resource string) {
	k, err := d.Client.Kind(eventsTable + "." + api.TablesGroup)
	if err != nil || resource == "" {
		return
	}
	list, err := d.Client.Of(k).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	all := slices.DeleteFunc(list.Items, func(u unstructured.Unstructured) bool {
		of, _, _ := unstructured.NestedString(u.Object, "entry", "resource")
		return of != resource
	})
	slices.SortStableFunc(all, func(a, b unstructured.Unstructured) int {
		return a.GetCreationTimestamp().Time.Compare(b.GetCreationTimestamp().Time)
	})
	if len(all) > shownEvents {
		all = all[len(all)-shownEvents:]
	}
	if len(all) == 0 {
		fmt.Fprintln(w.out, "Events:  none")
		return
	}
	fmt.Fprintln(w.out, "Events:")
	t := printers.GetNewTabWriter(w.out)
	fmt.Fprintln(t, "  AGE\tTYPE\tWHAT")
	for _, u := range all {
		what, _, _ := unstructured.NestedString(u.Object, "entry", "type")
		fmt.Fprintf(t, "  %s\t%s\t%s\n", duration.HumanDuration(d.Now.Sub(u.GetCreationTimestamp().Time)), what, summary(u))
	}
	_ = t.Flush()
}

// telling are the fields that summarize an event; the first one that an event has is used.
var telling = []string{"err", "error", "summary", "text", "reason", "state", "name", "mode"}

func summary(u unstructured.Unstructured) string {
	what, _, _ := unstructured.NestedMap(u.Object, "entry", "what")
	for _, name := range telling {
		if s, ok := what[name].(string); ok && s != "" {
			return s
		}
	}
	return "-"
}

// age renders how long ago a time is.
func (w *writer) age(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "-"
	}
	return duration.HumanDuration(w.now.Sub(t))
}
