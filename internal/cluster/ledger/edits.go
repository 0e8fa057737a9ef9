package ledger

import (
	"maps"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// Record adds objects to a resource's records before they are touched. Known UIDs stay. An object has one owner:
// records that other resources have of it pass to this one, so that those no longer delete it. Foreign records stay
// where they are, because only their command deletes those objects.
func (l *Ledger) Record(resource model.ManifestName, objects []Record) error {
	return l.RecordAll(Records{resource: objects})
}

// RecordAll is Record for several resources at once, which writes only once.
func (l *Ledger) RecordAll(objects Records) error {
	if c, err := l.content(); err != nil || c.hasAll(objects) { // a session records all objects before it deploys the first ones
		return err
	}
	return l.change(func(c *content) {
		for _, resource := range slices.Sorted(maps.Keys(objects)) {
			list := objects[resource]
			have := recorded(c.objects[resource], passed(c.objects, resource, list))
			c.objects[resource] = recorded(have, list)
		}
	})
}

// HandOver moves records from one resource to others, which now declare the objects.
func (l *Ledger) HandOver(from model.ManifestName, to map[model.ObjectID]model.ManifestName) error {
	return l.change(func(c *content) {
		leaves := func(r Record) bool {
			owner, ok := to[r.ObjectID]
			return ok && owner != from
		}
		for _, r := range c.objects[from] {
			if leaves(r) {
				c.objects[to[r.ObjectID]] = recorded(c.objects[to[r.ObjectID]], []Record{r})
			}
		}
		c.objects[from] = Without(c.objects[from], leaves)
	})
}

// HandOverCommand moves the delete command of a resource, and the records of its objects, to the resource that the same
// command now deploys.
func (l *Ledger) HandOverCommand(from, to model.ManifestName) error {
	return l.change(func(c *content) {
		cmd, ok := c.commands[from]
		if !ok || from == to {
			return
		}
		if _, has := c.commands[to]; !has {
			c.commands[to] = cmd
			if ran, ok := c.ran[from]; ok {
				c.ran[to] = ran
			}
			if deps, ok := c.deps[from]; ok {
				deps = maps.Clone(deps)
				deps[to] = deps[from]
				delete(deps, from)
				c.deps[to] = deps
			}
		}
		delete(c.commands, from)
		delete(c.ran, from)
		c.objects[to] = recorded(c.objects[to], slices.DeleteFunc(slices.Clone(c.objects[from]), func(r Record) bool { return !r.Foreign }))
		c.objects[from] = Without(c.objects[from], isForeign)
	})
}

func isForeign(r Record) bool { return r.Foreign }

// Set replaces a resource's records with the applied objects. Other resources lose the records of these objects: an
// object has one owner. Without objects the resource is removed from the ledger.
func (l *Ledger) Set(resource model.ManifestName, applied []model.AppliedObject) error {
	return l.Replace(resource, Of(applied), model.Cmd{})
}

// Replace replaces the records and the command of a resource. The command, if any, deletes the foreign objects in the list.
func (l *Ledger) Replace(resource model.ManifestName, list []Record, command model.Cmd) error {
	if _, err := l.content(); err != nil || l.stands(resource, list, command) {
		return err
	}
	return l.change(func(c *content) { c.replace(resource, list, command) })
}

// replace is Replace in a content.
func (c *content) replace(resource model.ManifestName, list []Record, command model.Cmd) {
	mine := map[model.ObjectID]bool{}
	for _, r := range list {
		mine[r.ObjectID] = true
	}
	fresh := markFresh(c.objects, list)
	for other, list := range c.objects {
		if other != resource {
			c.objects[other] = Without(list, func(r Record) bool { return mine[r.ObjectID] })
		}
	}
	c.objects[resource] = fresh
	delete(c.commands, resource)
	if !command.Empty() {
		c.commands[resource] = command
	}
}

// stands reports whether Replace would change nothing, as after a deploy that has written nothing.
func (l *Ledger) stands(resource model.ManifestName, list []Record, command model.Cmd) bool {
	is := l.seen.Load()
	if is == nil || is.content.stale || l.wrote.Load() {
		return false
	}
	was, has := is.content.commands[resource]
	sameCommand := has != command.Empty() && was.Equal(command)
	if !sameCommand || len(is.content.objects[resource]) != len(list) {
		return false
	}
	return !slices.ContainsFunc(list, func(r Record) bool {
		old, known := recordOf(is.content.objects[resource], r.ObjectID)
		r.Revision = old.Revision
		if r.Stays() && r.Serves() {
			r.Fresh = old.Fresh // unless its UID differs
		}
		return !known || r != old || is.owned()[r.ObjectID].others
	})
}

// RecordCommand records, before the deployment, that a user's command deploys the resource, and which command deletes
// it.
func (l *Ledger) RecordCommand(resource model.ManifestName, del model.Cmd) error {
	return l.change(func(c *content) { c.commands[resource] = del })
}

// RecordDown records the down command of a resource, before anything runs that it has to undo, and the dependencies that decide
// when it runs: the dependencies of the resource itself, and of the resources around it.
func (l *Ledger) RecordDown(resource model.ManifestName, down model.Cmd, deps Deps) error {
	return l.change(func(c *content) { c.commands[resource], c.deps[resource] = down, deps })
}

// ForgetCommand drops the delete command of a resource, and the records of its objects.
func (l *Ledger) ForgetCommand(resource model.ManifestName) error {
	return l.change(func(c *content) {
		delete(c.commands, resource)
		delete(c.ran, resource)
		c.objects[resource] = Without(c.objects[resource], isForeign)
	})
}

// SeenReady notes that workloads of a resource are ready.
func (l *Ledger) SeenReady(resource model.ManifestName, ids []model.ObjectID) error {
	return l.change(func(c *content) {
		list := slices.Clone(c.objects[resource])
		for i := range list {
			list[i].Fresh = list[i].Fresh && !slices.Contains(ids, list[i].ObjectID)
		}
		c.objects[resource] = list
	})
}

// Remove drops records of a resource: the records of the given objects, or, if none is given, all of them and the delete command.
func (l *Ledger) Remove(resource model.ManifestName, objects ...model.ObjectID) error {
	return l.change(func(c *content) {
		if len(objects) == 0 {
			delete(c.objects, resource)
			delete(c.commands, resource)
			delete(c.ran, resource)
			return
		}
		c.objects[resource] = Without(c.objects[resource], func(r Record) bool { return slices.Contains(objects, r.ObjectID) })
	})
}

// Drop drops the records of objects that are gone, and of objects that are left to others, with one write. A record with another UID
// belongs to a new object, and stays.
func (l *Ledger) Drop(gone, left Records) error {
	return l.change(func(c *content) {
		for i, all := range []Records{gone, left} {
			for resource, list := range all {
				dropped := make(map[droppedKey]bool, len(list))
				for _, g := range list {
					dropped[droppedKey{g.ObjectID, g.UID}] = true
				}
				c.drop(resource, i == 1, func(r Record) bool { return dropped[droppedKey{r.ObjectID, r.UID}] })
			}
		}
	})
}

// LeaveToOthers drops the records of objects that stay in the cluster: of the given ones, or, if none is given, of those that the command
// of the resource has applied, with the command.
func (l *Ledger) LeaveToOthers(resource model.ManifestName, objects ...model.ObjectID) error {
	return l.change(func(c *content) {
		if len(objects) == 0 {
			delete(c.commands, resource)
			delete(c.ran, resource)
			c.drop(resource, true, isForeign)
			return
		}
		c.drop(resource, true, func(r Record) bool { return slices.Contains(objects, r.ObjectID) })
	})
}

type droppedKey struct {
	id  model.ObjectID
	uid string
}

// Resources returns all records, by resource, including the records of other processes. A resource that a command
// deploys is included even if its objects are not known. The caller owns the result.
func (l *Ledger) Resources() (Records, error) {
	c, err := l.content()
	if err != nil {
		return nil, err
	}
	out := make(Records, len(c.objects))
	for name := range c.commands {
		out[name] = nil
	}
	for name, list := range c.objects {
		out[name] = slices.Clone(list)
	}
	return out, nil
}

// Of returns the records of one resource. The caller must not change them.
func (l *Ledger) Of(resource model.ManifestName) ([]Record, error) {
	c, err := l.content()
	return c.objects[resource], err
}

// Leftovers returns the records of a resource that are neither among its applied objects nor recorded for another
// resource. Objects that the user's command applied are never leftovers.
func (l *Ledger) Leftovers(resource model.ManifestName, applied []model.AppliedObject) ([]Record, error) {
	c, err := l.content()
	if err != nil {
		return nil, err
	}
	return leftovers(resource, applied, c.objects), nil
}

// Commands returns the delete commands, by resource. A variable whose value can no longer be read is only a
// name in the command's Env. The caller owns the result.
func (l *Ledger) Commands() (map[model.ManifestName]model.Cmd, error) {
	c, err := l.content()
	return maps.Clone(c.commands), err
}

// CommandDeps returns the dependencies that were recorded with commands, by the resource of the command.
func (l *Ledger) CommandDeps() (map[model.ManifestName]Deps, error) {
	c, err := l.content()
	return maps.Clone(c.deps), err
}
