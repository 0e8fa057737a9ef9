package logstore

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// A segment is a run of lines of one resource, encoded one after the other. The bytes up to its current length never
// change, so that readers can decode them without a lock once they hold the slice. The encoding defines its own
// strings, so a segment can be decoded from its bytes alone.
//
//	record: define | line
//	define: 0xFF, length, bytes             the next string id; id 0 is ""
//	line:   flags, Δseq, Δtime (zigzag), span id, origin id, [progress id], length, text
//
// An origin is the prefix, the pod and the container, with zero bytes between them, or only the prefix.
//
// Numbers are varints. Deltas are against the line before, and against zero for the first.
type segment struct {
	*text // nil once spilled

	first, last uint64 // seq of the first and last line
	lines       int
	counts      counts
	sealed      bool

	file                                  *spillFile // set once spilled
	fileOffset, fileLength, numbersLength int64
}

// text is the part of a segment that is held in memory.
type text struct {
	buf   []byte
	marks []mark
	strs  []string // by id; [0] is ""
	// origins are strs as origins.
	origins []origin

	lastTime int64
	// ids and originIDs map the strings of an open segment to their ids; nil once it is sealed.
	ids              map[string]uint32
	originIDs        map[origin]uint32
	spanStr          string
	lastOrigin       origin
	spanID, originID uint32
}

// origin is the container that a line comes from.
type origin struct{ prefix, pod, container string }

func (o origin) String() string {
	if o.pod == "" && o.container == "" {
		return o.prefix
	}
	return o.prefix + "\x00" + o.pod + "\x00" + o.container
}

func parseOrigin(s string) (o origin) {
	o.prefix, s, _ = strings.Cut(s, "\x00")
	o.pod, o.container, _ = strings.Cut(s, "\x00")
	return o
}

// mark is a position in a segment at which decoding can start.
type mark struct {
	off  uint32
	seq  uint64 // of the line before
	time int64  // of the line before
}

// blockLines is the number of lines from one mark to the next.
const blockLines = 32

const (
	flagLevel    = 0x03
	flagSource   = 0x0c
	flagProgress = 0x10
	flagDone     = 0x20
	flagContinue = 0x40
	kindDefine   = 0xff
)

// record is a decoded line whose text points into the segment.
type record struct {
	seq                    uint64
	time                   int64
	level                  Level
	source                 uint8
	done, continues        bool
	span, origin, progress uint32
	text                   []byte
}

func newSegment(size int) *segment {
	return &segment{text: &text{buf: make([]byte, 0, size), strs: []string{""}, origins: []origin{{}}}}
}

// room returns an upper bound of the encoded size of a line.
func room(e *Entry) int {
	return len(e.Text) + len(e.Span) + len(e.Prefix) + len(e.Pod) + len(e.Container) + 2 + len(e.ProgressID) + 3*(1+binary.MaxVarintLen64) + 8*binary.MaxVarintLen64
}

// add encodes a line. It looks up the ids of span and origin only if these differ from the last line's.
func (s *segment) add(seq uint64, ns int64, source uint8, e *Entry) {
	if e.Span != s.spanStr {
		s.spanStr, s.spanID = e.Span, s.intern(e.Span)
	}
	if o := (origin{e.Prefix, e.Pod, e.Container}); o != s.lastOrigin {
		s.lastOrigin, s.originID = o, s.internOrigin(o)
	}
	flags, progress := byte(e.Level)&flagLevel|source<<2&flagSource, uint32(0)
	if e.ProgressID != "" {
		flags |= flagProgress
		progress = s.intern(e.ProgressID)
	}
	if e.ProgressDone {
		flags |= flagDone
	}
	if e.Continues {
		flags |= flagContinue
	}
	if s.lines%blockLines == 0 {
		s.marks = append(s.marks, mark{uint32(len(s.buf)), s.last, s.lastTime})
	}
	if s.lines == 0 {
		s.first = seq
	}
	b := s.buf
	b = append(b, flags)
	b = binary.AppendUvarint(b, seq-s.last)
	b = binary.AppendVarint(b, ns-s.lastTime)
	b = binary.AppendUvarint(b, uint64(s.spanID))
	b = binary.AppendUvarint(b, uint64(s.originID))
	if progress != 0 {
		b = binary.AppendUvarint(b, uint64(progress))
	}
	b = binary.AppendUvarint(b, uint64(len(e.Text)))
	b = append(b, e.Text...)
	s.buf = b
	s.last, s.lastTime = seq, ns
	s.lines++
	s.counts[source][e.Level]++
}

