package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/pkg/model"
)

// LedgerKey names the ledger of one project in one cluster.
type LedgerKey struct {
	// Cluster is the UID of the namespace kube-system, so that a cluster that was recreated under the same name does
	// not inherit the records of its predecessor. If the user may not read that namespace, it is another name that
	// stays the same for the cluster's lifetime.
	Cluster string
	// Project is the ID of a project.
	Project string
}

// ObjectRecord is the ledger's record of an object: its identity, never its content.
type ObjectRecord struct {
	model.ObjectID
	APIVersion string
	// UID is empty until the object has been applied.
	UID string
	// Foreign objects were applied by the user's command, and only the user's delete command deletes them.
	Foreign bool
	// Leaving objects are no longer part of the resource. Their deletion was requested, or is put off until their replacements are
	// ready.
	Leaving bool
	// Fresh is set for a workload that is new to the ledger and was not seen ready yet: the workload that it replaces may have to
	// wait for it.
	Fresh bool
}

// Stays reports whether hone has applied the object, and it is not about to go.
func (r ObjectRecord) Stays() bool { return !r.Foreign && !r.Leaving && r.UID != "" }

// Ledger records in a file which objects each resource of a project applied, so that later sessions can collect
// leftovers and delete objects that the Tiltfile no longer declares. Every change is written before the call returns.
// It is safe for use by several goroutines and by several processes on one machine.
type Ledger struct {
	path string
	key  LedgerKey

	mu sync.Mutex // held while the file is read and written

	waitMu  sync.Mutex
	waiting []*ledgerEdit // guarded by waitMu; edits that wait for mu

	// known is the content of the file at the version that info describes. Guarded by mu; the content itself is never
	// changed.
	known content
	info  fs.FileInfo
}

// content is the content of a ledger.
type content struct {
	objects records
	// commands are the delete commands of resources that a user's command deployed, and the down commands of local resources.
	commands map[model.ManifestName]model.Cmd
	// deps are the dependencies of resources that were recorded with a command, by the resource of the command.
	deps map[model.ManifestName]Deps
	// ran are digests of the commands that ran last, by resource; see Ran.
	ran map[model.ManifestName]string
	// stale is set if the file has to be rewritten although nothing has changed.
	stale bool
}

// Deps maps resources to their dependencies.
type Deps = map[model.ManifestName][]model.ManifestName

func (c content) clone() content {
	return content{objects: maps.Clone(c.objects), commands: maps.Clone(c.commands), deps: maps.Clone(c.deps), ran: maps.Clone(c.ran)}
}

func (c content) equal(o content) bool {
	return maps.EqualFunc(c.objects, o.objects, slices.Equal) && maps.EqualFunc(c.commands, o.commands, model.Cmd.Equal) &&
		maps.Equal(c.ran, o.ran) && maps.EqualFunc(c.deps, o.deps, func(a, b Deps) bool { return maps.EqualFunc(a, b, slices.Equal) })
}

func emptyContent() content {
	return content{objects: records{}, commands: map[model.ManifestName]model.Cmd{}, deps: map[model.ManifestName]Deps{}, ran: map[model.ManifestName]string{}}
}

// ledgerEdit is a change of the ledger and the channel for its result.
type ledgerEdit struct {
	edit func(content)
	done chan error
}

// records are the records of each resource.
type records = map[model.ManifestName][]ObjectRecord

