//go:build linux

package agent

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// list answers with every entry of the requested places.
func (s *server) list(m *protocol.List) {
	l := &lister{id: m.ID, out: s.out, files: s.files}
	for _, p := range m.Places {
		if p.Name != "" {
			l.visit(path.Join(p.Dir, p.Name))
		} else {
			l.visit(p.Dir)
		}
	}
	s.out.send(&protocol.Listed{ID: m.ID, Faults: l.faults})
}

type lister struct {
	id     uint64
	out    *replies
	files  files
	faults []protocol.Fault
}

// visit reports an entry and everything below it. Missing entries are not reported, nor are those that are neither file,
// folder nor link: hone does not put such entries into containers.
func (l *lister) visit(name string) {
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
		l.below(name)
		return
	case mode.IsRegular():
		e.Sum, err = l.sum(name)
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
		l.visit(path.Join(dir, e.Name()))
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

func (l *lister) sum(name string) (protocol.Sum, error) {
	f, err := l.files.Open(name)
	if err != nil {
		return protocol.Sum{}, err
	}
	defer f.Close()
	h := protocol.NewSummer()
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 64<<10)); err != nil {
		return protocol.Sum{}, err
	}
	return h.Sum(), nil
}
