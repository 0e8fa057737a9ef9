package loglist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestIndexAgainstAList compares an index with a sorted list of the same lines, while lines are added at both ends and trimmed.
func TestIndexAgainstAList(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		start := 1 + random.Uint64N(5000)
		x := newIndex(start)
		var want []ref
		low, high := start+1, start
		for range 2500 {
			r := ref{resource: model.ManifestName(fmt.Sprint("r", random.IntN(4)))}
			switch n := random.IntN(100); {
			case n < 30 && low > 400:
				low -= 1 + random.Uint64N(min(low-1, 300))
				r.seq = low
				x.add(r, true)
				want = append(want, r)
			case n < 99:
				high += 1 + random.Uint64N(300)
				r.seq = high
				x.add(r, false)
				want = append(want, r)
			default:
				oldest := low + random.Uint64N(high-low+2)
				x.trim(r.resource, oldest)
				want = slices.DeleteFunc(want, func(o ref) bool { return o.resource == r.resource && o.seq < oldest })
				low = max(low, 1) // the search continues below: nothing there is stored any longer
				if random.IntN(2) == 0 {
					low = 1
				}
			}
		}
		slices.SortFunc(want, func(a, b ref) int { return int(a.seq) - int(b.seq) })
		if x.n != len(want) {
			t.Fatalf("seed %d: %d lines instead of %d", seed, x.n, len(want))
		}
		for range 200 {
			at := random.Uint64N(high + 10)
			n := random.IntN(600)
			i, _ := slices.BinarySearchFunc(want, at, func(r ref, seq uint64) int { return int(r.seq) - int(seq) })
			if got := x.rank(at); got != i {
				t.Fatalf("seed %d: rank of %d is %d instead of %d", seed, at, got, i)
			}
			if got := x.before(at, n); !slices.Equal(want[max(0, i-n):i], got) {
				t.Fatalf("seed %d: before %d: %v", seed, at, got)
			}
			j, _ := slices.BinarySearchFunc(want, at+1, func(r ref, seq uint64) int { return int(r.seq) - int(seq) })
			if got := x.after(at, n); !slices.Equal(want[j:min(len(want), j+n)], got) {
				t.Fatalf("seed %d: after %d: %v", seed, at, got)
			}
		}
	}
}

// TestIndexIsSmall: a dense list takes little more than a byte per line.
func TestIndexIsSmall(t *testing.T) {
	x := newIndex(0)
	for seq := uint64(1); seq <= 1_000_000; seq++ {
		x.add(ref{seq, "api"}, false)
	}
	if got := x.bytes(); got > 2_500_000 {
		t.Errorf("a million lines take %d bytes", got)
	}
	x.trim("api", 999_000)
	if got := x.bytes(); got > 200_000 || x.n != 1001 {
		t.Errorf("after a trim, %d lines take %d bytes", x.n, got)
	}
}

// bytes returns the approximate memory that the index takes.
func (x *index) bytes() int {
	n := 0
	for _, f := range x.resources {
		n += f.older.bytes() + f.newer.bytes() + 128
	}
	return n
}

func (r *run) bytes() int {
	n := 8 * cap(r.decoded)
	for _, c := range r.chunks {
		n += cap(c.rest) + 48
	}
	return n
}
