package buildanddeploy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// RemoveRequest is the removal of a resource from the cluster.
type RemoveRequest struct {
	Resource model.ManifestName
	// Why is a relative clause for the log: "which the Tiltfile no longer declares".
	Why string
	// Undeclared is set if the Tiltfile no longer declares the resource.
	Undeclared bool
	// Declared returns the manifests that the Tiltfile declares now, which may include objects that the resource leaves behind; nil
	// means none.
	Declared func() []model.Manifest
	// Chosen reports whether the operation is about a resource; nil means all.
	Chosen func(model.ManifestName) bool
	// Settled, unless nil, waits until the declarations are final. It is called before they decide which objects are deleted.
	Settled func(context.Context) error
	// Namespace is for objects that are declared without one.
	Namespace string
	// Removal says whether the user has asked for it.
	Removal deploy.Removal
	// Enough, unless nil, ends the wait for the deletion of objects when it is done: the resource comes back. Objects
	// that still exist stay recorded.
	Enough context.Context
	Log    logstore.Logger
}

// returned reports whether the resource has come back, as the given kind, since its removal began: a removal may have waited for its
// turn, for replacements, or for another operation on the same objects.
func (req RemoveRequest) returned(same func(model.Manifest) bool) bool {
	if !req.Undeclared {
		return req.Enough != nil && req.Enough.Err() != nil
	}
	return req.Declared != nil && slices.ContainsFunc(req.Declared(), func(m model.Manifest) bool { return m.Name == req.Resource && same(m) })
}

// declaredNow returns the request with the declarations of this moment.
func (req RemoveRequest) declaredNow() RemoveRequest {
	if req.Declared != nil {
		now := req.Declared()
		req.Declared = func() []model.Manifest { return now }
	}
	return req
}

// settle waits until the declarations are final.
func (req RemoveRequest) settle(ctx context.Context) error {
	if req.Settled == nil {
		return nil
	}
	return req.Settled(ctx)
}

// Remove deletes the objects that the ledger holds for a resource, and then its records. Objects that another resource
// declares are not deleted: their records pass to that one. Objects that a command of the user deployed are deleted by
// the user's delete command, unless another resource is deployed by the same commands now.
//
// The objects of a resource that the Tiltfile no longer declares stay until the workloads that take the place of its own are ready.
// If the resource comes back meanwhile, its objects stay.
//
// It returns the resources whose objects a delete command may also have deleted, and which have to be deployed again.
func (c *Cluster) Remove(ctx context.Context, req RemoveRequest) (bereft []model.ManifestName, err error) {
	ctx, done, err := c.hold(patiently(ctx, req.Log), req.Log)
	if err != nil {
		return nil, err
	}
	defer done()
	memory, _, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	held, err := c.claimReplaced(ctx, memory, &req)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if req.returned(model.Manifest.IsK8s) {
		return nil, nil // its next deploy deletes the objects that it no longer includes
	}
	mine, bereft, err := c.clear(ctx, memory, req)
	if err != nil || len(mine) == 0 {
		return bereft, err
	}
	records := map[model.ManifestName][]ledger.Record{req.Resource: mine}
	if req.Enough != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(req.Enough, cancel)()
	}
	return bereft, c.delete(ctx, memory, DeleteOptions{Wait: true, RunID: c.ownRun(ctx), Removal: req.Removal},
		deploy.DeleteRequest{Accepted: held.Free, Logger: req.Log}, records)
}

// claimReplaced claims the objects of a resource once their replacements are ready and the declarations are final. Other replacements
// may have been declared during the wait: they are awaited, too. From then on the request has the declarations that the replacements
// belong to.
func (c *Cluster) claimReplaced(ctx context.Context, memory *deploy.Memory, req *RemoveRequest) (*deploy.Held, error) {
	for {
		if err := c.awaitReplacements(ctx, memory, *req); err != nil {
			return nil, err
		}
		if err := req.settle(ctx); err != nil {
			return nil, err
		}
		all, err := memory.Resources()
		if err != nil {
			return nil, err
		}
		held, err := c.applier.Claim(ctx, all[req.Resource])
		if err != nil {
			return nil, err
		}
		final := req.declaredNow()
		late, err := c.replacements(ctx, memory, final)
		if err == nil && len(late) == 0 {
			*req = final
			return held, nil
		}
		held.Release()
		if err != nil {
			return nil, err
		}
	}
}

