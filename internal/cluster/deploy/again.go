package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// repetition is how an object whose declaration has not changed takes effect again.
type repetition int

const (
	// never: the object does nothing of its own.
	never repetition = iota
	// byRollout: its controller replaces its pods, at the pace of its update strategy.
	byRollout
	// byReplacement: only a new object gets new pods.
	byReplacement
)

var repetitions = map[string]repetition{
	"apps/Deployment":        byRollout,
	"apps/StatefulSet":       byRollout,
	"apps/DaemonSet":         byRollout,
	"apps/ReplicaSet":        byReplacement,
	"/ReplicationController": byReplacement,
	"/Pod":                   byReplacement,
	"batch/Job":              byReplacement,
}

func repetitionOf(id model.ObjectID) repetition { return repetitions[id.Group+"/"+id.Kind] }

const (
	// annotationRestartedAt is the one that kubectl rollout restart sets in the pod template.
	annotationRestartedAt = "kubectl.kubernetes.io/restartedAt"
	// restartManager owns it: fields of FieldManager that the declaration lacks would be removed with the next apply.
	restartManager = FieldManager + "-restart"
)

// restart makes the controller of a workload replace its pods, unless the apply has made it do so, and says why.
func (r *applyRun) restart(ctx context.Context, t target, before, live *unstructured.Unstructured, why string) (*unstructured.Unstructured, error) {
	if !sameTemplate(before, live) {
		return live, nil
	}
	if still := Stays(live); still != "" {
		logstore.Warnf(r.req.Logger, "WARNING: the pods of %s stay: %s", title(t.id), still)
		return live, nil
	}
	if repetitionOf(t.id) != byRollout {
		return live, nil
	}
	logstore.Infof(r.req.Logger, "Restarting the rollout of %s: %s", title(t.id), why)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{annotationRestartedAt: time.Now().Format(time.RFC3339Nano)}}}}})
	if err != nil {
		return nil, fmt.Errorf("restart the rollout: %w", err)
	}
	var got *unstructured.Unstructured
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		got, err = t.ri.Patch(ctx, t.id.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: restartManager})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restart the rollout: %w", err)
	}
	return got, nil
}

// Stays says why the pods of an object stay although it is applied again; empty if they are replaced, or if it has none.
func Stays(u *unstructured.Unstructured) string {
	id := IDOf(u)
	switch repetitionOf(id) {
	case byRollout:
		return noRollout(u)
	case never:
		if len(podTemplates(u)) > 0 && !model.BuiltinGroup(id.Group) {
			return "hone cannot restart the rollout of a " + id.Kind
		}
	case byReplacement:
	}
	return ""
}

// noRollout says why a change of the pod template does not replace the pods now; empty if it does.
func noRollout(workload *unstructured.Unstructured) string {
	if paused, _, _ := unstructured.NestedBool(workload.Object, "spec", "paused"); paused {
		return "its rollout is paused"
	}
	if kind, _, _ := unstructured.NestedString(workload.Object, "spec", "updateStrategy", "type"); kind == "OnDelete" {
		return "its update strategy is OnDelete"
	}
	return ""
}

// repeat changes the step of an object that would stay unchanged, as restart does with the object.
func (p *preview) repeat(step *api.PlanStep, id model.ObjectID, live *unstructured.Unstructured, why string) {
	idle := step.Action == api.ActionUnchanged && step.Reason == ""
	if !idle || why == "" || repetitionOf(id) != byRollout {
		return
	}
	if step.Reason = noRollout(live); step.Reason == "" {
		step.Action, step.Reason = api.ActionUpdate, "its rollout is restarted: "+why
	}
}

// again returns why an object is applied although it is unchanged; empty if it is not.
func (r *applyRun) again(desired *unstructured.Unstructured) string {
	if r.req.Again == nil {
		return ""
	}
	return r.req.Again(desired)
}

// Runs reports whether a container belongs to an object as it is declared: to a pod of its template, or to the pod that it is.
func Runs(desired *unstructured.Unstructured, c model.ContainerRef) bool {
	id := IDOf(desired)
	switch {
	case id.Namespace != c.Namespace:
		return false
	case id.Kind == "Pod" && id.Group == "":
		return id.Name == c.Pod
	}
	return c.Template != "" && slices.ContainsFunc(podTemplates(desired), func(t map[string]any) bool {
		return text(field(t, "metadata", "labels"), LabelTemplateHash) == c.Template
	})
}
