package project

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// Project identifies the objects and records of one Tiltfile in one cluster.
type Project struct {
	// ID is the value of the project's labels and part of the names of its ledgers: a valid label value and file name.
	ID string
	// Former are other IDs that objects and ledgers of this project may have.
	Former []string
	// Tiltfile is its path without symbolic links.
	Tiltfile string
	// Ledger is the URL of the storage of its ledger; empty for the folder of this machine.
	Ledger string
	// named is set if the Tiltfile names it.
	named bool
	// Holders are the names under which this place holds the objects of its projects. New objects get the first one.
	Holders []string
}

// Holder returns the name for new objects.
func (p Project) Holder() string {
	if len(p.Holders) == 0 {
		return ""
	}
	return p.Holders[0]
}

// Registry keeps the records of all projects of a user. It is safe for use by several processes.
type Registry struct {
	dir, ledgers, as, at string
	read                 func(tiltfile string) (d Declared, ok bool, err error)
}

// Declared is the part of a Tiltfile that says which project it belongs to.
type Declared struct {
	// Name is the name of the project; empty if its folder identifies it.
	Name string `json:"name,omitempty"`
	// Ledger is the URL of the storage of its ledger; empty for the folder of this machine.
	Ledger string `json:"ledger,omitempty"`
}

// New returns the registry in a folder, which need not exist yet. ledgers is the folder of the ledgers,
// CLUSTER-ID.json, whose names contain the IDs that earlier versions of hone used.
func New(dir, ledgers string) *Registry { return &Registry{dir: dir, ledgers: ledgers} }

// As makes the projects of a registry hold their objects under a name that several places share; empty means this place's own
// name.
func (r *Registry) As(holder string) *Registry {
	c := *r
	c.as = holder
	return &c
}

// At makes the ledgers of a registry's projects be in the storage at a URL, whatever their Tiltfiles say; empty means that those say it.
func (r *Registry) At(ledger string) *Registry {
	c := *r
	c.at = ledger
	return &c
}

// Reading makes a registry read the declarations of Tiltfiles. Where read returns that a Tiltfile cannot be read, the last declaration
// counts that was.
func (r *Registry) Reading(read func(tiltfile string) (d Declared, ok bool, err error)) *Registry {
	c := *r
	c.read = read
	return &c
}

// Open returns the project of a Tiltfile (absolute path) in the cluster of a kubeconfig context, and records it.
// Without a context it records nothing.
func (r *Registry) Open(ctx context.Context, tiltfile, kubeContext string) (Project, error) {
	return r.resolve(ctx, tiltfile, kubeContext, true)
}

// Find is Open for a Tiltfile that need not exist. It does not record unknown projects.
func (r *Registry) Find(ctx context.Context, tiltfile, kubeContext string) (Project, error) {
	return r.resolve(ctx, tiltfile, kubeContext, false)
}

// Path returns the path of the Tiltfile of the project that has or had an ID. It is empty if the ID is unknown on this
// machine.
func (r *Registry) Path(id string) string {
	all, err := r.records()
	if err != nil {
		return ""
	}
	id = withoutBeside(id)
	for _, o := range all {
		if o.ID == id || o.Declared.Name == id || slices.Contains(o.Former, id) {
			return o.Tiltfile
		}
	}
	return ""
}

func (r *Registry) resolve(ctx context.Context, tiltfile, kubeContext string, record bool) (Project, error) {
	real := realPath(tiltfile)
	if kubeContext == "" {
		return Project{ID: newID(real, kubeContext), Tiltfile: real}, nil
	}
	p, err := r.locked(ctx, func() (Project, error) { return r.resolveLocked(tiltfile, real, kubeContext, record) })
	if err != nil {
		return Project{}, fmt.Errorf("identify the project of %s: %w", tiltfile, err)
	}
	return p, nil
}

