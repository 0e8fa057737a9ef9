package watch

import (
	"errors"
	"io/fs"
	"math"
	"syscall"
	"time"
)

// kind is what is at a path.
type kind uint8

const (
	kindOther kind = iota // a socket, a pipe, a device: nothing that can be a source
	kindFile
	kindDir
	kindLink
)

// stat is what the file system says about a path without opening it. Times are nanoseconds since 1970; a system that
// does not know a field leaves it zero.
type stat struct {
	dev, ino, links uint64
	size            int64
	mtime, ctime    int64
	perm            uint32 // permission bits and set-id bits
	kind            kind
}

// record is what is known about a file.
type record struct {
	stat
	hash   uint64
	hashed bool
	// age is how many milliseconds old the file's last write was when it was looked at. Times of files have steps, so
	// with a young file a later write may have left them as they are.
	age uint16
}

const (
	// youngFile is the age up to which equal times prove nothing where events also tell of writes.
	youngFile = 50
	// youngPolledFile is the same where nothing else tells of them; some file systems count in steps of two seconds.
	youngPolledFile = 2100
)

func newRecord(st stat, now time.Time) record {
	age := (now.UnixNano() - st.mtime) / int64(time.Millisecond)
	return record{stat: st, age: uint16(min(max(age, 0), math.MaxUint16))}
}

// same reports whether nothing has been done to the file in between, as far as its metadata tells.
func (s stat) same(o stat) bool { return s == o || s.sameFile(o) && s.perm == o.perm }

// sameFile is like same, leaving the permissions and the number of links out of the comparison.
func (s stat) sameFile(o stat) bool {
	return s.kind == o.kind && s.size == o.size && s.mtime == o.mtime && s.ctime == o.ctime && s.ino == o.ino
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

// missing reports whether err says that there is nothing at a path.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