// Open reads the ledger of key from dir, which it creates if necessary; hone keeps it in $XDG_STATE_HOME/hone/ledger. A
// missing file is an empty ledger. A damaged file is a problem and stays unchanged.
func Open(dir string, key LedgerKey) (*Ledger, error) {
	if key.Cluster == "" || key.Project == "" || strings.ContainsAny(key.Cluster+key.Project, `/\`) {
		return nil, fmt.Errorf("ledger key %+v: cluster and project must be set and free of slashes", key)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the ledger's folder: %w", err)
	}
	if err := sealAll(dir); err != nil {
		return nil, err
	}
	l := &Ledger{key: key, path: ledgerPath(dir, key)}
	if _, err := l.current(); err != nil {
		return nil, err
	}
	return l, nil
}

func ledgerPath(dir string, key LedgerKey) string {
	return filepath.Join(dir, key.Cluster+"-"+key.Project+".json")
}

// Path returns the file that holds the ledger.
func (l *Ledger) Path() string { return l.path }

// Record adds objects to a resource's records before they are touched. Known UIDs stay. An object has one owner:
// records that other resources have of it pass to this one, so that those no longer delete it. Foreign records stay
// where they are, because only their command deletes those objects.
func (l *Ledger) Record(resource model.ManifestName, objects []ObjectRecord) error {
	return l.RecordAll(records{resource: objects})
}

// RecordAll is Record for several resources at once, which writes only once.
func (l *Ledger) RecordAll(objects map[model.ManifestName][]ObjectRecord) error {
	return l.change(func(c content) {
		for _, resource := range slices.Sorted(maps.Keys(objects)) {
			list := objects[resource]
			have := recorded(c.objects[resource], passed(c.objects, resource, list))
			c.objects[resource] = recorded(have, list)
		}
	})
}

// passed removes the given objects from the records of the other resources and returns the removed records.
func passed(m records, to model.ManifestName, objects []ObjectRecord) []ObjectRecord {
	var taken []ObjectRecord
	for other, list := range m {
		if other == to {
			continue
		}
		m[other] = dropped(list, func(r ObjectRecord) bool {
			mine := !r.Foreign && slices.ContainsFunc(objects, func(o ObjectRecord) bool { return o.ObjectID == r.ObjectID })
			if mine {
				taken = append(taken, r)
			}
			return mine
		})
	}
	return taken
}

// HandOver moves records from one resource to others, which now declare the objects.
func (l *Ledger) HandOver(from model.ManifestName, to map[model.ObjectID]model.ManifestName) error {
	return l.change(func(c content) {
		for _, r := range c.objects[from] {
			if owner, ok := to[r.ObjectID]; ok && owner != from {
				c.objects[owner] = recorded(c.objects[owner], []ObjectRecord{r})
			}
		}
		c.objects[from] = dropped(c.objects[from], func(r ObjectRecord) bool {
			owner, ok := to[r.ObjectID]
			return ok && owner != from
		})
	})
}

// HandOverCommand moves the delete command of a resource, and the records of its objects, to the resource that the same
// command now deploys.
func (l *Ledger) HandOverCommand(from, to model.ManifestName) error {
	return l.change(func(c content) {
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
		foreign := func(r ObjectRecord) bool { return r.Foreign }
		c.objects[to] = recorded(c.objects[to], slices.DeleteFunc(slices.Clone(c.objects[from]), func(r ObjectRecord) bool { return !r.Foreign }))
		c.objects[from] = dropped(c.objects[from], foreign)
	})
}

// recorded returns have with more added to it. The added objects are no longer leaving.
func recorded(have, more []ObjectRecord) []ObjectRecord {
	have = slices.Clone(have)
	for _, o := range more {
		o.Leaving = false
		i := slices.IndexFunc(have, func(r ObjectRecord) bool { return r.ObjectID == o.ObjectID })
		if i < 0 {
			have = append(have, o)
		} else if have[i].Leaving = false; o.UID != "" {
			have[i] = o
		}
	}
	return have
}

// Set replaces a resource's records with the applied objects. Other resources lose the records of these objects: an
// object has one owner. Without objects the resource is removed from the ledger.
func (l *Ledger) Set(resource model.ManifestName, applied []model.AppliedObject) error {
	return l.set(resource, recordsOf(applied), model.Cmd{})
}

// RecordCommand records, before the deployment, that a user's command deploys the resource, and which command deletes
// it.
func (l *Ledger) RecordCommand(resource model.ManifestName, del model.Cmd) error {
	return l.change(func(c content) { c.commands[resource] = del })
}

// RecordDown records the down command of a resource, before anything runs that it has to undo, and the dependencies that decide
// when it runs: the dependencies of the resource itself, and of the resources around it.
func (l *Ledger) RecordDown(resource model.ManifestName, down model.Cmd, deps Deps) error {
	return l.change(func(c content) { c.commands[resource], c.deps[resource] = down, deps })
}

// CommandDeps returns the dependencies that were recorded with commands, by the resource of the command.
func (l *Ledger) CommandDeps() (map[model.ManifestName]Deps, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.current()
	return maps.Clone(c.deps), err
}

// ForgetCommand drops the delete command of a resource, and the records of its objects.
func (l *Ledger) ForgetCommand(resource model.ManifestName) error {
	return l.change(func(c content) {
		delete(c.commands, resource)
		delete(c.ran, resource)
		c.objects[resource] = dropped(c.objects[resource], func(r ObjectRecord) bool { return r.Foreign })
	})
}

// Commands returns the delete commands in the file, by resource. A variable whose value can no longer be read is only a
// name in the command's Env. The caller owns the result.
func (l *Ledger) Commands() (map[model.ManifestName]model.Cmd, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.current()
	return maps.Clone(c.commands), err
}

func recordsOf(applied []model.AppliedObject) []ObjectRecord {
	list := make([]ObjectRecord, len(applied))
	for i, o := range applied {
		list[i] = ObjectRecord{ObjectID: o.ObjectID, APIVersion: o.APIVersion, UID: o.UID, Foreign: o.Foreign}
	}
	return list
}

// set replaces the records and the command of a resource. The command, if any, deletes the foreign objects in the list.
func (l *Ledger) set(resource model.ManifestName, list []ObjectRecord, command model.Cmd) error {
	return l.change(func(c content) {
		m := c.objects
		mine := map[model.ObjectID]bool{}
		for _, r := range list {
			mine[r.ObjectID] = true
		}
		list := markFresh(m, list)
		for other, list := range m {
			if other != resource {
				m[other] = dropped(list, func(r ObjectRecord) bool { return mine[r.ObjectID] })
			}
		}
		m[resource] = list
		delete(c.commands, resource)
		if !command.Empty() {
			c.commands[resource] = command
		}
	})
}

// markFresh returns the records of a resource after a deploy, with the workloads that are new to the ledger marked.
func markFresh(before records, list []ObjectRecord) []ObjectRecord {
	serving := map[model.ObjectID]int{}
	for i, r := range list {
		if r.Stays() && Serves(r.ObjectID) {
			serving[r.ObjectID] = i
		}
	}
	if len(serving) == 0 {
		return list
	}
	known := map[model.ObjectID]ObjectRecord{}
	for _, all := range before {
		for _, r := range all {
			if _, ok := serving[r.ObjectID]; ok {
				known[r.ObjectID] = r
			}
		}
	}
	list = slices.Clone(list)
	for id, i := range serving {
		was := known[id]
		list[i].Fresh = was.UID != list[i].UID || was.Fresh
	}
	return list
}

// SeenReady notes that workloads of a resource are ready.
func (l *Ledger) SeenReady(resource model.ManifestName, ids []model.ObjectID) error {
	return l.change(func(c content) {
		list := slices.Clone(c.objects[resource])
		for i := range list {
			list[i].Fresh = list[i].Fresh && !slices.Contains(ids, list[i].ObjectID)
		}
		c.objects[resource] = list
	})
}

// dropped returns list without the records that gone matches.
func dropped(list []ObjectRecord, gone func(ObjectRecord) bool) []ObjectRecord {
	if !slices.ContainsFunc(list, gone) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// Resources returns all records in the file, by resource, including the records of other processes. A resource that a command
// deploys is included even if its objects are not known. The caller owns the result.
func (l *Ledger) Resources() (map[model.ManifestName][]ObjectRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.current()
	if err != nil {
		return nil, err
	}
	out := make(records, len(m.objects))
	for name := range m.commands {
		out[name] = nil
	}
	for name, list := range m.objects {
		out[name] = slices.Clone(list)
	}
	return out, nil
}

// leftovers returns the records of a resource that are neither among its applied objects nor recorded for another
// resource.
func (l *Ledger) leftovers(resource model.ManifestName, applied []model.AppliedObject) ([]ObjectRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.current()
	if err != nil {
		return nil, err
	}
	return leftoversOf(resource, applied, m.objects), nil
}

// Remove drops records of a resource: the records of the given objects, or, if none is given, all of them and the delete command.
func (l *Ledger) Remove(resource model.ManifestName, objects ...model.ObjectID) error {
	return l.change(func(c content) {
		m := c.objects
		if len(objects) == 0 {
			delete(m, resource)
			delete(c.commands, resource)
			delete(c.ran, resource)
			return
		}
		m[resource] = dropped(m[resource], func(r ObjectRecord) bool { return slices.Contains(objects, r.ObjectID) })
	})
}

// Drop drops the records of objects that are gone. A record with another UID belongs to a new object, and stays.
func (l *Ledger) Drop(resource model.ManifestName, gone []ObjectRef) error {
	return l.change(func(c content) {
		c.objects[resource] = dropped(c.objects[resource], func(r ObjectRecord) bool {
			return slices.ContainsFunc(gone, func(g ObjectRef) bool { return g.ObjectID == r.ObjectID && g.UID == r.UID })
		})
	})
}

// change edits the newest content of the file and writes it back if it differs. Edits that arrive while the file is
// being written share the next write, because syncing a file to the disk takes longer than everything else. edit may
// replace the lists in the maps that it gets, but must not change them.
func (l *Ledger) change(edit func(content)) error {
	mine := &ledgerEdit{edit: edit, done: make(chan error, 1)}
	l.waitMu.Lock()
	l.waiting = append(l.waiting, mine)
	l.waitMu.Unlock()

	l.mu.Lock()
	defer l.mu.Unlock()
	l.waitMu.Lock()
	all := l.waiting
	l.waiting = nil
	l.waitMu.Unlock()
	if len(all) > 0 { // otherwise another goroutine has written mine with its own
		err := l.changeAll(all)
		for _, e := range all {
			e.done <- err
		}
	}
	return <-mine.done
}

// changeAll applies several edits with one write. l.mu is held.
func (l *Ledger) changeAll(edits []*ledgerEdit) error {
	unlock, err := lockBeside(l.path)
	if err != nil {
		return fmt.Errorf("lock the ledger: %w", err)
	}
	defer unlock()
	before, err := l.current()
	if err != nil {
		return err
	}
	after := before.clone()
	for _, e := range edits {
		e.edit(after)
	}
	tidy(after.objects)
	maps.DeleteFunc(after.deps, func(name model.ManifestName, _ Deps) bool {
		_, ok := after.commands[name]
		return !ok
	})
	if before.equal(after) && !before.stale {
		return nil
	}
	if err := l.write(after); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	if err := l.forget(before, after); err != nil {
		return err
	}
	l.known, l.info = after, nil
	if info, err := os.Stat(l.path); err == nil {
		l.info = info
	}
	return nil
}

// tidy drops resources without records and sorts the rest, so that equal ledgers give equal files.
func tidy(m records) {
	byID := func(a, b ObjectRecord) int {
		return cmp.Or(compareIDs(a.ObjectID, b.ObjectID), cmp.Compare(a.UID, b.UID))
	}
	for name, list := range m {
		switch {
		case len(list) == 0:
			delete(m, name)
		case !slices.IsSortedFunc(list, byID):
			m[name] = slices.SortedFunc(slices.Values(list), byID)
		}
	}
}

// untouched reports whether nothing has written to a file, or replaced it.
func untouched(was, is os.FileInfo) bool {
	return os.SameFile(was, is) && is.ModTime().Equal(was.ModTime()) && is.Size() == was.Size()
}

// current returns the content of the file. It reads the file only if it is not the one that was last read or written:
// every write makes a new file. l.mu is held. The result must not be changed.
func (l *Ledger) current() (content, error) {
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return emptyContent(), nil
	case err != nil:
		return emptyContent(), fmt.Errorf("read the ledger: %w", err)
	}
	if l.info != nil && untouched(l.info, info) {
		return l.known, nil
	}
	known, info, err := l.read()
	if err != nil {
		return emptyContent(), err
	}
	l.known, l.info = known, info
	return known, nil
}

// read reads the file, and returns its content and its FileInfo.
func (l *Ledger) read() (content, fs.FileInfo, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return content{}, nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, nil, fmt.Errorf("read the ledger: %w", err)
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return content{}, nil, fmt.Errorf("read the ledger: %w", err)
	}
	m, err := l.parse(raw)
	return m, info, err
}
