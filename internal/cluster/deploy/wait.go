package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// errNotYet is the cause of the error of a poll that ran out of time.
var errNotYet = errors.New("not yet")

// poll calls check, immediately and then with growing pauses (10 ms to 500 ms), until it returns true. After the limit
// poll returns check's last error, or errNotYet. If the context ends first, it returns the context's error. The
// requests of check are not retried, because poll calls check again.
func poll(ctx context.Context, limit time.Duration, check func(context.Context) (bool, error)) error {
	c, cancel := context.WithTimeout(k8s.AtOnce(ctx), limit)
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
		switch {
		case retry.Sleep(c, pause):
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return fmt.Errorf("after %s: %w", limit, last)
		}
	}
}

// waitGone waits until no object of that name and UID exists, or enough returns true for its current state. An object
// that still exists after limit is a problem that names the blockers.
func waitGone(ctx context.Context, t target, uid types.UID, limit time.Duration, enough func(live *unstructured.Unstructured) bool) error {
	var last *unstructured.Unstructured
	err := poll(ctx, limit, func(ctx context.Context) (bool, error) {
		live, err := t.look(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, err
		case uid != "" && live.GetUID() != uid:
			return true, nil
		}
		last = live
		return enough(live), nil
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return stuck(t, last, limit, err)
}
