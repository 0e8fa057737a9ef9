package logstore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// Inventory describes the content of a store for one resource.
type Inventory struct {
	// Resource is empty for lines that belong to no resource.
	Resource model.ManifestName
	// Lines counts the stored lines, and Dropped the lines that the bounds pushed out.
	Lines, Dropped uint64
	// MemoryBytes and DiskBytes are the sizes of the segments; on disk they are compressed.
	MemoryBytes, DiskBytes int64
	// Segments are in the order of their lines.
	Segments []SegmentInfo
	// Spans are in the order of their first lines.
	Spans []SpanInfo
}

// SegmentInfo describes a run of lines of one resource.
type SegmentInfo struct {
	// First and Last are the numbers of the first and the last line.
	First, Last uint64
	Lines       int
	// Spilled is set if it is on disk.
	Spilled bool
}

// SpanInfo holds the range of a span's stored lines. Lines of other spans may lie between them.
type SpanInfo struct {
	Name        string
	First, Last uint64
}

// Inventory describes all resources that have stored lines, in the order of their names.
func (s *Store) Inventory() []Inventory {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Inventory
	every := Filter{}.mask()
	for _, r := range s.resources {
		i := Inventory{Resource: r.name, Lines: r.counts.of(every), Dropped: r.dropped.of(every), MemoryBytes: r.memory, DiskBytes: r.disk}
		for n, seg := range r.segs {
			i.Segments = append(i.Segments, SegmentInfo{First: seg.first, Last: seg.last, Lines: seg.lines, Spilled: n < r.spilled})
		}
		i.Spans = r.spanInfos()
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Inventory) int { return strings.Compare(string(a.Resource), string(b.Resource)) })
	return all
}

// spanInfos returns the ranges of the resource's spans in the order of their first lines.
func (r *resource) spanInfos() []SpanInfo {
	if len(r.spans) == 0 {
		return nil
	}
	spans := make([]SpanInfo, 0, len(r.spans))
	for name, span := range r.spans {
		spans = append(spans, SpanInfo{Name: name, First: span.first, Last: span.last})
	}
	slices.SortFunc(spans, func(a, b SpanInfo) int { return cmp.Or(cmp.Compare(a.First, b.First), strings.Compare(a.Name, b.Name)) })
	return spans
}
