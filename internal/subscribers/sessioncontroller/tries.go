package sessioncontroller

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// tries remembers the failed tries of Jobs. Kubernetes may try for minutes before it gives a Job up, and removes a pod that
// restarts its containers when it does, with their exit codes.
type tries struct {
	logs *logstore.Store
	// seen are the failed runs of containers, by log span; count is their number by resource, and last the newest.
	seen  map[string]bool
	count map[model.ManifestName]int
	last  map[model.ManifestName]failure
}

func newTries(logs *logstore.Store) *tries {
	return &tries{logs: logs, seen: map[string]bool{}, count: map[model.ManifestName]int{}, last: map[model.ManifestName]failure{}}
}

// note takes in the failed tries that v shows, and reports the new ones.
func (t *tries) note(v store.View) {
	for _, e := range state.OrderedUpdates(v) {
		name := e.Value.Manifest.Name
		for _, p := range state.PodsOf(v, name) {
			if !p.Current || !ofJob(*e.Update, p) {
				continue
			}
			for _, c := range p.AllContainers() {
				t.add(name, p, c.Name, c.LastID, c.LastReason, c.LastExitCode)
				if c.State == model.ContainerTerminated {
					t.add(name, p, c.Name, c.ID, c.Reason, c.ExitCode)
				}
			}
		}
	}
}

// add takes in one run of a container that has ended.
func (t *tries) add(name model.ManifestName, p state.Pod, container, run, reason string, code int) {
	span := state.LogSpan(p.Pod, container, run)
	if code == 0 || span == "" || t.seen[span] {
		return
	}
	t.seen[span] = true
	t.count[name]++
	f := failure{fmt.Sprintf("pod %s: container %s: %s, exit code %d", p.Name, container, cmp.Or(reason, "Error"), code), span}
	t.last[name] = f
	log := t.logs.Logger(name, span, logstore.SourceRuntime)
	logstore.Warnf(log, "Try %d of the Job has failed: %s", t.count[name], f.text)
	logstore.Flush(log)
}

// ofJob reports whether a pod is a try of a Job that the resource applied.
func ofJob(u state.Update, p state.Pod) bool {
	return p.Owner != "" && slices.ContainsFunc(u.Applied, func(a model.AppliedObject) bool {
		return a.UID == p.Owner && a.Kind == "Job" && a.Group == "batch"
	})
}

// with adds the end of a Job's last try to its failure, unless the failure mentions it.
func (t *tries) with(name model.ManifestName, f failure) failure {
	last, known := t.last[name]
	if f.span != "" || !known {
		return f
	}
	return failure{f.text + "; " + last.text, last.span}
}

// unscheduled reports whether a pod waits for a node.
func unscheduled(pods []state.Pod) bool {
	return slices.ContainsFunc(pods, func(p state.Pod) bool { return p.Stands() && state.WaitsForNode(p) })
}

// placing is the mend for pods that wait for a node, before another one; "" if none does.
func placing(pods []state.Pod) string {
	if !unscheduled(pods) {
		return ""
	}
	return "lower what the pod requests, or change which nodes it may run on; or "
}
