package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
)

// kind is the kind of a directory entry.
type kind uint8

const (
	kindOther kind = iota // a socket, a pipe, a device: nothing that can be a source
	kindFile
	kindDir
	kindLink
)

// stat is the metadata of a path, read without opening it. Times are nanoseconds since 1970; fields that the system does
// not know are zero.
type stat struct {
	dev, ino, links uint64
	size            int64
	mtime, ctime    int64
	perm            uint32 // permission bits and set-id bits
	kind            kind
}

// record holds the known facts about a file.
type record struct {
	stat
	hash   uint64
	hashed bool
	// age is the time, in milliseconds, between the file's last write and the look at the file. File times have a limited resolution,
	// so a later write to a young file may leave them unchanged.
	age uint16
}

const (
	// youngFile is the age up to which equal times prove nothing, where events report writes as well.
	youngFile = 50
	// youngPolledFile is the same limit where no events report writes; some file systems have a resolution of two
	// seconds.
	youngPolledFile = 2100
)

func newRecord(st stat, now time.Time) record {
	age := (now.UnixNano() - st.mtime) / int64(time.Millisecond)
	return record{stat: st, age: uint16(min(max(age, 0), math.MaxUint16))}
}

// same reports whether the file is unchanged, as far as its metadata shows.
func (s stat) same(o stat) bool { return s == o || s.sameFile(o) && s.perm == o.perm }

// sameFile works like same, but ignores the permissions, the number of links and the device.
func (s stat) sameFile(o stat) bool {
	s.perm, s.links, s.dev = o.perm, o.links, o.dev
	return s == o
}

// print returns the fingerprint of the record.
func (r record) print() Fingerprint {
	if !r.hashed {
		return PrintUnknown
	}
	p := Fingerprint(r.hash ^ (uint64(r.perm)<<8|uint64(r.kind))*0x9e3779b97f4a7c15)
	if p < printsReserved {
		p += printsReserved
	}
	return p
}

// ChangedAt returns the time at which a file, link or folder itself was changed, as the file system has recorded it; zero if it
// cannot be read.
func ChangedAt(path string) time.Time {
	st, err := lstat(path)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, max(st.mtime, st.ctime))
}

// StatSum returns a sum of a file's metadata which differs after each write to the file. It is 0 if a write may leave the metadata as it
// is: the file has been changed shortly before now, or the system does not record when files are changed.
func StatSum(path string, now time.Time) uint64 {
	st, err := lstat(path)
	if err != nil || st.kind != kindFile || st.ctime == 0 {
		return 0
	}
	if now.UnixMilli()-max(st.mtime, st.ctime)/int64(time.Millisecond) < youngPolledFile {
		return 0
	}
	return max(1, xxh3.HashString(fmt.Sprintln(st.ino, st.size, st.mtime, st.ctime, st.perm)))
}

// ChangedOrGoneAt returns the time at which a file was changed. For one that does not exist, it is the time at which its folder was last
// changed: it was deleted then, or before.
func ChangedOrGoneAt(path string) time.Time {
	for {
		if at := ChangedAt(path); !at.IsZero() {
			return at
		}
		parent := filepath.Dir(path)
		if parent == path {
			return time.Time{}
		}
		path = parent
	}
}

// missing reports whether err means that a path does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