// resolveLocked returns the project of a Tiltfile in the cluster of a context. It finds the record by the path, or by the
// folder if that was moved, and brings it up to date, with former IDs as far as they have a ledger. A new project is recorded
// only if create is set. The lock of the registry is held.
func (r *Registry) resolveLocked(tiltfile, real, kubeContext string, create bool) (Project, error) {
	all, err := r.records()
	if err != nil {
		return Project{}, err
	}
	here := folderOf(filepath.Dir(real))
	old := ids{newID(real, kubeContext), newID(filepath.Clean(tiltfile), kubeContext)}
	i := slices.IndexFunc(all, func(o record) bool { return o.Context == kubeContext && o.Tiltfile == real })
	if i < 0 {
		i = slices.IndexFunc(all, func(o record) bool { return o.Context == kubeContext && o.movedTo(real, here) })
	}
	var rec, was record
	if i >= 0 {
		rec, was = all[i], all[i]
		rec.Former = slices.Clone(rec.Former)
		all = slices.Delete(all, i, i+1)
	} else {
		rec = record{ID: r.freshID(old, real, kubeContext, all), Context: kubeContext}
	}
	rec.Tiltfile = real
	if here != (folder{}) {
		rec.Folder = here
	}
	for _, id := range old {
		known := id == rec.ID || slices.Contains(rec.Former, id)
		if !known && !taken(id, all) && r.hasLedger(id) {
			rec.Former = append(rec.Former, id)
		}
	}
	if err := r.declare(&rec, real); err != nil {
		return Project{}, err
	}
	if (i >= 0 || create) && !reflect.DeepEqual(rec, was) {
		if err := r.write(rec); err != nil {
			return Project{}, err
		}
	}
	ledger := cmp.Or(r.at, rec.Declared.Ledger)
	holders, err := r.holders(ledger)
	p := Project{ID: rec.ID, Former: rec.Former, Tiltfile: real, Holders: holders, Ledger: ledger}
	if name := rec.Declared.Name; name != "" {
		p.named, p.ID, p.Former = true, name, append(slices.Clone(rec.Former), rec.ID)
	}
	return p, err
}

// declare brings the declaration in a record up to date.
func (r *Registry) declare(rec *record, tiltfile string) error {
	if r.read == nil {
		return nil
	}
	d, ok, err := r.read(tiltfile)
	if ok {
		rec.Declared = d
	}
	return err
}

// ids are the possible IDs of a path: of the real path, and of the path as given.
type ids [2]string

// freshID returns the ID for a project without a record: an ID that has a ledger from a version without records, else
// the ID of its real path. It does not use the ID of another project, whose folder may once have been at this path.
func (r *Registry) freshID(old ids, real, context string, others []record) string {
	for _, id := range old {
		if !taken(id, others) && r.hasLedger(id) {
			return id
		}
	}
	id := old[0]
	for n := 2; taken(id, others); n++ {
		id = newID(real, context+"\x00"+strconv.Itoa(n))
	}
	return id
}

func taken(id string, by []record) bool {
	return slices.ContainsFunc(by, func(o record) bool { return o.ID == id || slices.Contains(o.Former, id) })
}

// hasLedger reports whether there is a ledger of a project, in any cluster.
func (r *Registry) hasLedger(id string) bool {
	found, err := filepath.Glob(filepath.Join(r.ledgers, "*-"+id+".json"))
	return err == nil && len(found) > 0
}

// newID returns the ID of a Tiltfile in the cluster of a context.
func newID(tiltfile, context string) string {
	sum := sha256.Sum256([]byte(tiltfile + "\x00" + context))
	return hex.EncodeToString(sum[:])[:12]
}

// realPath returns the path without symbolic links. A path that does not exist is taken as it is written. A Tiltfile that is itself a
// link to another folder keeps its name: it is evaluated where the link is, and its relative paths lead to other files there.
func realPath(tiltfile string) string {
	dir := realDir(filepath.Dir(filepath.Clean(tiltfile)))
	file := filepath.Join(dir, filepath.Base(tiltfile))
	if real, err := filepath.EvalSymlinks(file); err == nil && filepath.Dir(real) == dir {
		return real
	}
	return file
}

// realDir resolves as much of the path of a folder as exists.
func realDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return dir
	}
	return filepath.Join(realDir(parent), filepath.Base(dir))
}

// folder identifies a folder even after it is moved on its file system. It is zero if the system cannot identify
// folders.
type folder struct {
	Inode uint64 `json:"inode"`
	// Born is the time at which the folder was created, in nanoseconds since 1970: inodes are reused.
	Born int64 `json:"born"`
}

// movedTo reports whether the project's folder is now at the path of another Tiltfile, and its former path does not
// exist.
func (o record) movedTo(tiltfile string, here folder) bool {
	if here == (folder{}) || o.Folder != here || filepath.Base(o.Tiltfile) != filepath.Base(tiltfile) {
		return false
	}
	_, err := os.Lstat(o.Tiltfile)
	return errors.Is(err, fs.ErrNotExist)
}

// locked runs do while no other process uses the registry.
func (r *Registry) locked(ctx context.Context, do func() (Project, error)) (Project, error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return Project{}, err
	}
	unlock, err := filelock.Lock(ctx, filepath.Join(r.dir, lockName))
	if err != nil {
		return Project{}, err
	}
	defer unlock()
	return do()
}
