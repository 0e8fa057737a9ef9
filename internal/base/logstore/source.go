package logstore

import (
	"errors"
	"io/fs"
	"sort"
	"sync"
	"time"
)

// source yields one resource's lines for a merge, in one direction. It yields only lines that pass the filter's sources
// and levels.
type source struct {
	s    *Store
	r    *resource
	m    mask
	back bool
	// pos is the last line passed; end is the last line to yield.
	pos, end uint64
	// passed, if not nil, is called before a segment is fetched, with the store's mutex held.
	passed func(r *resource)
	// once, if not nil, takes the spilled segments one after the other, because they are read only once: they do not
	// go into the store's cache.
	once *spillBuffer

	located bool // locate was called
	opened  bool // head is valid
	final   bool // no segment after the current one is needed
	v       view
	block   int
	// recs are the lines of the block. Their memory is decoded's, until release.
	recs []record
	i    int
}

// decoded has memory for the lines of blocks that is free to use again. A page of the logs of 1,000 resources decodes some twenty blocks of
// up to 40 KB, and each key that moves the cursor reads a page. Without this, their memory was a third of the garbage of a session.
var decoded = sync.Pool{New: func() any { return new([]record) }}

// release gives the memory of the lines back. The source is not used after that.
func (it *source) release() {
	if cap(it.recs) == 0 {
		return
	}
	all := it.recs[:cap(it.recs)]
	clear(all) // their texts are parts of segments
	all, it.recs = all[:0], nil
	decoded.Put(&all)
}

// next moves to the next line, which head returns, or closes the source before the next segment. It reports whether there may be more.
func (it *source) next() bool {
	for {
		for it.i+1 < len(it.recs) {
			it.i++
			rec := &it.recs[it.at()]
			if it.outside(rec.seq) {
				continue
			}
			it.pos = rec.seq
			if it.m.has(rec.source, rec.level) {
				return true
			}
		}
		if it.closes() {
			return true
		}
		if !it.nextBlock() {
			return false
		}
	}
}

// closes closes the source at the end of a segment, so that a merge unpacks the next one only if its line is due.
func (it *source) closes() bool {
	if it.final || !it.merged() || !it.ended() {
		return false
	}
	it.v, it.block, it.recs, it.i = view{}, 0, it.recs[:0], -1
	it.opened, it.located = false, false
	return true
}

// ended reports whether the last block of a segment has been read.
func (it *source) ended() bool {
	if len(it.v.marks) == 0 { // none has been fetched
		return false
	}
	if it.back {
		return it.block <= 0
	}
	return it.block >= len(it.v.marks)-1
}

// merged reports whether a merge reads pages from the source.
func (it *source) merged() bool { return it.opened && it.paged() }

// at returns the index of the current record.
func (it *source) at() int {
	if it.back {
		return len(it.recs) - 1 - it.i
	}
	return it.i
}

// key returns the number of the current line, or the first possible number before the source is opened.
func (it *source) key() uint64 {
	switch {
	case it.opened:
		return it.head().seq
	case it.back:
		return it.pos - 1
	}
	return it.pos + 1
}

func (it *source) head() *record { return &it.recs[it.at()] }

// outside reports whether a line was passed before or is beyond end.
func (it *source) outside(seq uint64) bool {
	if it.back {
		return seq >= it.pos || seq < it.end
	}
	return seq <= it.pos || seq > it.end
}

// nextBlock decodes the next block of lines, from the next segment if necessary.
func (it *source) nextBlock() bool {
	it.recs, it.i = it.recs[:0], -1
	step := 1
	if it.back {
		step = -1
	}
	it.block += step
	for it.block < 0 || it.block >= len(it.v.marks) {
		if !it.fetch() {
			it.v = view{}
			return false
		}
	}
	if it.recs == nil {
		it.recs = *decoded.Get().(*[]record)
	}
	recs, err := it.v.block(it.block, it.recs)
	if err != nil { // load and add never produce such bytes
		it.v = view{}
		return true
	}
	it.recs = recs
	return true
}

// fetch gets a view of the next segment that may contain lines to yield, and sets the block to start with.
func (it *source) fetch() bool {
	for {
		seg, v, file, ok := it.choose()
		if !ok {
			return false
		}
		if file != nil {
			var err error
			if v, err = it.s.readSpilled(seg, file, it.once); err != nil {
				it.skip(seg)
				continue
			}
		}
		it.v = v
		if it.back {
			it.block = v.find(it.pos - 1)
		} else {
			it.block = v.find(it.pos)
		}
		return true
	}
}

