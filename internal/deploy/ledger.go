package deploy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// LedgerKey names one ledger: what one project keeps in one cluster.
type LedgerKey struct {
	// Cluster is the UID of the namespace kube-system, so that a cluster that was made anew under the same name does not
	// inherit the records of its predecessor.
	Cluster string
	// Project is a ProjectID.
	Project string
}

// ObjectRecord is what the ledger keeps about an object: who it is, never what is in it.
type ObjectRecord struct {
	model.ObjectID
	APIVersion string
	// UID is empty from when the object is recorded until it has been applied.
	UID string
}

// Ledger remembers, in one file, which objects each resource of a project applied, so that later sessions can collect
// what is left over and take down what a Tiltfile no longer tells of. Every change is written before the call returns.
// It is safe for use by several goroutines and by several processes of one machine.
type Ledger struct {
	path string
	key  LedgerKey

	mu sync.Mutex // held while the file is read and written
}

// ledgerFormat is the version of the file's shape.
const ledgerFormat = 1

// ledgerFile is the shape of the file.
type ledgerFile struct {
	Format    int                                   `json:"format"`
	Cluster   string                                `json:"cluster"`
	Project   string                                `json:"project"`
	Resources map[model.ManifestName][]recordOnDisk `json:"resources"`
}

type recordOnDisk struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Group      string `json:"group,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

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
	l := &Ledger{key: key, path: filepath.Join(dir, key.Cluster+"-"+key.Project+".json")}
	if _, err := l.read(); err != nil {
		return nil, err
	}
	return l, nil
}

// Path returns the file that holds the ledger.
func (l *Ledger) Path() string { return l.path }

// Record adds objects to a resource's records before they are touched. UIDs that are known stay.
func (l *Ledger) Record(resource model.ManifestName, objects []ObjectRecord) error {
	return l.change(func(m map[model.ManifestName][]ObjectRecord) {
		have := m[resource]
		for _, o := range objects {
			i := slices.IndexFunc(have, func(r ObjectRecord) bool { return r.ObjectID == o.ObjectID })
			if i < 0 {
				have = append(have, o)
			} else if o.UID != "" {
				have[i] = o
			}
		}
		m[resource] = have
	})
}

// Set replaces a resource's records by what was applied. Other resources lose the records of these objects: an object
// has one owner. Without objects the resource leaves the ledger.
func (l *Ledger) Set(resource model.ManifestName, applied []model.AppliedObject) error {
	return l.set(resource, recordsOf(applied))
}

func recordsOf(applied []model.AppliedObject) []ObjectRecord {
	records := make([]ObjectRecord, len(applied))
	for i, o := range applied {
		records[i] = ObjectRecord{ObjectID: o.ObjectID, APIVersion: o.APIVersion, UID: o.UID}
	}
	return records
}

func (l *Ledger) set(resource model.ManifestName, records []ObjectRecord) error {
	return l.change(func(m map[model.ManifestName][]ObjectRecord) {
		mine := map[model.ObjectID]bool{}
		for _, r := range records {
			mine[r.ObjectID] = true
		}
		for other, list := range m {
			if other != resource {
				m[other] = slices.DeleteFunc(list, func(r ObjectRecord) bool { return mine[r.ObjectID] })
			}
		}
		m[resource] = records
	})
}

// Resources returns all records, by resource, as the file has them now: also those of other processes.
func (l *Ledger) Resources() (map[model.ManifestName][]ObjectRecord, error) {
	return l.read()
}

// Remove drops records of a resource: the given objects, or all of them when none is given.
func (l *Ledger) Remove(resource model.ManifestName, objects ...model.ObjectID) error {
	return l.change(func(m map[model.ManifestName][]ObjectRecord) {
		if len(objects) == 0 {
			delete(m, resource)
			return
		}
		m[resource] = slices.DeleteFunc(m[resource], func(r ObjectRecord) bool { return slices.Contains(objects, r.ObjectID) })
	})
}

// change edits the newest content of the file and writes it back if it differs.
func (l *Ledger) change(edit func(map[model.ManifestName][]ObjectRecord)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := lockFile(l.path + ".lock")
	if err != nil {
		return fmt.Errorf("lock the ledger: %w", err)
	}
	defer unlock()
	before, err := l.read()
	if err != nil {
		return err
	}
	after := clone(before)
	edit(after)
	tidy(after)
	if !maps.EqualFunc(before, after, slices.Equal) {
		if err := l.write(after); err != nil {
			return fmt.Errorf("write the ledger: %w", err)
		}
	}
	return nil
}

// tidy drops resources without records and sorts the rest, so that equal ledgers are equal files.
func tidy(m map[model.ManifestName][]ObjectRecord) {
	for name, list := range m {
		if len(list) == 0 {
			delete(m, name)
			continue
		}
		slices.SortFunc(list, func(a, b ObjectRecord) int {
			return cmp.Or(compareIDs(a.ObjectID, b.ObjectID), cmp.Compare(a.UID, b.UID))
		})
	}
}

func clone(m map[model.ManifestName][]ObjectRecord) map[model.ManifestName][]ObjectRecord {
	out := make(map[model.ManifestName][]ObjectRecord, len(m))
	for k, v := range m {
		out[k] = slices.Clone(v)
	}
	return out
}

func (l *Ledger) read() (map[model.ManifestName][]ObjectRecord, error) {
	raw, err := os.ReadFile(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[model.ManifestName][]ObjectRecord{}, nil
	case err != nil:
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	var f ledgerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, problem.Wrap(err, "the ledger "+l.path+" is damaged",
			"move it away; hone then no longer knows what earlier sessions applied, but the objects carry its labels")
	}
	if f.Format != ledgerFormat {
		return nil, problem.New(fmt.Sprintf("the ledger %s has format %d, this hone knows %d", l.path, f.Format, ledgerFormat),
			"use the version of hone that wrote it")
	}
	out := make(map[model.ManifestName][]ObjectRecord, len(f.Resources))
	for name, list := range f.Resources {
		for _, r := range list {
			id := model.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			out[name] = append(out[name], ObjectRecord{ObjectID: id, APIVersion: r.APIVersion, UID: r.UID})
		}
	}
	return out, nil
}

// write replaces the file in one step: a crash leaves the old content or the new.
func (l *Ledger) write(m map[model.ManifestName][]ObjectRecord) error {
	f := ledgerFile{Format: ledgerFormat, Cluster: l.key.Cluster, Project: l.key.Project,
		Resources: make(map[model.ManifestName][]recordOnDisk, len(m))}
	for name, list := range m {
		for _, r := range list {
			f.Resources[name] = append(f.Resources[name], recordOnDisk{APIVersion: r.APIVersion, Group: r.Group, Kind: r.Kind,
				Namespace: r.Namespace, Name: r.Name, UID: r.UID})
		}
	}
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(l.path, append(raw, '\n'))
}

// replaceFile writes a file beside path and renames it, with the content on disk before the name.
func replaceFile(path string, content []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
