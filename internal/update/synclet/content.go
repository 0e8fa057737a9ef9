package synclet

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hone-dev/hone/internal/base/rawfile"
	"github.com/hone-dev/hone/internal/update/agent/chunk"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

// wholeFile is the size in bytes up to which a file is read at once. A bigger file is read twice: for its sum, then for the parts
// that are sent.
const wholeFile = 4 << 20

// content is the known content of a path in the container. The zero value means that nothing is there.
type content struct {
	there bool
	kind  protocol.FileKind
	mode  uint32
	sum   protocol.Sum
}

// known is the knowledge about a path in the container.
type known struct {
	content content
	// chunks is nil for a small file, and if the chunks are not known.
	chunks *chunks
}

// Put is a file, folder or link to copy into the container.
type Put struct {
	// Local is the path on this machine, Remote the clean absolute path in the container.
	Local  string
	Remote string
	// IsDir requests the folder itself, without its content.
	IsDir bool
	// Owner becomes the owner, if it is set.
	Owner model.Owner
	// Size is the size of the local file a moment ago, in bytes; zero if it is not known.
	Size int64
}

// local is a Put with the file, folder or link that was found on this machine.
type local struct {
	put     *protocol.Put
	content content
	data    []byte // the whole content, unless big
	big     bool
	path    string
	// chunks is the list of the content's chunks, nil for a small file. parts are the parts of the content, in their order. like
	// reads the old content for the patched parts; nil if there is no copy of it.
	chunks *chunks
	parts  []part
	like   *similarRange
	// base is the path of the container's file that parts are copied from. done ends its use.
	base string
	done func()
}

// look reads a local file and compares it with the container's. It returns nil for a path that is gone, or is neither file, folder nor
// link.
func look(p Put, b base) (*local, error) {
	if !p.IsDir {
		if l, ok, err := lookSmall(p, b); ok {
			return l, err
		}
	}
	info, err := os.Lstat(p.Local)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := newLocal(p, info.Mode(), info.ModTime().UnixNano())
	switch mode := info.Mode(); {
	case mode.IsDir() || p.IsDir:
		l.put.Kind = protocol.KindDir
	case mode&fs.ModeSymlink != 0:
		err = l.readLink()
	case mode.IsRegular():
		err = l.readFile(info.Size(), b)
	default:
		return nil, nil
	}
	if isGone(err) {
		return nil, nil
	}
	l.known()
	return l, err
}

