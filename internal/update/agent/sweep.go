//go:build linux

package agent

import (
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// tempPrefix and tempSuffix enclose the name of a staged file. Because of the dot, most programs do not watch it.
	tempPrefix = ".hone-"
	tempSuffix = ".tmp"
	// maxSwept is the most entries of the places that are searched for leftovers of other synclets.
	maxSwept = 100_000
	// strangeAge is the age from which a temporary file is removed if its process cannot be seen from here: a volume may
	// be shared with other containers, and outlive this one.
	strangeAge = 15 * time.Minute
)

// tempName returns the name of a staged file. It identifies the process, so that the file can be removed if that was
// killed.
func tempName(update uint64, n int) string {
	return tempPrefix + myself() + "-" + strconv.FormatUint(update, 10) + "-" + strconv.Itoa(n) + tempSuffix
}

// myself identifies this process uniquely: the namespace of its process id, the id, and its start time.
var myself = sync.OnceValue(func() string {
	p, _ := look(os.Getpid())
	return here() + "-" + strconv.Itoa(os.Getpid()) + "-" + p.start
})

// here identifies the boot and the namespace of process ids.
var here = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE(append(boot, ns...))), 16)
})

// sweep removes from the places only the staged files that killed synclets left there.
func sweep(list []protocol.Place, in files, stop *atomic.Bool) {
	s := &sweeper{stop: stop, left: maxSwept}
	for _, p := range list {
		root, err := in.OpenRoot(p.Dir)
		if err != nil {
			continue
		}
		s.root, s.dir, s.deep = root, p.Dir, p.Name == ""
		s.folder(".")
		_ = root.Close()
	}
}

type sweeper struct {
	stop *atomic.Bool
	left int
	root *os.Root
	dir  string
	deep bool
}

func (s *sweeper) folder(name string) {
	f, err := s.root.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(512)
		for _, e := range entries {
			if s.left--; s.left < 0 || s.stop.Load() {
				return
			}
			s.entry(path.Join(name, e.Name()), e)
		}
		if err != nil || len(entries) == 0 {
			return
		}
	}
}

func (s *sweeper) entry(name string, e fs.DirEntry) {
	switch {
	case e.IsDir():
		if system := s.dir == "/" && (name == "proc" || name == "sys"); s.deep && !system {
			s.folder(name)
		}
	case e.Type().IsRegular() && abandoned(e):
		_ = s.root.Remove(name)
	}
}

// abandoned reports whether an entry is a staged file whose process is gone.
func abandoned(e fs.DirEntry) bool {
	name, ok := strings.CutPrefix(e.Name(), tempPrefix)
	if !ok {
		return false
	}
	if name, ok = strings.CutSuffix(name, tempSuffix); !ok {
		return false
	}
	parts := strings.Split(name, "-") // where, pid, start, update, number
	if len(parts) != 5 {
		return false
	}
	for i, p := range parts {
		base := 10
		if i == 0 {
			base = 16
		}
		if _, err := strconv.ParseUint(p, base, 64); err != nil {
			return false
		}
	}
	if parts[0] == here() {
		pid, _ := strconv.Atoi(parts[1])
		return !runs(pid, parts[2])
	}
	info, err := e.Info()
	if err != nil {
		return false
	}
	// The modification time is no help: it was copied from the local file.
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))) > strangeAge //nolint:unconvert // int32 on 32-bit systems
}
