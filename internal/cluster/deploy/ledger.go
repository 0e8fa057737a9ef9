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

// LedgerKey names one ledger: what one project keeps in one cluster.
type LedgerKey struct {
	// Cluster is the UID of the namespace kube-system, so that a cluster that was recreated under the same name does not
	// inherit the records of its predecessor. Where no namespace outside of the user's may be read, it is another name that the
	// cluster keeps while it lasts.
	Cluster string
	// Project is the ID of a project.
	Project string
}

// ObjectRecord is what the ledger keeps about an object: who it is, never what is in it.
type ObjectRecord struct {
	model.ObjectID
	APIVersion string
	// UID is empty from when the object is recorded until it has been applied.
	UID string
	// Foreign objects were applied by a command of the user, and are for the user's delete command to delete.
	Foreign bool
	// Leaving objects are no longer part of the resource, and were still there when their deletion had been asked for.
	Leaving bool
}

// Ledger remembers, in one file, which objects each resource of a project applied, so that later sessions can collect
// what is left over and take down what a Tiltfile no longer tells of. Every change is written before the call returns.
// It is safe for use by several goroutines and by several processes of one machine.
type Ledger struct {
	path string
	key  LedgerKey

	mu sync.Mutex // held while the file is read and written

	waitMu  sync.Mutex
	waiting []*ledgerEdit // guarded by waitMu; edits that wait for mu

	// known is what the file held when it was as info describes it. Guarded by mu, and never changed itself.
	known content
	info  fs.FileInfo
}

// content is what a ledger holds.
type content struct {
	objects records
	// commands delete what a command of the user deployed, by resource.
	commands map[model.ManifestName]model.Cmd
	// stale says that the file has to be written although nothing has changed.
	stale bool
}

func (c content) clone() content {
	return content{objects: maps.Clone(c.objects), commands: maps.Clone(c.commands)}
}

func (c content) equal(o content) bool {
	return maps.EqualFunc(c.objects, o.objects, slices.Equal) && maps.EqualFunc(c.commands, o.commands, model.Cmd.Equal)
}

func emptyContent() content {
	return content{objects: records{}, commands: map[model.ManifestName]model.Cmd{}}
}

// ledgerEdit is a change of the ledger and the way to tell how it went.
type ledgerEdit struct {
	edit func(content)
	done chan error
}

// records are the records of each resource.
type records = map[model.ManifestName][]ObjectRecord

