package logstore

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

func TestCursorCountsWhatItMissed(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	f := Filter{Resources: []model.ManifestName{"a", "b"}, MinLevel: LevelInfo}
	c, late := s.Cursor(f), (*Cursor)(nil)
	var read, skipped uint64
	for i := range 5000 {
		s.Append(Entry{Resource: "a", Level: Level(i % 4), Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		s.Append(Entry{Resource: "b", Level: LevelError, Text: "other"})
		if i%1100 == 0 {
			read += uint64(len(c.Next(100)))
			skipped += c.Skipped()
		}
		if i == 4000 {
			late = s.CursorAt(f, c.position())
		}
	}
	for _, c := range []*Cursor{c, late} {
		rest := uint64(0)
		for {
			n := len(c.Next(64))
			if n == 0 {
				break
			}
			rest += uint64(n)
		}
		if rest != uint64(s.Count(f)) {
			t.Errorf("read %d lines at the end, want the %d that are kept", rest, s.Count(f))
		}
	}
	skipped += c.Skipped()
	read += uint64(s.Count(f))
	if want := uint64(5000 + 3750); read+skipped != want {
		t.Errorf("read %d + skipped %d = %d, want %d", read, skipped, read+skipped, want)
	}
	if again := c.Skipped(); again != 0 {
		t.Errorf("Skipped again = %d, want 0", again)
	}
}

func TestCursorAtCountsOnlyWhatItMissed(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	write := func(n int) {
		for i := range n {
			s.Append(Entry{Resource: "a", Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		}
	}
	write(60)
	c := s.Cursor(Filter{})
	c.Next(45)
	resumed := s.CursorAt(Filter{}, c.position())
	write(1000)
	if len(c.Next(1)) != 1 || len(resumed.Next(1)) != 1 {
		t.Fatal("no line after the bound was hit")
	}
	if got, want := resumed.Skipped(), c.Skipped(); got != want || got == 0 {
		t.Errorf("resumed cursor skipped %d, the first one %d; want the same, not 0", got, want)
	}
}

func TestCursorFollowsWhileWritten(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir(), MemoryPerResource: 64 << 10})
	const writers, each = 4, 3000
	changed, cancel := s.Subscribe()
	defer cancel()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := s.Logger(model.ManifestName(fmt.Sprint("r", w)), "", SourceBuild)
			for i := range each {
				Infof(l, "%d", i)
			}
		})
	}
	next := map[model.ManifestName]int{}
	seq := uint64(0)
	for c, n := s.Cursor(Filter{}), 0; n < writers*each; {
		<-changed
		for lines := c.Next(100); len(lines) > 0; lines = c.Next(100) {
			for _, l := range lines {
				if l.Seq <= seq || l.Text != fmt.Sprint(next[l.Resource]) {
					t.Fatalf("line %d of %s is %q after number %d, want text %d", l.Seq, l.Resource, l.Text, seq, next[l.Resource])
				}
				seq = l.Seq
				next[l.Resource]++
				n++
			}
		}
	}
	wg.Wait()
}

// TestCursorSaysWhereLinesAreMissing drops lines while a cursor reads them: the lines that Skipped counts are missing
// before those that Next returned, and none within them.
func TestCursorSaysWhereLinesAreMissing(t *testing.T) {
	s := open(t, Options{MemoryPerResource: 8 << 10})
	write := func(n int) {
		for i := range n {
			s.Append(Entry{Resource: "a", Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))})
		}
	}
	write(100)
	late := 3000
	c := s.Cursor(Filter{Match: func(LineRef) bool {
		write(late) // once the cursor has begun
		late = 0
		return true
	}})
	var last, missing uint64
	gaps := 0
	for {
		lines := c.Next(10_000)
		skipped := c.Skipped()
		if skipped > 0 {
			gaps++
		}
		missing += skipped
		last += skipped
		for _, l := range lines {
			if last++; l.Seq != last {
				t.Fatalf("line %d comes after line %d, with %d lines missing before: %s", l.Seq, last-1, skipped, l.Text)
			}
		}
		if len(lines) == 0 {
			break
		}
	}
	if gaps != 1 || missing == 0 || last != 3100 {
		t.Errorf("%d gaps with %d lines, up to line %d; want one, up to line 3100", gaps, missing, last)
	}
}

// position returns the number of the last line that was read.
func (c *Cursor) position() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pos
}