func (s *segment) intern(str string) uint32 {
	if str == "" {
		return 0
	}
	if id, ok := s.ids[str]; ok {
		return id
	}
	if s.ids == nil {
		s.ids = map[string]uint32{}
	}
	id := uint32(len(s.strs))
	s.ids[str] = id
	s.strs = append(s.strs, str)
	s.origins = append(s.origins, parseOrigin(str))
	s.buf = append(s.buf, kindDefine)
	s.buf = binary.AppendUvarint(s.buf, uint64(len(str)))
	s.buf = append(s.buf, str...)
	return id
}

// internOrigin is intern without making the string of an origin that is known.
func (s *segment) internOrigin(o origin) uint32 {
	if id, ok := s.originIDs[o]; ok {
		return id
	}
	id := s.intern(o.String())
	if s.originIDs == nil {
		s.originIDs = map[origin]uint32{}
	}
	s.originIDs[o] = id
	return id
}

// memory returns the bytes of the segment in memory.
func (s *segment) memory() int64 {
	if s.text == nil {
		return 0
	}
	return int64(cap(s.buf))
}

func (s *segment) seal() {
	s.sealed = true
	s.ids, s.originIDs = nil, nil
}

// view is the data of a segment that a reader needs. It stays valid whatever happens to the segment.
type view struct {
	buf     []byte
	marks   []mark
	strs    []string
	origins []origin
	last    uint64
}

var errCorrupt = errors.New("log segment is damaged")

// decode reads the record at the start of b and returns the rest. For a line it returns the record, decoded relative to
// prev; for a definition it returns the string, with isDef.
func decode(b []byte, prev mark) (r record, def []byte, isDef bool, rest []byte, err error) {
	if len(b) == 0 {
		return r, nil, false, nil, errCorrupt
	}
	kind := b[0]
	b = b[1:]
	ok := true
	num := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	bytes := func() []byte {
		n := num()
		if !ok || n > uint64(len(b)) {
			ok = false
			return nil
		}
		out := b[:n:n]
		b = b[n:]
		return out
	}
	if kind == kindDefine {
		def = bytes()
		isDef = true
	} else {
		r.level, r.source = Level(kind&flagLevel), kind&flagSource>>2
		r.done, r.continues = kind&flagDone != 0, kind&flagContinue != 0
		r.seq = prev.seq + num()
		delta := num()
		r.time = prev.time + (int64(delta>>1) ^ -int64(delta&1))
		r.span, r.origin = uint32(num()), uint32(num())
		if kind&flagProgress != 0 {
			r.progress = uint32(num())
		}
		r.text = bytes()
	}
	if !ok || r.source >= sources {
		return r, nil, false, nil, errCorrupt
	}
	return r, def, isDef, b, nil
}

// load makes a view of a segment's bytes in one pass. The view uses the memory of old's marks and strings.
func load(buf []byte, old view) (view, error) {
	v := view{buf: buf, marks: old.marks[:0], strs: append(old.strs[:0], ""), origins: append(old.origins[:0], origin{})}
	prev, n := mark{}, 0
	for rest := buf; len(rest) > 0; {
		off := uint32(len(buf) - len(rest))
		r, def, isDef, next, err := decode(rest, prev)
		if err != nil {
			return view{}, err
		}
		rest = next
		if isDef {
			s := string(def)
			v.strs, v.origins = append(v.strs, s), append(v.origins, parseOrigin(s))
			continue
		}
		if n%blockLines == 0 {
			v.marks = append(v.marks, mark{off, prev.seq, prev.time})
		}
		n++
		prev.seq, prev.time = r.seq, r.time
		if int(max(r.span, r.origin, r.progress)) >= len(v.strs) {
			return view{}, errCorrupt
		}
	}
	v.last = prev.seq
	return v, nil
}

// block decodes the lines from mark i to the next into dst.
func (v *view) block(i int, dst []record) ([]record, error) {
	end := len(v.buf)
	if i+1 < len(v.marks) {
		end = int(v.marks[i+1].off)
	}
	prev, rest := v.marks[i], v.buf[v.marks[i].off:end]
	for len(rest) > 0 {
		r, _, isDef, next, err := decode(rest, prev)
		if err != nil {
			return nil, err
		}
		rest = next
		if !isDef {
			dst = append(dst, r)
			prev.seq, prev.time = r.seq, r.time
		}
	}
	return dst, nil
}

// find returns the block that contains the first line after seq, or the last block if there is none.
func (v *view) find(seq uint64) int {
	// marks[i].seq is the line before block i, so the first line after seq is in the last block with marks[i].seq <=
	// seq.
	i, _ := slices.BinarySearchFunc(v.marks, seq, func(m mark, seq uint64) int {
		if m.seq <= seq {
			return -1
		}
		return 1
	})
	return max(i-1, 0)
}
