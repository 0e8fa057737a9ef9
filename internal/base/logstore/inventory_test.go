package logstore

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInventory(t *testing.T) {
	s := open(t, Options{})
	for i := range 3 {
		s.Append(Entry{Resource: "web", Span: fmt.Sprintf("build:%d", i/2), Level: Level(i), Text: "line"})
	}
	s.Append(Entry{Text: "of nobody"})
	s.Append(Entry{Resource: "web", Span: "build:0", Text: "late"})
	got := s.Inventory()
	for i := range got {
		if got[i].MemoryBytes <= 0 || got[i].DiskBytes != 0 {
			t.Errorf("%q takes %d bytes of memory and %d of the disk", got[i].Resource, got[i].MemoryBytes, got[i].DiskBytes)
		}
		got[i].MemoryBytes = 0
	}
	want := []Inventory{
		{Lines: 1, Segments: []SegmentInfo{{First: 4, Last: 4, Lines: 1}}},
		{Resource: "web", Lines: 4, Segments: []SegmentInfo{{First: 1, Last: 5, Lines: 4}},
			Spans: []SpanInfo{{"build:0", 1, 5}, {"build:1", 3, 3}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInventoryOfABoundedStore checks the number of dropped lines, and the places of the others.
func TestInventoryOfABoundedStore(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s := open(t, Options{Dir: dir, MemoryPerResource: 4 << 10})
		l := s.Logger("web", "", SourceRuntime)
		for i := range 2000 {
			Infof(l, "%d of many lines that are no shorter than this one", i)
		}
		// With a disk a writer waits for the keeper, so some lines are on disk by now.
		got := s.Inventory()[0]
		if got.Lines+got.Dropped != 2000 {
			t.Errorf("%d lines are kept and %d dropped of 2000", got.Lines, got.Dropped)
		}
		var lines uint64
		spilled := 0
		for _, seg := range got.Segments {
			lines += uint64(seg.Lines)
			if seg.Spilled {
				spilled++
			}
		}
		if lines != got.Lines {
			t.Errorf("the segments have %d lines, the resource %d", lines, got.Lines)
		}
		if dir == "" && (got.Dropped == 0 || spilled > 0) || dir != "" && (spilled == 0 || got.DiskBytes == 0) {
			t.Errorf("dir %q: %d segments are spilled, %d bytes on disk, %d lines dropped", dir, spilled, got.DiskBytes, got.Dropped)
		}
	}
}