// clear hands over the objects and the commands that other resources have now, and runs the delete command of the resource if it still has one. It returns
// the records of the objects that hone itself has to delete then.
func (c *Cluster) clear(ctx context.Context, memory *deploy.Memory, req RemoveRequest) (mine []ledger.Record, bereft []model.ManifestName, err error) {
	owner := c.owner(ctx, req.Declared, req.Resource, req.Namespace)
	if err := c.handOver(memory, req, owner); err != nil {
		return nil, nil, err
	}
	all, err := memory.Resources()
	if err != nil {
		return nil, nil, err
	}
	mine, exists := all[req.Resource]
	if !exists {
		return nil, nil, nil
	}
	if req.Undeclared {
		if why := c.prune.keeps(ctx, c, memory, req.Declared, req.Chosen, req.Namespace); why != "" {
			logstore.Warnf(req.Log, "The objects of %s, %s, are kept: %s", req.Resource, req.Why, why)
			return nil, nil, nil
		}
	}
	commands, err := memory.Commands()
	if err != nil {
		return nil, nil, err
	}
	_, byCommand := commands[req.Resource]
	announce(req, mine, byCommand)
	bereft, err = c.removeByCommand(ctx, byCommand, req, mine, owner)
	return mine, bereft, err
}

// announce logs which objects of a resource are deleted, and which stay because neither hone nor a command of the user may delete
// them: read-only ones, and objects of a command without a delete command.
func announce(req RemoveRequest, records []ledger.Record, byCommand bool) {
	var going, staying []ledger.Record
	for _, r := range records {
		if r.Foreign && !byCommand {
			staying = append(staying, r)
		} else {
			going = append(going, r)
		}
	}
	if len(going) > 0 || len(staying) == 0 {
		logstore.Infof(req.Log, "Deleting the objects of %s, %s%s", req.Resource, req.Why, listed(going))
	}
	if len(staying) > 0 {
		logstore.Infof(req.Log, "Objects of %s, %s, stay, because hone did not make them%s", req.Resource, req.Why, listed(staying))
	}
}

// listed names objects after a clause, as the last part of a sentence; empty for none.
func listed(records []ledger.Record) string {
	names := make([]string, len(records))
	for i, r := range records {
		names[i] = strings.ToLower(r.Kind) + "/" + r.Name
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + words.List(names, "object")
}

// Prune deletes the recorded objects of the chosen resources that no resource declares now, and waits until they are gone. Objects
// that hold data or other objects stay, as do objects that a command of a declared resource deployed.
func (c *Cluster) Prune(ctx context.Context, declared []model.Manifest, chosen func(model.ManifestName) bool, namespace string, log logstore.Logger) error {
	ctx, done, err := c.hold(patiently(ctx, log), log)
	if err != nil {
		return err
	}
	defer done()
	memory, all, err := c.recorded(ctx)
	if err != nil {
		return err
	}
	known := map[model.ManifestName]bool{}
	for _, m := range declared {
		known[m.Name] = m.IsK8s()
	}
	all = maps.Collect(func(yield func(model.ManifestName, []ledger.Record) bool) {
		for name, list := range all {
			if chosen(name) && !yield(name, list) {
				return
			}
		}
	})
	list := func() []model.Manifest { return declared }
	owner := c.owner(ctx, list, "", namespace)
	held, err := c.applier.Claim(ctx, slices.Concat(slices.Collect(maps.Values(all))...))
	if err != nil {
		return err
	}
	defer held.Release()
	left := map[model.ManifestName][]ledger.Record{} // is deleted at once
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !known[name] {
			mine, _, err := c.clear(ctx, memory, RemoveRequest{Resource: name, Why: "which the Tiltfile no longer declares", Declared: list, Namespace: namespace, Log: log})
			if err == nil {
				left[name] = mine
			}
			errs = append(errs, err)
			continue
		}
		left[name] = slices.DeleteFunc(slices.Clone(all[name]), func(r ledger.Record) bool {
			return r.Foreign || isDeclared(owner, r.ObjectID)
		})
	}
	errs = append(errs, c.delete(ctx, memory, DeleteOptions{Wait: true, Removal: deploy.RemovalAsked}, deploy.DeleteRequest{Accepted: held.Free, Logger: log}, left))
	return errors.Join(errs...)
}

