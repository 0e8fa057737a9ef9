package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

const (
	// sayPause is the least time between two lines about a wait for objects.
	sayPause = 5 * time.Second
	// mendAfter is the time that finalizers may take before a warning tells the user how to remove them.
	mendAfter = 15 * time.Second
	// sayAtMost is the most objects that a line names.
	sayAtMost = 4
	// clockSkew is the most by which the clocks of this machine and the cluster may differ.
	clockSkew = 5 * time.Second
)

// waits holds the awaited objects with the blockers of each, and the awaited steps. It is safe for use by several goroutines.
type waits struct {
	mu      sync.Mutex
	objects map[string]*waiting  // guarded by mu
	steps   map[string]time.Time // guarded by mu; the beginning of each step, by its name
}

// waiting is one awaited object.
type waiting struct {
	t     target
	since time.Time
	live  *unstructured.Unstructured // as last seen
	held  string
	// mended is set once the user was warned about it.
	mended bool
}

// set records that an object is awaited, and its last state; live may be nil.
func (w *waits) set(t target, live *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects == nil {
		w.objects = map[string]*waiting{}
	}
	o := w.objects[t.id.String()]
	if o == nil {
		o = &waiting{t: t, since: time.Now()}
		w.objects[t.id.String()] = o
	}
	if live != nil {
		o.live, o.held = live, holding(live, time.Now())
	}
}

// done records that an object is no longer awaited.
func (w *waits) done(t target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, t.id.String())
}

// step records that a step runs, until over is called.
func (w *waits) step(name string) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steps == nil {
		w.steps = map[string]time.Time{}
	}
	w.steps[name] = time.Now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.steps, name)
	}
}

// line names what has been awaited for at least logstore.SayAfter, and returns the beginning of the longest wait. It is empty if there
// is nothing.
func (w *waits) line(now time.Time) (text string, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	long := func(begun time.Time) bool {
		if now.Sub(begun) < logstore.SayAfter {
			return false
		}
		if since.IsZero() || begun.Before(since) {
			since = begun
		}
		return true
	}
	var lines, steps []string
	for _, name := range slices.Sorted(maps.Keys(w.steps)) {
		if long(w.steps[name]) {
			steps = append(steps, name)
		}
	}
	if len(steps) > 0 {
		lines = append(lines, "Waiting for "+enumerate(steps))
	}
	var list []*waiting
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		if o := w.objects[key]; long(o.since) {
			list = append(list, o)
		}
	}
	if len(list) > 0 {
		lines = append(lines, "Waiting until gone: "+enumerate(heldNames(list)))
	}
	return strings.Join(lines, "; "), since
}

// heldNames returns the names of objects with their blockers.
func heldNames(list []*waiting) []string {
	// Objects that something holds matter most to the user.
	slices.SortStableFunc(list, func(a, b *waiting) int { return min(len(b.held), 1) - min(len(a.held), 1) })
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = heldName(o.t, o.held)
	}
	return names
}

// heldName returns the name of an object with its blockers.
func heldName(t target, held string) string {
	if held == "" {
		return title(t.id)
	}
	return title(t.id) + " (" + held + ")"
}

// enumerate joins up to sayAtMost names, and gives only the number of the others.
func enumerate(names []string) string {
	text := strings.Join(names[:min(len(names), sayAtMost)], ", ")
	if more := len(names) - sayAtMost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// overdue returns problems for the objects that finalizers have held for so long that the user may have to act, each
// object once.
func (w *waits) overdue(now time.Time) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []error
	for _, key := range slices.Sorted(maps.Keys(w.objects)) {
		o := w.objects[key]
		waited := now.Sub(o.since)
		held := o.live != nil && len(finalizersOf(o.live)) > 0
		if !held || o.mended || waited < mendAfter {
			continue
		}
		o.mended = true
		out = append(out, stuck(o.t, o.live, waited.Round(time.Second), nil))
	}
	return out
}

// tell logs the awaited objects at a moderate rate, until ctx ends.
func (w *waits) tell(ctx context.Context, log logstore.Logger) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	var said time.Time
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			for _, err := range w.overdue(now) {
				logstore.Warnf(log, "%s", problem.Text(err))
			}
			line, since := w.line(now)
			pause := sayPause
			if line == last {
				pause = logstore.SayAgain
			}
			switch {
			case line == "" || now.Sub(said) < pause:
				continue
			case line == last:
				logstore.Infof(log, "%s (for %s now)", line, now.Sub(since).Round(time.Second))
			default:
				logstore.Infof(log, "%s", line)
			}
			said, last = now, line
		}
	}
}