// lookSmall is look for a file that is small enough to be read at once: it costs little more than its system calls. ok is false for
// anything else.
func lookSmall(p Put, b base) (l *local, ok bool, err error) {
	f, err := rawfile.Open(p.Local)
	if err != nil {
		return nil, isGone(err), nil
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil || !info.Regular || info.Size > wholeFile {
		return nil, false, nil
	}
	l = newLocal(p, info.Perm, info.ModTime)
	data, err := f.ReadAll(info.Size)
	if err == nil {
		err = l.take(data, b)
	}
	l.known()
	return l, true, err
}

func newLocal(p Put, mode fs.FileMode, modTime int64) *local {
	l := &local{path: p.Local, put: &protocol.Put{Path: p.Remote, Mode: uint32(mode & fs.ModePerm), ModTime: modTime}}
	if o := p.Owner; o.Set {
		l.put.Owner = &protocol.Owner{UID: uint64(o.UID), GID: uint64(o.GID)}
	}
	return l
}

// known fills in content from put.
func (l *local) known() {
	l.content = content{true, l.put.Kind, l.put.Mode, l.put.Sum}
	if l.put.Kind == protocol.KindLink {
		l.content.mode = 0 // links have none of their own
	}
}

func (l *local) readLink() error {
	target, err := os.Readlink(l.path)
	l.data = []byte(filepath.ToSlash(target))
	l.put.Kind, l.put.Size, l.put.Sum = protocol.KindLink, uint64(len(l.data)), protocol.SumOf(l.data)
	l.whole()
	return err
}

func (l *local) readFile(size int64, b base) error {
	f, err := os.OpenFile(l.path, os.O_RDONLY|atOnce, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > wholeFile {
		l.big = true
		return l.compare(f, uint64(size), b)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return l.take(data, b)
}

// take takes the whole content of a file.
func (l *local) take(data []byte, b base) error {
	l.data = data
	if len(data) >= deltaFrom {
		return l.compare(bytes.NewReader(data), uint64(len(data)), b)
	}
	l.put.Size, l.put.Sum = uint64(len(data)), protocol.SumOf(data)
	l.whole()
	return nil
}

// isGone reports whether an error means that a path does not exist.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// same reports whether the container is known to hold the local content.
func (s *Conversation) same(l *local) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known.at[l.put.Path]
	return ok && k.content == l.content
}

// base returns the file of the container at a path or, if its chunks are not known, another file with the same base name: it may
// have been moved or copied. done ends its use.
func (s *Conversation) base(name string) (b base, done func()) {
	s.mu.Lock()
	k := s.known.at[name]
	if k.chunks == nil {
		name = s.known.named[path.Base(name)]
		k = s.known.at[name]
	}
	s.mu.Unlock()
	b.path, b.chunks = name, k.chunks
	if b.chunks == nil {
		return b, func() {}
	}
	b.content, done = s.copies.open(k.content.sum)
	return b, done
}

// absent reports whether a path is known not to exist in the container.
func (s *Conversation) absent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known.at[name]
	return ok && !k.content.there
}

// learn notes the content of a path. If the path is no longer a folder, everything known below it is forgotten; if the
// path exists, records that contradict a folder above it are forgotten.
func (s *Conversation) learn(name string, c content, parts *chunks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.known.at[name]
	if folder := ok && was.content.there && was.content.kind == protocol.KindDir; folder && c.kind != protocol.KindDir || !ok && !c.there {
		s.known.forgetBelow(name)
	}
	s.known.note(name, known{c, parts})
	if !c.there {
		return
	}
	for dir := range above(name) {
		if is, ok := s.known.at[dir]; ok && (!is.content.there || is.content.kind != protocol.KindDir) {
			s.known.forget(dir)
		}
	}
}

// doubt forgets everything known about paths and the paths below them.
func (s *Conversation) doubt(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range names {
		s.known.forget(n)
		s.known.forgetBelow(n)
	}
}

// knowledge is a cache of the paths of a container with their contents. It is not safe for concurrent use.
type knowledge struct {
	at map[string]known
	// below counts, for each folder, the paths in at that are below it. Without it, each of 20,000 deleted files would require a
	// search for paths below it.
	below map[string]int
	// named maps a base name to one of the large files with that name whose chunks are known.
	named map[string]string
}

func newKnowledge() knowledge {
	return knowledge{map[string]known{}, map[string]int{}, map[string]string{}}
}

func (k knowledge) note(name string, is known) {
	if _, ok := k.at[name]; !ok {
		for dir := range above(name) {
			k.below[dir]++
		}
	}
	k.at[name] = is
	if base := path.Base(name); is.chunks != nil {
		k.named[base] = name
	} else if k.named[base] == name {
		delete(k.named, base)
	}
}

func (k knowledge) forget(name string) {
	if _, ok := k.at[name]; !ok {
		return
	}
	delete(k.at, name)
	if base := path.Base(name); k.named[base] == name {
		delete(k.named, base)
	}
	for dir := range above(name) {
		if k.below[dir]--; k.below[dir] == 0 {
			delete(k.below, dir)
		}
	}
}

// forgetBelow forgets everything below a path.
func (k knowledge) forgetBelow(name string) {
	name = path.Clean(name)
	if k.below[name] == 0 {
		return
	}
	prefix := strings.TrimSuffix(name, "/") + "/"
	for p := range k.at {
		if strings.HasPrefix(p, prefix) {
			k.forget(p)
		}
	}
}

// above yields the folders above a path.
func above(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(name); dir != name; name, dir = dir, path.Dir(dir) {
			if !yield(dir) {
				return
			}
		}
	}
}

// entryChunks returns the chunks that the synclet reports for a file, or nil. The report need not be true: if it is not, the file
// that is made with it does not have the announced sum.
func entryChunks(e *protocol.Entry) *chunks {
	if e.Kind != protocol.KindFile || len(e.Chunks) == 0 {
		return nil
	}
	list, err := chunk.Parse(e.Chunks, e.Size)
	if err != nil {
		return nil
	}
	return &chunks{uint(e.Chunks[0]), list}
}

// entryContent returns the content that the synclet reports for a path.
func entryContent(e *protocol.Entry) content {
	c := content{there: true, kind: e.Kind, mode: e.Mode, sum: e.Sum}
	if e.Kind == protocol.KindLink {
		c.mode = 0
	}
	return c
}

// placeOf returns the place that holds only one path.
func placeOf(name string) protocol.Place {
	dir, base := path.Split(name)
	return protocol.Place{Dir: path.Clean(dir), Name: base}
}