// Leaving returns the resources with objects that are no longer part of them, but still existed after their last deploy.
func (c *Cluster) Leaving(ctx context.Context) ([]model.ManifestName, error) {
	_, all, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	var names []model.ManifestName
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(leaving(all[name])) > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

func leaving(list []ledger.Record) []ledger.Record {
	return slices.DeleteFunc(slices.Clone(list), func(r ledger.Record) bool { return !r.Leaving })
}

// Finish deletes the objects that are no longer part of a resource, once its workloads are ready, waits until they are gone, and
// then drops their records. Objects that are declared again stay.
func (c *Cluster) Finish(ctx context.Context, req RemoveRequest) error {
	ctx = patiently(ctx, req.Log)
	memory, err := c.Ledger(ctx)
	if err != nil {
		return err
	}
	if err := c.awaitOwn(ctx, memory, req.Resource); err != nil {
		return err
	}
	if err := req.settle(ctx); err != nil {
		return err
	}
	all, err := memory.Resources()
	if err != nil {
		return err
	}
	held, err := c.applier.Claim(ctx, leaving(all[req.Resource]))
	if err != nil {
		return err
	}
	defer held.Release()
	if all, err = memory.Resources(); err != nil { // a deploy may have recorded something as its own meanwhile
		return err
	}
	owner := c.owner(ctx, req.Declared, "", req.Namespace)
	left := slices.DeleteFunc(leaving(all[req.Resource]), func(r ledger.Record) bool { return isDeclared(owner, r.ObjectID) })
	return c.delete(ctx, memory, DeleteOptions{Wait: true, RunID: c.ownRun(ctx)}, deploy.DeleteRequest{Accepted: held.Free, Logger: req.Log},
		map[model.ManifestName][]ledger.Record{req.Resource: left})
}

// handOver passes the objects that other resources declare to these, and the delete command to a resource that has the same one.
func (c *Cluster) handOver(memory *deploy.Memory, req RemoveRequest, owner func(model.ObjectID) (model.ManifestName, bool)) error {
	commands, err := memory.Commands()
	if err != nil {
		return err
	}
	if cmd, ok := commands[req.Resource]; ok && req.Declared != nil {
		for _, m := range req.Declared() {
			if m.Name != req.Resource && deletesBy(m, cmd) {
				logstore.Infof(req.Log, "%s is deployed by the same commands now: nothing to delete", m.Name)
				if err := memory.HandOverCommand(req.Resource, m.Name); err != nil {
					return err
				}
				break
			}
		}
	}
	all, err := memory.Resources()
	if err != nil {
		return err
	}
	to := map[model.ObjectID]model.ManifestName{}
	for _, r := range all[req.Resource] {
		if by, ok := owner(r.ObjectID); ok && !r.Foreign {
			to[r.ObjectID] = by
		}
	}
	if len(to) == 0 {
		return nil
	}
	for _, by := range slices.Compact(slices.Sorted(maps.Values(to))) {
		logstore.Infof(req.Log, "%s declares some of its objects now: they stay", by)
	}
	return memory.HandOver(req.Resource, to)
}

// sameCommand reports whether two commands have the same arguments and folder. Their environments may differ between
// sessions.
func sameCommand(a, b model.Cmd) bool { return slices.Equal(a.Argv, b.Argv) && a.Dir == b.Dir }

// removeByCommand runs the resource's delete command, if it has one, and returns the resources that declare objects which it has
// deleted.
func (c *Cluster) removeByCommand(ctx context.Context, byCommand bool, req RemoveRequest, records []ledger.Record,
	owner func(model.ObjectID) (model.ManifestName, bool)) ([]model.ManifestName, error) {
	if !byCommand {
		return nil, nil
	}
	if err := c.runDelete(ctx, req.Resource, req.Log); err != nil {
		return nil, err
	}
	var bereft []model.ManifestName
	for _, r := range records {
		if by, ok := owner(r.ObjectID); ok && r.Foreign && !slices.Contains(bereft, by) {
			bereft = append(bereft, by)
		}
	}
	return bereft, nil
}

// owner returns a function that returns the resource, other than the given one, that declares an object now.
func (c *Cluster) owner(ctx context.Context, declared func() []model.Manifest, except model.ManifestName, namespace string) func(model.ObjectID) (model.ManifestName, bool) {
	if declared == nil {
		return func(model.ObjectID) (model.ManifestName, bool) { return "", false }
	}
	owners := sync.OnceValue(func() map[model.ObjectID]model.ManifestName {
		out, scopes := map[model.ObjectID]model.ManifestName{}, c.scopes(ctx)
		for _, m := range declared() {
			if m.K8s == nil || m.Name == except {
				continue
			}
			for _, r := range c.objects(m, namespace, scopes) {
				out[r.ObjectID] = m.Name
			}
		}
		return out
	})
	return func(id model.ObjectID) (model.ManifestName, bool) {
		name, ok := owners()[id]
		return name, ok
	}
}
