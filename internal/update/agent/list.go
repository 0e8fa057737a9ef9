//go:build linux

package agent

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/update/agent/chunk"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// list answers with every entry of the requested places.
func (s *server) list(m *protocol.List) {
	l := &lister{id: m.ID, out: s.out, files: s.files, chunks: m.Chunks}
	for _, p := range m.Places {
		l.visit(path.Join(p.Dir, p.Name), p.Name == "")
	}
	s.out.send(&protocol.Listed{ID: m.ID, Faults: l.faults})
}

type lister struct {
	id     uint64
	out    *replies
	files  files
	faults []protocol.Fault
	// chunks is the size from which on files are listed with their chunks; zero is none.
	chunks uint64
}

// visit reports an entry and, if it is deep, everything below it. Missing entries are not reported, nor are those that are neither
// file, folder nor link: hone does not put such entries into containers.
func (l *lister) visit(name string, deep bool) {
	info, err := l.files.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.fault(name, err)
		return
	}
	e := &protocol.Entry{ID: l.id, Path: name, Mode: uint32(info.Mode() & fs.ModePerm), Size: uint64(info.Size())}
	switch mode := info.Mode(); {
	case mode.IsDir():
		e.Kind, e.Size = protocol.KindDir, 0
		l.out.gather(e)
		if deep {
			l.below(name)
		}
		return
	case mode.IsRegular():
		err = l.content(e, name)
	case mode&fs.ModeSymlink != 0:
		var target string
		target, err = l.files.Readlink(name)
		e.Kind, e.Sum, e.Size = protocol.KindLink, protocol.SumOf([]byte(target)), uint64(len(target))
	default:
		return
	}
	if err != nil {
		l.fault(name, err)
		return
	}
	l.out.gather(e)
}

func (l *lister) below(dir string) {
	entries, err := l.entries(dir)
	if err != nil {
		l.fault(dir, err)
	}
	for _, e := range entries {
		l.visit(path.Join(dir, e.Name()), true)
	}
}

// maxFaults bounds the faults in one answer.
const maxFaults = 100

func (l *lister) fault(name string, err error) {
	if len(l.faults) < maxFaults {
		l.faults = append(l.faults, protocol.Fault{Path: name, Staged: true, Errno: errno(err), Text: reason(err)})
	}
}

// entries returns the entries of a folder, by name.
func (l *lister) entries(dir string) ([]fs.DirEntry, error) {
	d, err := l.files.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// mostChunks bounds the list of a file's chunks, in bytes: it has to fit into a message.
const mostChunks = protocol.MaxPayload / 2

// content reads a file.
func (l *lister) content(e *protocol.Entry, name string) error {
	f, err := l.files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if l.chunks == 0 || e.Size < l.chunks {
		var sum protocol.Summer
		_, err := io.CopyBuffer(&sum, struct{ io.Reader }{f}, make([]byte, 64<<10))
		e.Sum = sum.Sum()
		return err
	}
	bounds := chunk.Bounds(e.Size)
	var list chunk.List
	e.Sum, e.Size, err = chunk.Scan(f, chunk.Max(bounds), func(content []byte) int {
		n := chunk.Cut(content, bounds)
		list = append(list, chunk.Of(content[:n]))
		return n
	})
	if e.Chunks = list.Append(nil, bounds); len(e.Chunks) > mostChunks {
		e.Chunks = nil
	}
	return err
}
