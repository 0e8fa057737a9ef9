package condition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

// checkTime limits a query of the session that does not wait.
const checkTime = 10 * time.Second

// Wait is a wait for objects.
type Wait struct {
	Client *objects.Client
	For    Condition
	// Settle, unless nil, waits until the session knows the files that were saved so far: they may change which conditions are met.
	// RunAll calls it first, and goes on with the present state if it fails.
	Settle func(context.Context) (known bool, err error)
	// Timeout limits the whole wait; zero checks once.
	Timeout time.Duration
	// Object is the UID of the object to wait for, if known; a different object with the same name does not count.
	Object types.UID
	// Met is called for each object that meets the condition, in order. For a deleted object it is called with the last known
	// state, if there is one.
	Met func(k objects.Kind, name string, u *unstructured.Unstructured) error
}

// Run waits for all objects of targets, until one has failed that should succeed. Selectors match only objects that exist at the
// beginning; named objects may be created later.
func (w Wait) Run(ctx context.Context, targets []objects.Target) error {
	limit := w.Timeout
	if limit == 0 {
		limit = checkTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	any := false
	for _, t := range targets {
		names, err := w.Client.Names(ctx, t)
		if err != nil {
			return err
		}
		for _, name := range names {
			any = true
			u, err := w.one(ctx, t.Kind, name)
			if err != nil {
				return err
			}
			if err := w.Met(t.Kind, name, u); err != nil {
				return err
			}
		}
	}
	if !any && !w.For.Gone() {
		return problem.New("no matching resources found", "hone get KIND --show-labels lists the existing objects")
	}
	return nil
}

// RunAll waits until all objects of targets have met each condition in order, all within the timeout. Met is called when an
// object has met the last condition.
func (w Wait) RunAll(ctx context.Context, all []Condition, targets []objects.Target) error {
	met, limit, begun := w.Met, w.Timeout, time.Now()
	if w.Settle != nil {
		settling, cancel := context.WithTimeout(ctx, cmp.Or(limit, checkTime))
		_, _ = w.Settle(settling)
		cancel()
	}
	for i, c := range all {
		w.For = c
		if w.Met = met; i < len(all)-1 {
			w.Met = func(objects.Kind, string, *unstructured.Unstructured) error { return nil }
		}
		if limit > 0 {
			w.Timeout = max(time.Nanosecond, limit-time.Since(begun))
		}
		if err := w.Run(ctx, targets); err != nil {
			return err
		}
	}
	return nil
}

// one waits for one object.
func (w Wait) one(ctx context.Context, k objects.Kind, name string) (*unstructured.Unstructured, error) {
	s := &sight{wait: w, kind: k, name: name, uid: w.Object}
	for {
		if over, err := s.look(ctx); over || err != nil {
			return s.last, s.over(ctx, err)
		}
		if ctx.Err() != nil {
			return nil, s.over(ctx, ctx.Err())
		}
	}
}

// look observes the object until the wait is over, or until it has to be listed again.
func (s *sight) look(ctx context.Context) (over bool, err error) {
	t := objects.Target{Kind: s.kind, Fields: fields.OneTermEqualSelector("metadata.name", s.name).String()}
	found, err := s.wait.Client.Fetch(ctx, t, objects.Whole)
	if err != nil {
		return false, err
	}
	u, watching := named(found.Objects, s.name), ctx
	if over, err := s.settled(u); over {
		return true, err
	}
	if u == nil && s.declared() {
		version, err := s.undeclared(ctx)
		if err != nil {
			return false, err
		}
		until, stop := s.untilTiltfile(ctx, version)
		defer stop()
		watching = until
	}
	if s.wait.Timeout == 0 {
		return false, s.late(ctx)
	}
	for e, err := range s.wait.Client.Watch(watching, t, found.Version, objects.Whole) {
		switch {
		case errors.Is(err, objects.ErrBehind), watching.Err() != nil:
			return false, nil
		case err != nil:
			return false, objects.Over(err)
		}
		if u = e.Object; e.Type == watch.Deleted {
			u = nil
		}
		if over, err := s.settled(u); over || u == nil {
			return over, err
		}
	}
	return false, nil
}

// named returns the object with a name; nil if there is none.
func named(all []unstructured.Unstructured, name string) *unstructured.Unstructured {
	if i := slices.IndexFunc(all, func(u unstructured.Unstructured) bool { return u.GetName() == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// sight is the state of a wait for one object.
type sight struct {
	wait Wait
	kind objects.Kind
	name string
	// uid is the UID of the object whose deletion is awaited, last is its last observed state, and instead describes that
	// state.
	uid     types.UID
	last    *unstructured.Unstructured
	instead string
}

// settled records the observed object, nil if there is none, and reports whether the wait is over: the condition is met, or the
// object has failed.
func (s *sight) settled(u *unstructured.Unstructured) (over bool, err error) {
	if s.met(u) {
		return true, nil
	}
	f := s.wait.For.Hopeless(u)
	if f == nil {
		return false, nil
	}
	summary, detail, _ := strings.Cut(strings.TrimSpace(f.Why), "\n")
	failed, name := s.kind.Ref(s.name)+" has failed", cmp.Or(f.Of, s.name)
	if f.Of != "" {
		failed = fmt.Sprintf("%s waits for %s, which has failed", s.kind.Ref(s.name), f.Of)
	}
	return true, &problem.Problem{Summary: fmt.Sprintf("%s, so %s is not met: %s", failed, s.wait.For, summary), Detail: strings.Trim(detail, "\n"),
		Mend: fmt.Sprintf("hone logs %s shows its log; hone describe %s %[1]s shows details", shellquote.Join(name), s.kind.GVR.Resource)}
}

// met records the observed object, nil if there is none, and reports whether the condition is met. A new object with the same
// name counts as the deletion of the first one.
func (s *sight) met(u *unstructured.Unstructured) (ok bool) {
	if u != nil {
		if s.uid == "" {
			s.uid = u.GetUID()
		} else if s.wait.For.Gone() && s.uid != u.GetUID() {
			return true
		}
		s.last = u
	}
	ok, s.instead = s.wait.For.Met(u)
	return ok
}

// over returns the error for the end of the wait.
func (s *sight) over(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return s.late(ctx)
	}
	return err
}

// late returns the problem that an object has not met the condition in time.
func (s *sight) late(ctx context.Context) error {
	summary := fmt.Sprintf("timed out waiting for %s on %s: %s", s.wait.For, s.kind.Ref(s.name), s.instead)
	if s.wait.Timeout == 0 {
		summary = fmt.Sprintf("%s does not meet %s: %s", s.kind.Ref(s.name), s.wait.For, s.instead)
	}
	mend := fmt.Sprintf("hone describe %s %s shows details; --timeout waits longer", s.kind.GVR.Resource, shellquote.Join(s.name))
	if s.last == nil {
		mend = fmt.Sprintf("hone get %s lists the existing ones", s.kind.GVR.Resource)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
		defer cancel()
		if _, err := s.wait.Client.Get(ctx, s.kind, s.name); err != nil {
			if p, ok := problem.Of(err); ok {
				mend = p.Mend
			}
		}
	}
	return problem.New(summary, mend)
}
