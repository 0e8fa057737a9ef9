package deploy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// RecordsFor returns the ledger records for objects (the result of Inject) that are about to be applied.
func RecordsFor(objects []*unstructured.Unstructured) []ledger.Record {
	records := make([]ledger.Record, len(objects))
	for i, o := range objects {
		records[i] = ledger.Record{ObjectID: IDOf(o), APIVersion: o.GetAPIVersion(), Foreign: readOnly(o)}
	}
	return records
}

// CollectRequest names the resource whose leftovers to collect.
type CollectRequest struct {
	Memory   *Memory
	Resource model.ManifestName
	// Applied are all objects of the resource now: the result of a successful Apply.
	Applied []model.AppliedObject
	// Command deletes the foreign objects among Applied; empty if there are none.
	Command model.Cmd
	// Owner returns the resource that now declares an object, if any. An object that another resource declares is
	// passed to it instead of being deleted. Nil means that no resource declares any.
	Owner func(model.ObjectID) (model.ManifestName, bool)
	// RunID, if set, returns the ID of a session: the collection is restricted to objects that it changed last, and the others stay
	// recorded. An empty one restricts nothing. It is called only if there are leftovers.
	RunID func() string
	// Declined are declared objects that were not applied on purpose. Their records stay as they are.
	Declined []model.ObjectID
	// AtOnce deletes leftovers that serve although the applied workloads are not ready: their readiness does not matter.
	AtOnce bool
	// Keep returns the reason why nothing is collected, so that the leftovers stay recorded; empty if nothing keeps them, as with
	// a nil Keep. It is called only if there are leftovers.
	Keep func() string
	// AtRest reports whether the declarations are final. Otherwise the leftovers stay, recorded as leaving. Nil means that they
	// are final. It is called only if there are leftovers.
	AtRest func() bool
	// Project restricts the collection to objects that carry its label.
	Project string
	// WaitLimit bounds the wait for the leftovers to vanish. Zero means not to wait: remaining objects are recorded as leaving. In
	// both cases they stay in the ledger, and the next collection checks them again.
	WaitLimit time.Duration
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	Logger  logstore.Logger
}

// Collect deletes the recorded objects that the resource no longer declares, unless another resource owns them now. It then
// records the current objects of the resource. It must be called only after a successful Apply of the whole resource. Namespaces,
// volumes and definitions of kinds are never collected: their records stay, so that Delete can still find them. If a leftover has
// pods that serve, all leftovers stay, recorded as leaving, until the applied workloads are ready, unless AtOnce is set. The error
// names the objects that could not be collected yet; the ledger is correct in any case.
func (a *Applier) Collect(ctx context.Context, req CollectRequest) error {
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	if req.Timeout <= 0 {
		req.Timeout = model.DefaultUpdateSettings.UpsertTimeout
	}
	leftovers, err := req.Memory.Leftovers(req.Resource, req.Applied)
	if err != nil {
		return err
	}
	now := ledger.Of(req.Applied)
	for _, r := range leftovers {
		if slices.Contains(req.Declined, r.ObjectID) {
			now = append(now, r)
		}
	}
	if leftovers = req.undeclared(leftovers); len(leftovers) == 0 {
		return req.Memory.Replace(req.Resource, now, req.Command)
	}
	later, keep, run := false, "", ""
	if req.RunID != nil {
		run = req.RunID()
	}
	if req.Keep != nil {
		keep = req.Keep()
	}
	switch {
	case keep != "":
	case req.AtRest != nil && !req.AtRest():
		later = true
	case !req.AtOnce:
		if later, err = a.keepUntilReady(ctx, req, leftovers); err != nil {
			return err
		}
	}
	held, err := a.Claim(ctx, leftovers)
	if err != nil {
		return err
	}
	defer held.Release()
	if leftovers, err = req.unowned(); err != nil {
		return err
	}
	refs := make([]ObjectRef, 0, len(leftovers))
	stays, leaving := map[model.ObjectID]bool{}, map[model.ObjectID]bool{}
	for _, r := range leftovers {
		stays[r.ObjectID] = true
		if d := leftover(r.ObjectID, req.Resource, nil); d.outcome == OutcomeKept {
			logstore.Debugf(req.Logger, "%s is no longer declared: %s", title(r.ObjectID), d.why)
			continue
		}
		if keep != "" {
			logstore.Warnf(req.Logger, "%s, which is no longer declared, is kept: %s", title(r.ObjectID), keep)
			leaving[r.ObjectID] = r.Leaving
			continue
		}
		if later {
			leaving[r.ObjectID] = true
			continue
		}
		refs = append(refs, ObjectRef{ObjectID: r.ObjectID, UID: r.UID})
	}
	if len(refs) > 0 {
		logstore.Infof(req.Logger, "Collecting what %s no longer declares:", req.Resource)
		err = a.Delete(ctx, DeleteRequest{Objects: refs, Project: req.Project, Found: req.Memory, Wait: req.WaitLimit > 0, WaitLimit: req.WaitLimit, Look: req.WaitLimit <= 0,
			Timeout: req.Timeout, Logger: req.Logger, RunID: run, Done: func(ref ObjectRef, outcome DeleteOutcome) {
				switch outcome {
				case OutcomeElsewhere:
				case OutcomeGoing:
					leaving[ref.ObjectID] = true
				default:
					delete(stays, ref.ObjectID)
				}
			}})
	}
	for _, r := range leftovers {
		if stays[r.ObjectID] {
			r.Leaving = leaving[r.ObjectID]
			now = append(now, r)
		}
	}
	if setErr := req.Memory.Replace(req.Resource, now, req.Command); setErr != nil {
		return setErr
	}
	if err != nil {
		return fmt.Errorf("collect leftovers of %s: %w", req.Resource, err)
	}
	return nil
}

// undeclared returns the leftovers without the objects that were not applied on purpose, which the caller has claimed.
func (req CollectRequest) undeclared(leftovers []ledger.Record) []ledger.Record {
	return ledger.Without(leftovers, func(r ledger.Record) bool { return slices.Contains(req.Declined, r.ObjectID) })
}

// unowned returns the leftovers that no resource declares. Other resources may have recorded some of them meanwhile.
// Leftovers that other resources declare but have not deployed yet are passed to them. The leftovers must be claimed.
func (req CollectRequest) unowned() ([]ledger.Record, error) {
	leftovers, err := req.Memory.Leftovers(req.Resource, req.Applied)
	leftovers = req.undeclared(leftovers)
	if err != nil || req.Owner == nil {
		return leftovers, err
	}
	to := map[model.ObjectID]model.ManifestName{}
	for _, r := range leftovers {
		if d := leftover(r.ObjectID, req.Resource, req.Owner); d.plan == api.ActionHandOver {
			to[r.ObjectID] = d.to
		}
	}
	if len(to) == 0 {
		return leftovers, nil
	}
	if err := req.Memory.HandOver(req.Resource, to); err != nil {
		return nil, err
	}
	return ledger.Without(leftovers, func(r ledger.Record) bool { return to[r.ObjectID] != "" }), nil
}

// protected reports whether an object is deleted only on the user's request, because its deletion also removes other
// data.
func protected(id model.ObjectID) bool {
	_, ok := irreplaceable[id.Kind]
	return ok && model.BuiltinGroup(id.Group)
}
