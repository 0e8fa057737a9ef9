//go:build linux

package agent

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// atOnce is a flag for opening files. Without it the os package tries to wait for them in the poller, which takes four more system calls
// for each.
const atOnce = syscall.O_NONBLOCK

// writers is the number of files of a bulk that are written at a time.
const writers = 4

// commit carries out the staged changes: deletes, then folders, then files and links. With faults from staging it changes nothing.
func (u *update) commit() *protocol.Applied {
	began := time.Now()
	u.finish()
	out := &protocol.Applied{ID: u.id}
	if len(u.faults) > 0 {
		u.abort()
		out.Faults = u.faults
		return out
	}
	a := &applier{update: u, out: out}
	first, later := u.removals()
	a.removeAll(first)
	var dirs, files []*staged
	for _, s := range u.puts {
		if s.Kind == protocol.KindDir {
			dirs = append(dirs, s)
		} else {
			files = append(files, s)
		}
	}
	slices.SortFunc(dirs, func(a, b *staged) int { return strings.Compare(a.Path, b.Path) })
	for _, s := range dirs {
		a.did(s.Path, a.dir(s))
	}
	switch {
	case u.bulk:
		a.later = len(later) > 0
		a.several(files, a.bulkOne)
	case u.many:
		a.several(files, func(s *staged, _ *folder) error { return a.place(s) })
	default:
		for _, s := range files {
			a.did(s.Path, a.place(s))
		}
	}
	a.removeAll(later)
	if a.later = false; len(a.noRoom) > 0 {
		a.several(a.noRoom, a.bulkOne)
	}
	if len(out.Faults) > 0 {
		u.abort() // removes the files that have not been moved to their places
	}
	for _, p := range u.places {
		p.made = nil // they are in use now
	}
	out.Nanos = uint64(time.Since(began))
	return out
}

type applier struct {
	*update
	// later means that paths will be removed after the files are in place. noRoom are the files for which there is no room before
	// that.
	later  bool
	mu     sync.Mutex
	noRoom []*staged
	out    *protocol.Applied
}

// removals returns the paths to remove before anything is put in place, and the paths to remove after that; in both lists, the
// paths below a path come before it. Only a bulk has later ones: paths at, above and below which nothing is put. ext4 looks for an
// inode for each new file among the recently freed ones, and skips them one by one, so that after the removal of 20,000 files,
// writing as many would take three times as long.
func (u *update) removals() (first, later []string) {
	slices.SortFunc(u.deletes, func(a, b string) int { return strings.Compare(b, a) })
	if !u.bulk {
		return u.deletes, nil
	}
	puts, above := map[string]bool{}, map[string]bool{}
	for _, s := range u.puts {
		puts[s.Path] = true
		for dir := path.Dir(s.Path); !above[dir]; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	for _, name := range u.deletes {
		conflicts := above[name]
		for at := name; !conflicts && at != "/"; at = path.Dir(at) {
			conflicts = puts[at]
		}
		if conflicts {
			first = append(first, name)
		} else {
			later = append(later, name)
		}
	}
	return first, later
}

func (a *applier) removeAll(names []string) {
	var in folder
	defer in.leave()
	for _, name := range names {
		a.did(name, a.remove(name, &in))
	}
}

// waits postpones a file that failed for lack of room, if other paths will still be removed. It returns false for any other error.
func (a *applier) waits(s *staged, err error) bool {
	if n := errno(err); !a.later || n != uint64(syscall.ENOSPC) && n != uint64(syscall.EDQUOT) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noRoom = append(a.noRoom, s)
	return true
}

func (a *applier) did(name string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.out.Faults = append(a.out.Faults, protocol.Fault{Path: name, Errno: errno(err), Text: reason(err)})
		return
	}
	a.out.Changed++
}

// remove deletes one path. A folder is removed only if it is empty, since anything left in it came neither from hone nor
// from the local tree; mounts stay. No symbolic link is followed to the path.
func (a *applier) remove(name string, in *folder) error {
	p, rel, err := a.places.find(name)
	if err != nil {
		return err
	}
	if rel != "." && in.is(p, path.Dir(rel)) {
		return kept(in.root.Remove(path.Base(rel)))
	}
	info, err := p.files.Lstat(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if rel == "." {
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil // the link leads to the place and came with the image
		}
		p.close()
		return kept(p.files.Remove(p.Dir))
	}
	root, err := p.open()
	if err != nil {
		return err
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
	}
	if in.open(p, path.Dir(rel)) != nil { // it is missing, or no folder
		return kept(root.Remove(rel))
	}
	return kept(in.root.Remove(path.Base(rel)))
}

// kept returns the error of a removal, or nil if it means that the file is missing or has to stay.
func kept(err error) error {
	switch errno(err) {
	case uint64(syscall.ENOENT), uint64(syscall.ENOTDIR), uint64(syscall.ENOTEMPTY), uint64(syscall.EEXIST), uint64(syscall.EBUSY):
		return nil
	}
	return err
}