// telling starts tell in a goroutine, and returns a function that ends it and waits for its end.
func (w *waits) telling(ctx context.Context, log logstore.Logger) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { w.tell(ctx, log) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// await waits until no object of that name and UID exists. The wait is logged.
func (w *waits) await(ctx context.Context, t target, uid types.UID, limit time.Duration) error {
	return w.awaitUntil(ctx, t, uid, limit, func(*unstructured.Unstructured) bool { return false })
}

// awaitUntil is await that also ends when enough returns true for the object's current state.
func (w *waits) awaitUntil(ctx context.Context, t target, uid types.UID, limit time.Duration, enough func(live *unstructured.Unstructured) bool) error {
	w.set(t, nil)
	defer w.done(t)
	return waitGone(ctx, t, uid, limit, func(live *unstructured.Unstructured) bool {
		w.set(t, live)
		return enough(live)
	})
}

// holding describes the blockers of an object that is being deleted, as part of a message. It is empty if the deletion
// only takes the cluster some time.
func holding(live *unstructured.Unstructured, now time.Time) string {
	var why []string
	if live.GetKind() == "Namespace" {
		for _, c := range itemsOf(field(live.Object, "status"), "conditions") {
			if text(c, "status") == "True" && strings.HasPrefix(text(c, "type"), "Namespace") && text(c, "message") != "" {
				why = append(why, text(c, "message"))
			}
		}
	}
	if own := finalizersOf(live); len(own) > 0 {
		why = append(why, "finalizers ["+strings.Join(own, " ")+"]")
	} else if slices.Contains(live.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		why = append(why, "what it owns goes first")
	}
	if len(why) == 0 {
		if grace := graceOf(live, now); grace != "" {
			why = append(why, grace)
		}
	}
	return strings.Join(why, "; ")
}

// finalizersOf returns the finalizers except those that Kubernetes' own garbage collector removes.
func finalizersOf(live *unstructured.Unstructured) []string {
	return slices.DeleteFunc(live.GetFinalizers(), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
}

// graceOf describes the grace period of an object such as a pod. It is empty if there is none.
func graceOf(live *unstructured.Unstructured, now time.Time) string {
	grace, at := live.GetDeletionGracePeriodSeconds(), live.GetDeletionTimestamp()
	if grace == nil || *grace <= 0 || at == nil {
		return ""
	}
	if now.Before(at.Add(clockSkew)) {
		return fmt.Sprintf("it has %d s to end", *grace)
	}
	on := "its node"
	if node := text(field(live.Object, "spec"), "nodeName"); node != "" {
		on = "node " + node
	}
	return fmt.Sprintf("its %d s to end are over, and %s has not reported its end", *grace, on)
}

// stuck returns the problem for an object that does not go away. The cause may be nil.
func stuck(t target, live *unstructured.Unstructured, waited time.Duration, cause error) error {
	still := fmt.Sprintf("%s is still there after %s", title(t.id), waited)
	if errors.Is(cause, errNotYet) {
		cause = nil // the summary states it already
	}
	held := ""
	if live != nil {
		held = holding(live, time.Now())
	}
	if held == "" {
		return problem.Wrap(cause, still, "try again later")
	}
	return problem.Wrap(cause, still+": "+held, stuckMend(t, live)).See("troubleshooting")
}

// stuckMend tells the user how to remove an object that does not go away.
func stuckMend(t target, live *unstructured.Unstructured) string {
	ns := ""
	if t.id.Namespace != "" {
		ns = " -n " + t.id.Namespace
	}
	what := strings.ToLower(t.id.Kind) + " " + t.id.Name
	mend := fmt.Sprintf("see what its controller waits for: kubectl describe%s %s", ns, what)
	switch {
	case len(finalizersOf(live)) > 0:
		mend += fmt.Sprintf("\nif that controller is gone for good: kubectl patch%s %s --type=merge -p '{\"metadata\":{\"finalizers\":null}}'", ns, what)
	case t.id.Kind == "Pod" && t.id.Group == "":
		mend = fmt.Sprintf("see what keeps it: kubectl describe%s %s\nif its node is gone for good: kubectl delete%s %s --force", ns, what, ns, what)
	}
	return mend
}
