package chunk

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// random returns content that cannot be compressed.
func random(seed byte, size int) []byte {
	out := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(out)
	return out
}

func scan(t testing.TB, content []byte, bounds uint) (l List) {
	t.Helper()
	sum, size, err := Scan(bytes.NewReader(content), Max(bounds), func(c []byte) int {
		n := Cut(c, bounds)
		l = append(l, Of(c[:n]))
		return n
	})
	if err != nil || size != uint64(len(content)) || sum != protocol.SumOf(content) || l.Size() != size {
		t.Fatalf("scan of %d bytes: %d in %d chunks, %v", len(content), size, len(l), err)
	}
	var held List
	heldSum, heldSize := ScanHeld(content, func(c []byte) int {
		n := Cut(c, bounds)
		held = append(held, Of(c[:n]))
		return n
	})
	if heldSum != sum || heldSize != size || !slices.Equal(held, l) {
		t.Fatalf("the same %d bytes in memory: %d in %d chunks of %d", len(content), heldSize, len(held), len(l))
	}
	return l
}

// TestCut compares where contents are cut with the rule as it is written in the paper.
func TestCut(t *testing.T) {
	rule := func(content []byte, bounds uint) int {
		h := uint64(0)
		for i := 1 << bounds / 4; i < min(len(content), Max(bounds)); i++ {
			zeros := bounds - 1
			if i < 1<<bounds {
				zeros = bounds + 1
			}
			if h = h<<1 + gear[content[i]]; h>>(64-zeros) == 0 {
				return i + 1
			}
		}
		return min(len(content), Max(bounds))
	}
	for _, bounds := range []uint{10, 12} {
		for rest := random(3, 1<<20+5); len(rest) > 0; {
			n := Cut(rest, bounds)
			if want := rule(rest, bounds); n != want {
				t.Fatalf("bounds %d, %d bytes before the end: %d, want %d", bounds, len(rest), n, want)
			}
			rest = rest[n:]
		}
		for size := range 4 << bounds {
			content := make([]byte, size)
			if n, want := Cut(content, bounds), rule(content, bounds); n != want {
				t.Fatalf("bounds %d, %d zeros: %d, want %d", bounds, size, n, want)
			}
		}
	}
}

// TestScan cuts contents of many sizes; the chunks are within their limits, and of the expected size on average.
func TestScan(t *testing.T) {
	for _, bounds := range []uint{10, 12, 14, 16} {
		for _, size := range []int{0, 1, 100, 1<<bounds - 1, 1 << bounds, 8<<bounds + 1, window - 1, window, window + 1, 5<<20 + 7} {
			l := scan(t, random(1, size), bounds)
			for i, c := range l {
				if n := int(c.Size); n > Max(bounds) || n < 1<<bounds/4 && i < len(l)-1 {
					t.Errorf("bounds %d: chunk %d of %d has %d bytes", bounds, i, len(l), n)
				}
			}
			if mean := size / max(len(l), 1); len(l) > 50 && (mean < 1<<bounds/2 || mean > 2<<bounds) {
				t.Errorf("bounds %d: %d bytes on average", bounds, mean)
			}
		}
	}
	if l := scan(t, make([]byte, 1<<20), 12); int(l[0].Size) != Max(12) {
		t.Errorf("zeros: chunks of %d bytes", l[0].Size)
	}
}

// TestEdits inserts, removes and changes bytes: nearly all chunks stay.
func TestEdits(t *testing.T) {
	before := random(2, 4<<20)
	old := map[Chunk]bool{}
	for _, c := range scan(t, before, 12) {
		old[c] = true
	}
	for name, after := range map[string][]byte{
		"inserted": slices.Insert(slices.Clone(before), 2<<20, []byte("a line\n")...),
		"removed":  slices.Delete(slices.Clone(before), 1<<20, 1<<20+333),
		"changed":  append(append(slices.Clone(before[:3<<20]), "xyz"...), before[3<<20+3:]...),
		"in front": append([]byte("a line\n"), before...),
		"appended": append(slices.Clone(before), "a line\n"...),
	} {
		fresh := 0
		for _, c := range scan(t, after, 12) {
			if !old[c] {
				fresh += int(c.Size)
			}
		}
		if fresh == 0 || fresh > 64<<10 {
			t.Errorf("%s: %d bytes are new", name, fresh)
		}
	}
}

func TestCodec(t *testing.T) {
	l := scan(t, random(3, 1<<20), 10)
	b := l.Append(nil, 10)
	got, err := Parse(b, 1<<20)
	if err != nil || !slices.Equal(got, l) {
		t.Fatalf("%d chunks became %d: %v", len(l), len(got), err)
	}
	for name, b := range map[string][]byte{"empty": {}, "cut": b[:len(b)-1], "more": append(slices.Clone(b), b[1:]...), "zero": {10, 0, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if _, err := Parse(b, 1<<20); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzParse reads lists that a hostile container may send: a list that is accepted describes a file of the announced size.
func FuzzParse(f *testing.F) {
	f.Add(List{{100, 1}, {28, 2}}.Append(nil, 10), uint64(128))
	f.Fuzz(func(t *testing.T, b []byte, size uint64) {
		l, err := Parse(b, size)
		if err != nil {
			return
		}
		if l.Size() != size || len(l) > len(b) {
			t.Errorf("%d chunks of %d bytes for a file of %d", len(l), l.Size(), size)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	content := random(4, 8<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		scan(b, content, 12)
	}
}

func BenchmarkCut(b *testing.B) {
	content := random(4, 8<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		for rest := content; len(rest) > 0; rest = rest[Cut(rest, 12):] {
		}
	}
}
