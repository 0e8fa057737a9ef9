package ledger

import (
	"maps"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// content is the content of the head. The lists in its maps are never changed, only replaced.
type content struct {
	objects Records
	// commands are the delete commands of resources that a user's command deployed, and the down commands of local resources.
	commands map[model.ManifestName]model.Cmd
	// deps are the dependencies of resources that were recorded with a command, by the resource of the command.
	deps map[model.ManifestName]Deps
	// ran are digests of the commands that ran last, by resource; see Ran.
	ran map[model.ManifestName]string
	// revisions are the newest ones, in order; the last one is the current one.
	revisions []Revision
	// write identifies the write that made this content: after a lost answer, the writer recognises its own.
	write string
	// revised is set by an edit that changes objects in the cluster, but no record.
	revised bool
	// left are the objects whose records this edit drops although they stay in the cluster.
	left map[model.ObjectID]bool
	// rekeyed is set if the document is not encrypted with the key that encrypts now.
	rekeyed bool
	// lost are the resources whose command has values that were encrypted with another key.
	lost []model.ManifestName
	// stale is set if the document has to be rewritten although nothing has changed.
	stale bool
}

// Deps maps resources to their dependencies.
type Deps = map[model.ManifestName][]model.ManifestName

func emptyContent() content {
	return content{objects: Records{}, commands: map[model.ManifestName]model.Cmd{}, deps: map[model.ManifestName]Deps{}, ran: map[model.ManifestName]string{}}
}

func (c content) clone() content {
	return content{objects: maps.Clone(c.objects), commands: maps.Clone(c.commands), deps: maps.Clone(c.deps), ran: maps.Clone(c.ran),
		revisions: slices.Clone(c.revisions), left: map[model.ObjectID]bool{}}
}

// equal reports whether two contents say the same.
func (c content) equal(o content) bool {
	switch {
	case !maps.EqualFunc(c.objects, o.objects, slices.Equal), !maps.EqualFunc(c.commands, o.commands, model.Cmd.Equal):
		return false
	case !slices.Equal(c.revisions, o.revisions), !maps.Equal(c.ran, o.ran):
		return false
	}
	return maps.EqualFunc(c.deps, o.deps, func(a, b Deps) bool { return maps.EqualFunc(a, b, slices.Equal) })
}

// sameThings reports whether two contents record the same objects and commands, whatever their state.
func (c content) sameThings(o content) bool {
	same := func(a, b []Record) bool {
		return slices.EqualFunc(a, b, func(x, y Record) bool { return x.ObjectID == y.ObjectID })
	}
	return maps.EqualFunc(c.objects, o.objects, same) && maps.EqualFunc(c.commands, o.commands, model.Cmd.Equal)
}

// tidy drops resources without records and sorts the rest, so that equal ledgers give equal documents.
func (c content) tidy() {
	for name, list := range c.objects {
		switch {
		case len(list) == 0:
			delete(c.objects, name)
		case !slices.IsSortedFunc(list, byID):
			c.objects[name] = slices.SortedFunc(slices.Values(list), byID)
		}
	}
	maps.DeleteFunc(c.deps, func(name model.ManifestName, _ Deps) bool {
		_, ok := c.commands[name]
		return !ok
	})
}

// gone returns the objects of c that have no record in after.
func (c content) gone(after content) map[model.ObjectID]bool {
	left := map[model.ObjectID]bool{}
	for name, list := range c.objects {
		if sameList(list, after.objects[name]) {
			continue // most are
		}
		for _, r := range list {
			left[r.ObjectID] = true
		}
	}
	if len(left) == 0 {
		return left
	}
	for _, list := range after.objects {
		for _, r := range list {
			delete(left, r.ObjectID)
		}
	}
	return left
}

// sameList reports whether two lists are one, which nothing has replaced.
func sameList(a, b []Record) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}

// drop drops records of a resource. left says that their objects stay in the cluster.
func (c *content) drop(resource model.ManifestName, left bool, is func(Record) bool) {
	for _, r := range c.objects[resource] {
		if left && is(r) {
			c.left[r.ObjectID] = true
		}
	}
	c.objects[resource] = Without(c.objects[resource], is)
}

// size returns the number of recorded objects.
func (c content) size() (n int) {
	for _, list := range c.objects {
		n += len(list)
	}
	return n
}

// add adds the objects, commands and revisions of old that c does not have.
func (c *content) add(old content) {
	known := map[model.ObjectID]bool{}
	for _, list := range c.objects {
		for _, r := range list {
			known[r.ObjectID] = true
		}
	}
	for name, list := range old.objects {
		more := Without(list, func(r Record) bool { return known[r.ObjectID] })
		c.objects[name] = append(slices.Clone(c.objects[name]), more...)
	}
	for name, cmd := range old.commands {
		if _, ok := c.commands[name]; !ok {
			c.commands[name] = cmd
			if deps, ok := old.deps[name]; ok {
				c.deps[name] = deps
			}
		}
	}
}
