package deploy

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// RecordsFor returns what the ledger should hold about objects (the result of Inject) that are about to be applied.
func RecordsFor(objects []*unstructured.Unstructured) []ObjectRecord {
	records := make([]ObjectRecord, len(objects))
	for i, o := range objects {
		records[i] = ObjectRecord{ObjectID: IDOf(o), APIVersion: o.GetAPIVersion()}
	}
	return records
}

// CollectRequest names the resource whose leftovers are to be collected.
type CollectRequest struct {
	Ledger   *Ledger
	Resource model.ManifestName
	// Applied is everything that the resource consists of now: the result of an Apply without an error.
	Applied []model.AppliedObject
	// Command deletes the foreign objects among Applied; empty when there are none.
	Command model.Cmd
	// Owner says which resource declares an object now, if any does. What another one declares is handed over to it instead
	// of being deleted; nil: none does.
	Owner func(model.ObjectID) (model.ManifestName, bool)
	// RunID, when set, restricts the collection to objects that the session of this id changed last; the others stay recorded.
	RunID string
	// Project restricts the collection to objects that carry its label.
	Project string
	// WaitLimit is for how long to wait for the leftovers to vanish. Zero means not to wait: what is still there is recorded as
	// leaving. In any case it stays in the ledger, and the next collection looks at it again.
	WaitLimit time.Duration
	// Timeout bounds each request to the API server; zero means 30 s.
	Timeout time.Duration
	Logger  logstore.Logger
}

// Collect deletes the objects that the ledger has for the resource and that it no longer declares, unless another
// resource owns them now, and then records what the resource consists of. It must be called only after a successful
// Apply of the whole resource. Namespaces, volumes and definitions of kinds are never collected: their records stay, so
// that Delete can still find them. The error tells what could not be collected yet; the ledger is right in any case.
func (a *Applier) Collect(ctx context.Context, req CollectRequest) error {
	if req.Logger == nil {
		req.Logger = logstore.Discard
	}
	leftovers, err := req.Ledger.leftovers(req.Resource, req.Applied)
	if err != nil {
		return err
	}
	if len(leftovers) == 0 {
		return req.Ledger.set(req.Resource, recordsOf(req.Applied), req.Command)
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
		if protected(r.ObjectID) {
			logstore.Debugf(req.Logger, "%s is no longer declared: kept until hone down", title(r.ObjectID))
			continue
		}
		refs = append(refs, ObjectRef{ObjectID: r.ObjectID, UID: r.UID})
	}
	if len(refs) > 0 {
		logstore.Infof(req.Logger, "Collecting what %s no longer declares:", req.Resource)
		err = a.Delete(ctx, DeleteRequest{Objects: refs, Project: req.Project, Wait: req.WaitLimit > 0, WaitLimit: req.WaitLimit, Look: req.WaitLimit <= 0,
			Timeout: req.Timeout, Logger: req.Logger, RunID: req.RunID, Done: func(ref ObjectRef, outcome DeleteOutcome) {
				switch outcome {
				case OutcomeElsewhere:
				case OutcomeGoing:
					leaving[ref.ObjectID] = true
				default:
					delete(stays, ref.ObjectID)
				}
			}})
	}
	records := recordsOf(req.Applied)
	for _, r := range leftovers {
		if stays[r.ObjectID] {
			r.Leaving = leaving[r.ObjectID]
			records = append(records, r)
		}
	}
	if setErr := req.Ledger.set(req.Resource, records, req.Command); setErr != nil {
		return setErr
	}
	if err != nil {
		return fmt.Errorf("collect leftovers of %s: %w", req.Resource, err)
	}
	return nil
}

// unowned returns the leftovers that no resource declares: in the meantime others may have recorded them, and what others
// declare but have not deployed yet is handed over to them. The leftovers are claimed.
func (req CollectRequest) unowned() ([]ObjectRecord, error) {
	leftovers, err := req.Ledger.leftovers(req.Resource, req.Applied)
	if err != nil || req.Owner == nil {
		return leftovers, err
	}
	to := map[model.ObjectID]model.ManifestName{}
	for _, r := range leftovers {
		if owner, ok := req.Owner(r.ObjectID); ok && owner != req.Resource {
			to[r.ObjectID] = owner
		}
	}
	if len(to) == 0 {
		return leftovers, nil
	}
	if err := req.Ledger.HandOver(req.Resource, to); err != nil {
		return nil, err
	}
	return dropped(leftovers, func(r ObjectRecord) bool { return to[r.ObjectID] != "" }), nil
}

// protected reports whether an object is deleted only when the user says so, because more goes with it than itself.
func protected(id model.ObjectID) bool {
	_, ok := irreplaceable[id.Kind]
	return ok && builtinGroup(id.Group)
}

// leftoversOf returns the records of a resource that are not among what it applied nor any other resource's. Objects that the
// user's command applied are never left over: the user's delete command deletes them.
func leftoversOf(resource model.ManifestName, applied []model.AppliedObject, all records) []ObjectRecord {
	owned := map[model.ObjectID]bool{}
	anywhere := map[model.ObjectID]bool{} // applied for the whole cluster, whatever namespace was recorded before
	for _, o := range applied {
		owned[o.ObjectID] = true
		if o.Namespace == "" {
			anywhere[o.ObjectID] = true
		}
	}
	left := dropped(all[resource], func(r ObjectRecord) bool {
		root := r.ObjectID
		root.Namespace = ""
		return r.Foreign || owned[r.ObjectID] || anywhere[root]
	})
	if len(left) == 0 {
		return nil
	}
	clear(owned)
	for name, list := range all {
		for _, r := range list {
			if name != resource {
				owned[r.ObjectID] = true
			}
		}
	}
	return dropped(left, func(r ObjectRecord) bool { return owned[r.ObjectID] })
}