// place is the position of a spilled segment. Its numbers follow it.
type place struct {
	path                    string
	offset, length, numbers int64
}

// place returns where a spilled segment is; the store's mutex is held.
func (s *segment) place() place {
	return place{s.file.path, s.fileOffset, s.fileLength, s.numbersLength}
}

// choose finds the next segment, and returns a view of it or its place on disk.
func (it *source) choose() (*segment, view, *place, bool) {
	it.s.mu.Lock()
	defer it.s.mu.Unlock()
	if it.r.gone || it.final {
		return nil, view{}, nil, false
	}
	if it.passed != nil {
		it.passed(it.r)
	}
	for {
		seg := it.nextSegment()
		if seg == nil {
			return nil, view{}, nil, false
		}
		if seg.counts.of(it.m) == 0 {
			it.skip(seg)
			continue
		}
		if it.back {
			it.final = seg.first <= it.end
		} else {
			it.final = seg.last >= it.end
		}
		if seg.file != nil {
			at := seg.place()
			return seg, view{}, &at, true
		}
		return seg, view{buf: seg.buf, marks: seg.marks, strs: seg.strs, origins: seg.origins, last: seg.last}, nil, true
	}
}

// skip passes a whole segment.
func (it *source) skip(seg *segment) {
	if it.back {
		it.pos = seg.first
	} else {
		it.pos = seg.last
	}
}

// nextSegment returns the next segment with lines between pos and end; the store's mutex is held.
func (it *source) nextSegment() *segment {
	segs := it.r.segs
	if it.back {
		i := sort.Search(len(segs), func(i int) bool { return segs[i].first >= it.pos }) - 1
		if i < 0 || segs[i].last < it.end {
			return nil
		}
		return segs[i]
	}
	i := sort.Search(len(segs), func(i int) bool { return segs[i].last > it.pos })
	if i == len(segs) || segs[i].first > it.end {
		return nil
	}
	return segs[i]
}

// readSpilled returns a view of a segment on disk. With once the view is valid until the next call with the same once,
// and the cache stays as it is, so that a scan of the whole history does not push out the lines that a screen shows.
func (s *Store) readSpilled(seg *segment, p *place, once *spillBuffer) (view, error) {
	v, ok := s.cache.get(seg, once == nil)
	if ok {
		return v, nil
	}
	to := once
	if to == nil {
		to = &spillBuffer{}
	}
	err := s.spill.read(p.path, p.offset, p.length, to)
	if err == nil {
		v, err = load(to.buf, to.v)
	}
	if err != nil {
		s.reportRead(err)
		return view{}, err
	}
	to.v = v
	if once == nil {
		s.cache.put(seg, v)
	}
	return v, nil
}

// reportRead logs once that spilled lines cannot be read. It ignores a missing file: its lines were dropped.
func (s *Store) reportRead(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble || s.closed {
		return
	}
	s.trouble = true
	s.seq++
	s.addLocked(s.resourceLocked(""), &Entry{
		Time: s.now(), Level: LevelWarn, Text: "cannot read older log lines from disk: " + err.Error(),
	})
}

// line makes a Line of the current record.
func (it *source) line() Line {
	rec, o := it.head(), &it.v.origins[it.head().origin]
	return Line{
		Seq: rec.seq, Time: time.Unix(0, rec.time), Resource: it.r.name, Span: it.v.strs[rec.span],
		Source: sourceAt[rec.source], Level: rec.level, Continues: rec.continues, Prefix: o.prefix, Pod: o.pod, Container: o.container, Text: string(rec.text),
		ProgressID: it.v.strs[rec.progress], ProgressDone: rec.done,
	}
}

// ref is line without a copy.
func (it *source) ref() LineRef {
	rec, o := it.head(), &it.v.origins[it.head().origin]
	return LineRef{
		Seq: rec.seq, Time: time.Unix(0, rec.time), Resource: it.r.name, Span: it.v.strs[rec.span],
		Source: sourceAt[rec.source], Level: rec.level, Continues: rec.continues, Prefix: o.prefix, Pod: o.pod, Container: o.container, Text: rec.text,
		Replaced: it.v.strs[rec.progress] != "" && !rec.done,
	}
}
