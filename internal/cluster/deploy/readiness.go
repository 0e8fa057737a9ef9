package deploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// readiness is the state of a workload on its way to ready.
type readiness struct {
	ready bool
	// why explains why it is not ready, and failing is set if waiting alone is not likely to change that.
	why     string
	failing bool
}

// readinessOf reads a workload and its pods. One that does not exist is not ready.
func (a *Applier) readinessOf(ctx context.Context, id model.ObjectID, timeout time.Duration) (readiness, error) {
	_, live, err := a.read(ctx, id, timeout)
	switch {
	case err != nil:
		return readiness{}, err
	case live == nil:
		return readiness{why: "does not exist"}, nil
	case live.GetDeletionTimestamp() != nil:
		return readiness{why: "is being deleted"}, nil
	}
	r, err := judged(live)
	if err != nil || r.ready {
		return r, err
	}
	if selector := podSelector(live); selector != "" && !r.failing {
		r.failing = a.podsFail(ctx, live.GetNamespace(), selector, timeout)
	}
	return r, nil
}

// judged reads the readiness of an object from its status.
func judged(live *unstructured.Unstructured) (readiness, error) {
	s, err := status.Compute(live)
	if err != nil {
		return readiness{}, fmt.Errorf("judge the status of %s: %w", title(IDOf(live)), err)
	}
	if s.Status == status.CurrentStatus {
		return readiness{ready: true}, nil
	}
	return readiness{why: words.FirstLine(s.Message), failing: s.Status == status.FailedStatus}, nil
}

// Established reports whether a workload is ready, or has been ready since it was made, as far as its status shows: a
// Deployment shows that it has completed a rollout. It is false for a workload that does not exist.
func (a *Applier) Established(ctx context.Context, id model.ObjectID, timeout time.Duration) (bool, error) {
	_, live, err := a.read(ctx, id, timeout)
	if err != nil || live == nil {
		return false, err
	}
	if r, err := judged(live); err != nil || r.ready {
		return r.ready, err
	}
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		is := asMap(c)
		return text(is, "type") == "Progressing" && text(is, "reason") == "NewReplicaSetAvailable"
	}), nil
}

// podsFail reports whether one of the pods that a selector chooses cannot start. It is false if that cannot be determined.
func (a *Applier) podsFail(ctx context.Context, namespace, selector string, timeout time.Duration) bool {
	var list *unstructured.UnstructuredList
	err := bounded(ctx, timeout, func(ctx context.Context) (err error) {
		list, err = a.dyn.Resource(podResource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		return err
	})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(list.Items, func(pod unstructured.Unstructured) bool {
		s, err := status.Compute(&pod)
		return err == nil && s.Status == status.FailedStatus && pod.GetDeletionTimestamp() == nil
	})
}

// read reads an object; live is nil if it, or its kind, does not exist.
func (a *Applier) read(ctx context.Context, id model.ObjectID, timeout time.Duration) (t target, live *unstructured.Unstructured, err error) {
	stub := &unstructured.Unstructured{Object: map[string]any{}}
	stub.SetGroupVersionKind(groupKind(id).WithVersion(""))
	stub.SetName(id.Name)
	stub.SetNamespace(id.Namespace)
	if t, _, err = a.target(ctx, stub, ""); err != nil {
		return t, nil, err
	}
	err = bounded(ctx, timeout, func(ctx context.Context) (err error) {
		live, err = t.ri.Get(ctx, id.Name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return t, nil, nil
	}
	return t, live, err
}

// Unready returns why workloads are not ready: "deployment/web: Available: 0/1". It is empty if all are. failing is set if one of them
// is not likely to become ready on its own, for example because its container ends at once. Each request is bounded by timeout.
func (a *Applier) Unready(ctx context.Context, workloads []model.ObjectID, timeout time.Duration) (why string, failing bool, err error) {
	reasons := map[string]string{}
	for _, id := range workloads {
		r, err := a.readinessOf(ctx, id, timeout)
		if err != nil {
			return "", false, err
		}
		if !r.ready {
			reasons[title(id)] = r.why
			failing = failing || r.failing
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		list = append(list, strings.TrimSuffix(name+": "+reasons[name], ": "))
	}
	return enumerate(list), failing, nil
}

// Standing reports whether one of the objects exists and is not being deleted. Each request is bounded by timeout.
func (a *Applier) Standing(ctx context.Context, objects []ledger.Record, timeout time.Duration) (bool, error) {
	for _, o := range objects {
		_, live, err := a.read(ctx, o.ObjectID, timeout)
		if err != nil {
			return false, err
		}
		if live == nil || live.GetDeletionTimestamp() != nil {
			continue
		}
		if o.UID == "" || string(live.GetUID()) == o.UID {
			return true, nil
		}
	}
	return false, nil
}

// servingOf returns the applied objects that serve.
func servingOf(applied []model.AppliedObject) []model.ObjectID {
	var out []model.ObjectID
	for _, o := range applied {
		if !o.Foreign && o.ObjectID.Serves() {
			out = append(out, o.ObjectID)
		}
	}
	return out
}

// awaitReady waits until the workloads are ready, or one of them fails, for limit at most. It returns why they are not ready.
func (a *Applier) awaitReady(ctx context.Context, workloads []model.ObjectID, limit, timeout time.Duration, say func(why string)) (why string, err error) {
	failing, said := false, false
	waited := poll(ctx, limit, func(ctx context.Context) (bool, error) {
		now, fails, err := a.Unready(ctx, workloads, timeout)
		if err != nil {
			return false, err
		}
		why, failing = now, fails
		if why != "" && !said {
			said = true
			say(why)
		}
		return why == "" || failing, nil
	})
	if waited != nil && (ctx.Err() != nil || why == "") {
		return why, waited
	}
	return why, nil
}

// keepUntilReady reports whether leftovers that serve have to stay for now, because their replacements are not ready. With a
// WaitLimit, it first waits for the replacements.
func (a *Applier) keepUntilReady(ctx context.Context, req CollectRequest, leftovers []ledger.Record) (bool, error) {
	if !slices.ContainsFunc(leftovers, func(r ledger.Record) bool { return r.ObjectID.Serves() && r.UID != "" }) {
		return false, nil
	}
	replacements := servingOf(req.Applied)
	say := func(why string) {
		logstore.Infof(req.Logger, "What %s no longer declares stays until its replacements are ready: %s", req.Resource, why)
	}
	if req.WaitLimit > 0 {
		why, err := a.awaitReady(ctx, replacements, req.WaitLimit, req.Timeout, say)
		return why != "", err
	}
	why, _, err := a.Unready(ctx, replacements, req.Timeout)
	if why != "" {
		say(why)
	}
	return why != "", err
}

// ImageNames returns the names of the images of a workload, without registry, folder, tag and digest.
func ImageNames(workload *unstructured.Unstructured) []string {
	var out []string
	for _, spec := range podSpecs(workload) {
		for _, c := range itemsOf(spec, "containers") {
			// A registry of its own joins the parts of a name with "_".
			name := lastPart(text(c, "image"))
			out = append(out, name[strings.LastIndexByte(name, '_')+1:])
		}
	}
	return out
}