// dir creates a folder, replacing any other entry.
func (a *applier) dir(s *staged) error {
	root, err := s.place.open()
	if err != nil || s.rel == "." {
		return err
	}
	if info, err := root.Lstat(s.rel); err == nil {
		if info.IsDir() {
			return nil
		}
		if err := root.Remove(s.rel); err != nil {
			return err
		}
	}
	mode := fs.FileMode(s.Mode) & fs.ModePerm
	if err := folders(root, path.Dir(s.rel), s.Owner); err != nil {
		return err
	}
	o, kept := owner(root, s.rel, s.Owner)
	if err := root.Mkdir(s.rel, mode); err != nil {
		return err
	}
	if err := give(o, kept || s.Owner != nil, func(uid, gid int) error { return root.Lchown(s.rel, uid, gid) }); err != nil {
		return err
	}
	return root.Chmod(s.rel, mode)
}

// place puts a staged file or link where it belongs.
func (a *applier) place(s *staged) error {
	root, err := a.clear(s)
	if err != nil {
		return err
	}
	if s.Kind == protocol.KindLink {
		return a.link(root, s)
	}
	if a.many {
		// ext4 writes out a file that is renamed over another one, which takes ten times as long as the rename.
		_ = root.Remove(s.rel)
	}
	err = root.Rename(s.temp, s.rel)
	if errors.Is(err, syscall.EXDEV) {
		err = a.copyOver(root, s) // something is mounted below the folder in which it was staged
	}
	if err == nil {
		s.temp = ""
	}
	return err
}

// clear prepares the path of a file: it creates the folders above, and removes a folder at the path.
func (a *applier) clear(s *staged) (*os.Root, error) {
	root, err := s.place.open()
	if err != nil {
		return nil, err
	}
	if err := folders(root, path.Dir(s.rel), s.Owner); err != nil {
		return nil, err
	}
	if info, err := root.Lstat(s.rel); err == nil && info.IsDir() {
		if err := root.Remove(s.rel); err != nil { // fails if it is not empty
			return nil, err
		}
	}
	return root, nil
}

