package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/problem"
)

// errNotYet is the cause of the error of a poll that ran out of time.
var errNotYet = errors.New("not yet")

// poll asks check, at once and then with growing pauses (10 ms to 500 ms), until it says true. It returns check's last
// error, or errNotYet, when the limit is over, and the context's when that ends first.
func poll(ctx context.Context, limit time.Duration, check func(context.Context) (bool, error)) error {
	c, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := errNotYet
	for pause := 10 * time.Millisecond; ; pause = min(pause*3/2, 500*time.Millisecond) {
		ok, err := check(c)
		if ok {
			return nil
		}
		if err != nil && c.Err() == nil {
			last = err
		}
		select {
		case <-c.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("after %s: %w", limit, last)
		case <-time.After(pause):
		}
	}
}

// waitGone waits until no object of that name and UID exists any more. It calls progress, which may be nil, whenever
// what keeps the object changes. An object that is still there after limit is a problem that names its finalizers.
func waitGone(ctx context.Context, t target, uid types.UID, limit time.Duration, progress func(held string)) error {
	held := "?"
	err := poll(ctx, limit, func(ctx context.Context) (bool, error) {
		live, err := t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, err
		case uid != "" && live.GetUID() != uid:
			return true, nil
		}
		if now := heldBy(live); now != held {
			held = now
			if progress != nil {
				progress(held)
			}
		}
		return false, nil
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return stuck(t, held, limit, err)
}

// stuck is the problem of an object that does not go away.
func stuck(t target, held string, limit time.Duration, cause error) error {
	if held == "" || held == "?" {
		return problem.Wrap(cause, fmt.Sprintf("%s is still there after %s", title(t.id), limit), "try again later")
	}
	ns := ""
	if t.id.Namespace != "" {
		ns = " -n " + t.id.Namespace
	}
	return problem.Wrap(cause, fmt.Sprintf("%s is still there after %s: %s", title(t.id), limit, held),
		fmt.Sprintf("see what its controller waits for: kubectl describe %s%s %s", strings.ToLower(t.id.Kind), ns, t.id.Name))
}

// heldBy says what keeps an object that is being deleted, empty if only time does.
func heldBy(live *unstructured.Unstructured) string {
	finalizers := live.GetFinalizers()
	if live.GetKind() == "Namespace" {
		for _, f := range sliceOf(field(live.Object, "spec"), "finalizers") {
			if s, ok := f.(string); ok {
				finalizers = append(finalizers, s)
			}
		}
	}
	if len(finalizers) == 0 {
		return ""
	}
	return "finalizers [" + strings.Join(finalizers, " ") + "]"
}

func sliceOf(m map[string]any, key string) []any {
	list, _ := m[key].([]any)
	return list
}
