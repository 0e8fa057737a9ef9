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

	"github.com/hone-dev/hone/internal/synclet/protocol"
)

// writers is how many files of a bulk are written at a time.
const writers = 4

// commit carries out what was staged: deletes, then folders, then files and links. With faults from staging it changes
// nothing.
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
	for _, name := range u.deletes {
		a.did(name, a.remove(name))
	}
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
	if u.bulk {
		a.bulk(files)
	} else {
		for _, s := range files {
			a.did(s.Path, a.place(s))
		}
	}
	if len(out.Faults) > 0 {
		u.abort() // what has not been moved to its place
	}
	for _, p := range u.places {
		p.made = nil // they are in use now
	}
	out.Nanos = uint64(time.Since(began))
	return out
}

type applier struct {
	*update
	mu  sync.Mutex
	out *protocol.Applied
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

func (a *applier) remove(name string) error {
	p, rel, err := a.places.find(name)
	if err != nil {
		return err
	}
	if _, err := p.files.Lstat(p.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := p.open()
	if err != nil {
		return err
	}
	if rel == "." {
		return empty(p)
	}
	if err := root.RemoveAll(rel); !errors.Is(err, syscall.ENOTDIR) { // then a file stands where the folder was
		return err
	}
	return nil
}

// empty removes all that is in a place, and its folder where that can be: not when something is mounted there.
func empty(p *place) error {
	d, err := p.root.Open(".")
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := p.root.RemoveAll(n); err != nil {
			return err
		}
	}
	p.close()
	if err := p.files.Remove(p.Dir); err != nil && errno(err) != uint64(syscall.EBUSY) {
		return err
	}
	return nil
}

// dir makes a folder, in the place of whatever else is there.
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
	if err := folders(root, path.Dir(s.rel)); err != nil {
		return err
	}
	if err := root.Mkdir(s.rel, mode); err != nil {
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
	err = root.Rename(s.temp, s.rel)
	if errors.Is(err, syscall.EXDEV) {
		err = a.copyOver(root, s) // something is mounted below the folder in which it was staged
	}
	if err == nil {
		s.temp = ""
	}
	return err
}

// clear makes room: the folders above exist, and no folder is where a file is to be.
func (a *applier) clear(s *staged) (*os.Root, error) {
	root, err := s.place.open()
	if err != nil {
		return nil, err
	}
	if err := folders(root, path.Dir(s.rel)); err != nil {
		return nil, err
	}
	if info, err := root.Lstat(s.rel); err == nil && info.IsDir() {
		if err := root.RemoveAll(s.rel); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// folders makes a folder and those above it. Whatever else stands in their places was a folder's name once on the other
// side, too, and goes.
func folders(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	err := root.MkdirAll(dir, 0o755)
	if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	if err := folders(root, path.Dir(dir)); err != nil {
		return err
	}
	if info, err := root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return root.Mkdir(dir, 0o755)
}

// link replaces whatever is there by a symbolic link, without a moment in which there is nothing.
func (a *applier) link(root *os.Root, s *staged) error {
	a.mu.Lock()
	a.temps++
	temp := path.Join(path.Dir(s.rel), tempName(a.id, a.temps))
	a.mu.Unlock()
	if err := root.Symlink(string(s.content), temp); err != nil {
		return err
	}
	err := root.Rename(temp, s.rel)
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

// write puts content beside its place and moves it there.
func (a *applier) write(root *os.Root, s *staged, content io.Reader) error {
	a.mu.Lock()
	a.temps++
	temp := path.Join(path.Dir(s.rel), tempName(a.id, a.temps))
	a.mu.Unlock()
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = s.adorn(f)
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

// bulk writes many files that are held in memory, several at a time.
func (a *applier) bulk(files []*staged) {
	made := map[string]bool{}
	for _, s := range files {
		// Before several do it at a time. An error comes again then.
		if root, err := s.place.open(); err == nil && !made[path.Dir(s.Path)] {
			made[path.Dir(s.Path)] = true
			_ = folders(root, path.Dir(s.rel))
		}
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(writers, len(files)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				a.did(files[i].Path, a.bulkOne(files[i]))
				files[i].content = nil
			}
		})
	}
	all.Wait()
}

// bulkOne writes over a file that is there, which saves the file system most of the work. A program that may be running
// and a file with other names are replaced instead.
func (a *applier) bulkOne(s *staged) error {
	root, err := a.clear(s)
	if err != nil {
		return err
	}
	if s.Kind == protocol.KindLink {
		return a.link(root, s)
	}
	info, err := root.Lstat(s.rel)
	st, ok := (*syscall.Stat_t)(nil), false
	if err == nil {
		st, ok = info.Sys().(*syscall.Stat_t)
	}
	if !ok || !info.Mode().IsRegular() || st.Nlink != 1 || info.Mode()&0o111 != 0 || s.Owner != nil {
		return a.write(root, s, bytes.NewReader(s.content))
	}
	f, err := root.OpenFile(s.rel, os.O_WRONLY, 0)
	if err != nil {
		return a.write(root, s, bytes.NewReader(s.content)) // a read-only file in a folder that can be written
	}
	_, err = f.Write(s.content)
	if err == nil {
		err = f.Truncate(int64(len(s.content)))
	}
	if mode := fs.FileMode(s.Mode) & fs.ModePerm; err == nil && info.Mode()&fs.ModePerm != mode {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && s.ModTime != 0 {
		err = root.Chtimes(s.rel, modTime(s.ModTime), modTime(s.ModTime))
	}
	return err
}

func modTime(nanos int64) time.Time { return time.Unix(0, nanos) }
