package logstore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// TestNumbers finds the lines around any number, for distances that take one byte and more.
func TestNumbers(t *testing.T) {
	seg, rng := newSegment(16), rand.New(rand.NewPCG(1, 2))
	var all []uint64
	for seq := uint64(1000); len(all) < 300; seq += 1 + rng.Uint64N([]uint64{1, 10, 1000, 100_000}[len(all)%4]) {
		all = append(all, seq)
		seg.add(seq, 0, 0, &Entry{Span: fmt.Sprint("span", len(all)/10), Text: "line"})
	}
	n, err := numbersOf(seg.buf)
	if err != nil {
		t.Fatal(err)
	}
	for i, seq := range all {
		for _, near := range []uint64{seq - 1, seq, seq + 1} {
			if k, _ := slices.BinarySearch(all, near+1); k < len(all) && n.after(seg.first, near) != all[k] {
				t.Errorf("after %d comes %d, want %d", near, n.after(seg.first, near), all[k])
			}
			if k, _ := slices.BinarySearch(all, near); k > 0 && n.before(seg.first, near) != all[k-1] {
				t.Errorf("before %d comes %d, want %d (line %d)", near, n.before(seg.first, near), all[k-1], i)
			}
		}
	}
}

// TestPageOfManyResources reads pages from everywhere in a log of many resources on disk. They equal the pages of a log in
// memory, and only the segments of the lines that are read are unpacked.
func TestPageOfManyResources(t *testing.T) {
	const resources, lines, page = 50, 20_000, 20
	disk, memory := open(t, Options{Dir: t.TempDir(), MemoryTotal: 8 << 10}), open(t, Options{MemoryPerResource: 1 << 30})
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range lines {
		e := Entry{Time: time.Unix(int64(i), 0), Resource: model.ManifestName(fmt.Sprint("r", rng.IntN(resources))), Level: Level(rng.IntN(levels)), Source: sourceAt[rng.IntN(sources)],
			Text: fmt.Sprintf("line %d %x", i, rng.Uint64())}
		disk.Append(e)
		memory.Append(e)
	}
	await(t, disk, func() bool { return disk.fullestLocked() == nil })
	for _, f := range []Filter{{}, {MinLevel: LevelWarn}, {Sources: []Source{SourceBuild}}, {Resources: []model.ManifestName{"r1", "r2", "r3"}}} {
		for range 100 {
			seq := rng.Uint64N(lines + 10)
			same(t, "after", memory.ReadAfter(f, seq, page), disk.ReadAfter(f, seq, page))
			same(t, "before", memory.ReadBefore(f, seq, page), disk.ReadBefore(f, seq, page))
		}
	}
	disk.cache = viewCache{}
	if got := disk.ReadAfter(Filter{}, lines/2, page); len(got) != page {
		t.Fatalf("%d lines", len(got))
	}
	if n := len(disk.cache.entries); n == 0 || n > page {
		t.Errorf("%d segments are unpacked for %d lines", n, page)
	}
}
