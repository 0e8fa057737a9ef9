package logstore

import (
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// resource holds the segments of one resource. The store's mutex guards all of it.
type resource struct {
	name model.ManifestName
	// segs are in the order of their lines. The first `spilled` ones are on disk, the last one may be open; none is
	// empty.
	segs    []*segment
	spilled int
	last    uint64

	counts  counts // of the stored lines
	dropped counts // of the lines that the bounds pushed out

	memory int64 // bytes of the segments that are in memory
	disk   int64 // bytes of the files
	files  []*spillFile

	spans   map[string]*spanRange
	newest  string // the span of the last line
	current *spanRange
	gone    bool // removed by Drop
}

// spanRange is the range of a span's lines. Lines of other spans may lie between them.
type spanRange struct{ first, last uint64 }

// add appends a line and returns the number of bytes by which the resource grew.
func (r *resource) add(seq uint64, segmentSize int, e *Entry) (grown int64) {
	need := room(e)
	seg := r.openSegment()
	if seg != nil && len(seg.buf)+need > segmentSize {
		seg.seal()
		seg = nil
	}
	if seg == nil {
		size := min(firstSegment, segmentSize)
		if len(r.segs) > 0 {
			size = segmentSize
		}
		seg = newSegment(max(size, need))
		r.segs = append(r.segs, seg)
		grown = int64(cap(seg.buf))
	} else if had := cap(seg.buf); had-len(seg.buf) < need {
		size := max(min(2*had, segmentSize), len(seg.buf)+need)
		seg.buf = append(make([]byte, 0, size), seg.buf...)
		grown = int64(cap(seg.buf) - had)
	}
	source := sourceIndex(e.Source)
	seg.add(seq, e.Time.UnixNano(), source, e)
	r.counts[source][e.Level]++
	r.last = seq
	r.extendSpan(seq, e.Span)
	return grown
}

func (r *resource) openSegment() *segment {
	if n := len(r.segs); n > 0 && !r.segs[n-1].sealed {
		return r.segs[n-1]
	}
	return nil
}

func (r *resource) extendSpan(seq uint64, span string) {
	if span == "" {
		return
	}
	if r.current == nil || r.newest != span {
		sp := r.spans[span]
		if sp == nil {
			sp = &spanRange{first: seq}
			r.spans[span] = sp
		}
		r.newest, r.current = span, sp
	}
	r.current.last = seq
}

// drop removes the oldest n segments and returns how many bytes of memory they used.
func (r *resource) drop(n int) (freed int64) {
	var oldest uint64
	for _, seg := range r.segs[:n] {
		r.counts.sub(seg.counts)
		r.dropped.add(seg.counts)
		freed += seg.memory()
		oldest = seg.last + 1
	}
	r.segs = slices.Delete(r.segs, 0, n)
	r.spilled = max(0, r.spilled-n)
	for name, sp := range r.spans {
		if sp.last < oldest {
			delete(r.spans, name)
		} else {
			sp.first = max(sp.first, oldest)
		}
	}
	if r.spans[r.newest] == nil {
		r.newest, r.current = "", nil
	}
	return freed
}

// spillable returns the oldest segment in memory, sealed.
func (r *resource) spillable() *segment {
	if r.spilled == len(r.segs) {
		return nil
	}
	seg := r.segs[r.spilled]
	if !seg.sealed {
		seg.seal()
	}
	return seg
}

// markSpilled records that the oldest segment in memory is now in f, and returns how many bytes that freed.
func (r *resource) markSpilled(f *spillFile, offset, length, numbers int64) (freed int64) {
	seg := r.segs[r.spilled]
	freed = seg.memory()
	seg.text = nil
	seg.file, seg.fileOffset, seg.fileLength, seg.numbersLength = f, offset, length, numbers
	r.spilled++
	f.segments++
	f.size += length + numbers
	r.disk += length + numbers
	if n := len(r.files); n == 0 || r.files[n-1] != f {
		r.files = append(r.files, f)
	}
	return freed
}