// link replaces any entry by a symbolic link, atomically.
func (a *applier) link(root *os.Root, s *staged) error {
	a.mu.Lock()
	a.temps++
	temp := path.Join(path.Dir(s.rel), tempName(a.id, a.temps))
	a.mu.Unlock()
	if err := root.Symlink(string(s.content), temp); err != nil {
		return err
	}
	o, kept := owner(root, s.rel, s.Owner)
	err := give(o, kept || s.Owner != nil, func(uid, gid int) error { return root.Lchown(temp, uid, gid) })
	if err == nil {
		err = root.Rename(temp, s.rel)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// copyOver moves a staged file to another file system.
func (a *applier) copyOver(root *os.Root, s *staged) error {
	in, err := root.Open(s.temp)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := a.write(root, s, in); err != nil {
		return err
	}
	return root.Remove(s.temp)
}

// write writes content next to its place and moves it there.
func (a *applier) write(root *os.Root, s *staged, content io.Reader) error {
	a.mu.Lock()
	a.temps++
	temp := path.Join(path.Dir(s.rel), tempName(a.id, a.temps))
	a.mu.Unlock()
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|atOnce, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = s.adorn(f, s.rel)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && s.ModTime != 0 {
		err = root.Chtimes(temp, modTime(s.ModTime), modTime(s.ModTime))
	}
	if err == nil {
		err = root.Rename(temp, s.rel)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// mostRun and leastRun bound how many files of one folder a writer takes at a time.
const mostRun, leastRun = 500, 8

// byFolder splits files into runs of files in the same folder: two writers that create files in one folder wait for each other in
// the kernel. The runs are short enough that every writer gets some.
func byFolder(files []*staged) (out [][]*staged) {
	most := min(mostRun, max(leastRun, len(files)/(2*writers)))
	for first, i := 0, 1; i <= len(files); i++ {
		if i == len(files) || i-first == most || path.Dir(files[i].Path) != path.Dir(files[first].Path) {
			out, first = append(out, files[first:i]), i
		}
	}
	return out
}

// several puts many files in place, several at a time.
func (a *applier) several(files []*staged, one func(*staged, *folder) error) {
	made := map[string]bool{}
	for _, s := range files {
		// Create the folders before several goroutines do. An error will occur again when a file is put in place.
		if root, err := s.place.open(); err == nil && !made[path.Dir(s.Path)] {
			made[path.Dir(s.Path)] = true
			_ = folders(root, path.Dir(s.rel), s.Owner)
		}
	}
	list := byFolder(files)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(writers, len(list)) {
		all.Go(func() {
			var f folder
			defer f.leave()
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				for _, s := range list[i] {
					err := one(s, &f)
					if a.waits(s, err) {
						continue
					}
					a.did(s.Path, err)
					s.content = nil
				}
			}
		})
	}
	all.Wait()
}

// folder is the folder in which a writer puts one file after the other. Through the place's own root, each access to a file opens
// and closes every folder above it: for a new file two folders deep, that makes 10 of 24 system calls.
type folder struct {
	place *place
	dir   string
	root  *os.Root
	// owner is the owner of new files there; nil leaves them to the user that the program runs as.
	owner *protocol.Owner
	// filling means that the last file there was new.
	filling bool
	// mode is a mode with which a file was created and found unchanged: neither the umask nor the folder's access list removes any
	// of its bits. Zero is none.
	mode fs.FileMode
}

// is reports whether the folder dir of a place is open.
func (f *folder) is(p *place, dir string) bool { return f.root != nil && f.place == p && f.dir == dir }

// open opens another folder.
func (f *folder) open(p *place, dir string) error {
	f.leave()
	above, err := p.open()
	if err != nil {
		return err
	}
	root, err := above.OpenRoot(dir)
	if err != nil {
		return err
	}
	*f = folder{place: p, dir: dir, root: root}
	return nil
}

// enter opens the folder of an entry, unless the entry before it was in the same one.
func (f *folder) enter(s *staged) error {
	dir := path.Dir(s.rel)
	if f.is(s.place, dir) {
		return nil
	}
	if err := f.open(s.place, dir); err != nil {
		return err
	}
	f.owner, _ = owner(f.root, ".", nil)
	return nil
}

func (f *folder) leave() {
	if f.root != nil {
		_ = f.root.Close()
		f.root = nil
	}
}

// bulkOne writes one file of many. It overwrites an existing one, and creates a new one in its place, which saves the file system most of
// the work. A program that may be running and a file with other names are replaced instead.
func (a *applier) bulkOne(s *staged, in *folder) error {
	if s.Kind == protocol.KindFile && s.Owner == nil && in.enter(s) == nil {
		name := path.Base(s.rel)
		// Where one file was new, the next one probably is.
		if in.filling {
			if done, err := s.create(in, name); done {
				return err
			}
		}
		info, err := in.root.Lstat(name)
		in.filling = errors.Is(err, fs.ErrNotExist)
		switch {
		case err == nil && plain(info):
			if f, err := in.root.OpenFile(name, os.O_WRONLY|atOnce, 0); err == nil { // it may be a read-only file in a folder that can be written
				return s.overwrite(f, info.Mode())
			}
		case in.filling:
			if done, err := s.create(in, name); done {
				return err
			}
		}
	}
	root, err := a.clear(s)
	if err != nil {
		return err
	}
	if s.Kind == protocol.KindLink {
		return a.link(root, s)
	}
	return a.write(root, s, bytes.NewReader(s.content))
}

// create creates a file with its content. done is false if the file cannot be created, for example because it exists.
func (s *staged) create(in *folder, name string) (done bool, err error) {
	mode, want := fs.FileMode(0o600), fs.FileMode(s.Mode)&fs.ModePerm
	if in.owner == nil {
		mode = want
	}
	f, err := in.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|atOnce, mode)
	if err != nil {
		return false, err
	}
	if err = s.fill(in, f); err != nil {
		_ = in.root.Remove(name)
	}
	return true, err
}

// plain reports whether a file can be overwritten: nothing else depends on its content.
func plain(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	data := info.Mode()&(fs.ModeType|0o111) == 0 // no program runs it
	return ok && data && st.Nlink == 1
}

// overwrite gives an open file its new content.
func (s *staged) overwrite(f *os.File, old fs.FileMode) error {
	_, err := f.Write(s.content)
	if err == nil {
		err = f.Truncate(int64(len(s.content)))
	}
	if mode := fs.FileMode(s.Mode) & fs.ModePerm; err == nil && old&fs.ModePerm != mode {
		err = f.Chmod(mode)
	}
	return s.finished(f, err)
}

// fill gives a file that has just been created its content, its owner and its mode.
func (s *staged) fill(in *folder, f *os.File) error {
	_, err := f.Write(s.content)
	if err == nil {
		err = give(in.owner, false, f.Chown)
	}
	want := fs.FileMode(s.Mode) & fs.ModePerm
	if err == nil && in.owner == nil && in.mode != want {
		if info, err := f.Stat(); err == nil && info.Mode()&fs.ModePerm == want {
			in.mode = want
		}
	}
	if err == nil && (in.owner != nil || in.mode != want) {
		err = f.Chmod(want)
	}
	return s.finished(f, err)
}

// finished sets a file's time and closes it.
func (s *staged) finished(f *os.File, err error) error {
	if err == nil && s.ModTime != 0 {
		err = setTime(f, s.ModTime)
	}
	return errors.Join(err, f.Close())
}

func modTime(nanos int64) time.Time { return time.Unix(0, nanos) }