// Open reads the ledger of key from dir, which is made when it does not exist; hone keeps it in
// $XDG_STATE_HOME/hone/ledger. A ledger that does not exist is empty. A file that cannot be read is a problem and is
// left as it is.
func Open(dir string, key LedgerKey) (*Ledger, error) {
	if key.Cluster == "" || key.Project == "" || strings.ContainsAny(key.Cluster+key.Project, `/\`) {
		return nil, fmt.Errorf("ledger key %+v: cluster and project must be set and free of slashes", key)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the ledger's folder: %w", err)
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

// Record adds objects to a resource's records before they are touched. UIDs that are known stay. An object has one owner:
// the records that other resources have of it pass to this one, so that they no longer delete it. Foreign records stay where
// they are, since nothing but their command deletes those objects.
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

// passed takes the given objects from the other resources' records and returns the records that these had.
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

// HandOver passes records from one resource to others, which declare the objects now.
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

// HandOverCommand passes the delete command of a resource, and the records of the objects that it is for, to the resource
// that is deployed by the same command now.
func (l *Ledger) HandOverCommand(from, to model.ManifestName) error {
	return l.change(func(c content) {
		cmd, ok := c.commands[from]
		if !ok || from == to {
			return
		}
		if _, has := c.commands[to]; !has {
			c.commands[to] = cmd
		}
		delete(c.commands, from)
		foreign := func(r ObjectRecord) bool { return r.Foreign }
		c.objects[to] = recorded(c.objects[to], slices.DeleteFunc(slices.Clone(c.objects[from]), func(r ObjectRecord) bool { return !r.Foreign }))
		c.objects[from] = dropped(c.objects[from], foreign)
	})
}

// recorded returns have with more added to it. What is recorded is not leaving any more.
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

// Set replaces a resource's records by what was applied. Other resources lose the records of these objects: an object
// has one owner. Without objects the resource leaves the ledger.
func (l *Ledger) Set(resource model.ManifestName, applied []model.AppliedObject) error {
	return l.set(resource, recordsOf(applied), model.Cmd{})
}

// RecordCommand notes, before it is deployed, that a resource is deployed by a command of the user, and which command
// deletes it.
func (l *Ledger) RecordCommand(resource model.ManifestName, del model.Cmd) error {
	return l.change(func(c content) { c.commands[resource] = del })
}

// ForgetCommand drops the delete command of a resource, and the records of the objects that it was for.
func (l *Ledger) ForgetCommand(resource model.ManifestName) error {
	return l.change(func(c content) {
		delete(c.commands, resource)
		c.objects[resource] = dropped(c.objects[resource], func(r ObjectRecord) bool { return r.Foreign })
	})
}

// Commands returns the commands that delete what commands of the user deployed, by resource, as the file has them now. A
// variable of which the value cannot be read any more is only a name in the command's Env. The result is the caller's own.
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

// set replaces what is known of a resource. The command, if there is one, deletes the foreign objects among the list.
func (l *Ledger) set(resource model.ManifestName, list []ObjectRecord, command model.Cmd) error {
	return l.change(func(c content) {
		m := c.objects
		mine := map[model.ObjectID]bool{}
		for _, r := range list {
			mine[r.ObjectID] = true
		}
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

// dropped returns list without the records that gone matches.
func dropped(list []ObjectRecord, gone func(ObjectRecord) bool) []ObjectRecord {
	if !slices.ContainsFunc(list, gone) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// Resources returns all records, by resource, as the file has them now: also those of other processes. A resource that is
// deployed by a command is there also while nothing is known of its objects. The result is the caller's own.
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

// leftovers returns the records of a resource that are neither among what it applied nor any other resource's.
func (l *Ledger) leftovers(resource model.ManifestName, applied []model.AppliedObject) ([]ObjectRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.current()
	if err != nil {
		return nil, err
	}
	return leftoversOf(resource, applied, m.objects), nil
}

// Remove drops records of a resource: the given objects, or, when none is given, all of them and the delete command.
func (l *Ledger) Remove(resource model.ManifestName, objects ...model.ObjectID) error {
	return l.change(func(c content) {
		m := c.objects
		if len(objects) == 0 {
			delete(m, resource)
			delete(c.commands, resource)
			return
		}
		m[resource] = dropped(m[resource], func(r ObjectRecord) bool { return slices.Contains(objects, r.ObjectID) })
	})
}

// Drop drops the records of objects that are gone. One whose record has another UID by now is there again, and stays.
func (l *Ledger) Drop(resource model.ManifestName, gone []ObjectRef) error {
	return l.change(func(c content) {
		c.objects[resource] = dropped(c.objects[resource], func(r ObjectRecord) bool {
			return slices.ContainsFunc(gone, func(g ObjectRef) bool { return g.ObjectID == r.ObjectID && g.UID == r.UID })
		})
	})
}

// change edits the newest content of the file and writes it back if it differs. Edits that come while the file is being
// written share the next write, since bringing a file to the disk takes longer than all the rest. Edit may replace the
// lists of the map that it gets, but not change them.
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
	if len(all) > 0 { // else another goroutine has written mine with its own
		err := l.changeAll(all)
		for _, e := range all {
			e.done <- err
		}
	}
	return <-mine.done
}

// changeAll makes several edits with one write. l.mu is held.
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
	if before.equal(after) && !before.stale {
		return nil
	}
	if err := l.write(after); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	l.known, l.info = after, nil
	if info, err := os.Stat(l.path); err == nil {
		l.info = info
	}
	return nil
}

// tidy drops resources without records and sorts the rest, so that equal ledgers are equal files.
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

// current returns what the file holds. It reads the file only when it is not the one that it read or wrote last: every
// write makes a new file. l.mu is held. The result must not be changed.
func (l *Ledger) current() (content, error) {
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return emptyContent(), nil
	case err != nil:
		return emptyContent(), fmt.Errorf("read the ledger: %w", err)
	}
	if l.info != nil && os.SameFile(info, l.info) && info.ModTime().Equal(l.info.ModTime()) && info.Size() == l.info.Size() {
		return l.known, nil
	}
	known, info, err := l.read()
	if err != nil {
		return emptyContent(), err
	}
	l.known, l.info = known, info
	return known, nil
}

// read reads the file, and returns what it read with a description of the file.
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
