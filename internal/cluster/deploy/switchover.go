package deploy

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// A Service whose selector changes sends its clients to other pods at once, whether or not these can serve. So it is applied last,
// once the pods that it will select are ready.

// switches returns the workloads of the run whose pods a Service will select, if it selects others in the cluster now. It is nil for
// everything else.
func (r *applyRun) switches(desired, live *unstructured.Unstructured) []int {
	if live == nil || desired.GetKind() != "Service" || desired.GroupVersionKind().Group != "" {
		return nil
	}
	now, then := Selector(live), Selector(desired)
	if len(now) == 0 || len(then) == 0 || maps.Equal(now, then) {
		return nil
	}
	var out []int
	for i, u := range r.g.objects {
		if r.g.ids[i].Serves() && u.GetNamespace() == desired.GetNamespace() && Selects(then, u) {
			out = append(out, i)
		}
	}
	return out
}

// Selector returns the pod selector of a Service.
func Selector(service *unstructured.Unstructured) map[string]string {
	return stringMap(service.Object, "spec", "selector")
}

// Selects reports whether the selector of a Service matches the pods of a workload. An empty selector matches none.
func Selects(selector map[string]string, workload *unstructured.Unstructured) bool {
	labels := podLabels(workload)
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}

// podLabels returns the labels of the pods of a built-in workload.
func podLabels(workload *unstructured.Unstructured) map[string]string {
	if workload.GetKind() == "Pod" {
		return workload.GetLabels()
	}
	return stringMap(podTemplate(workload), "metadata", "labels")
}

// stringMap returns the strings of a map in an object.
func stringMap(o map[string]any, path ...string) map[string]string {
	out := map[string]string{}
	for k, v := range field(o, path...) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// switchOver applies the Services that were put off, when the workloads that they will select are ready, or after the time limit. It
// writes the results to errs, which has an entry for each object of order.
func (r *applyRun) switchOver(ctx context.Context, order []int, errs []error) {
	at := make([]int, len(order))
	var nodes []dag.Node
	var places []int
	for k, i := range order {
		at[i] = k
	}
	for k, i := range order {
		if r.later[i] == nil || errs[k] != nil {
			continue
		}
		places = append(places, k)
		nodes = append(nodes, dag.Node{Name: title(r.g.ids[i]), Free: true, Run: func(ctx context.Context) error {
			for _, w := range r.later[i] {
				if errs[at[w]] != nil {
					return &dag.Blocked{By: title(r.g.ids[w])}
				}
			}
			return r.switchService(ctx, i)
		}})
	}
	r.switching = true
	results := dag.Walk(ctx, nodes, r.a.parallelism)
	for n, k := range places {
		errs[k] = results[n]
	}
}

// switchService applies one Service that was put off.
func (r *applyRun) switchService(ctx context.Context, i int) error {
	var workloads []model.ObjectID
	for _, w := range r.later[i] {
		workloads = append(workloads, r.outcomes[w].object.ObjectID)
	}
	name := title(r.g.ids[i])
	why, err := r.a.awaitReady(ctx, workloads, r.req.Timeout, r.req.Timeout, func(why string) {
		logstore.Infof(r.req.Logger, "%s selects other pods from now on, and is switched when they are ready: %s", name, why)
	})
	if err != nil {
		return err
	}
	if why != "" {
		logstore.Warnf(r.req.Logger, "%s is switched to pods that are not ready: %s", name, why)
	}
	return r.object(ctx, i)
}
