package logstore

import (
	"fmt"
	"slices"
	"testing"
)

// FuzzLoad checks that a damaged segment is an error or harmless, never a panic.
func FuzzLoad(f *testing.F) {
	seg := newSegment(16)
	for i := range uint64(100) {
		seg.add(i+1, int64(i)*1e9, uint8(i%sources), &Entry{
			Level: Level(i % levels), Span: fmt.Sprint("span", i/10), Prefix: "[app] ", Pod: fmt.Sprint("pod", i/5), Continues: i%2 == 1, Text: fmt.Sprint("line ", i), ProgressID: "id",
		})
	}
	f.Add(seg.buf)
	f.Add([]byte{kindDefine, 1, 'x', 0, 1, 2, 1, 0, 0})
	f.Fuzz(func(t *testing.T, buf []byte) {
		v, err := load(buf, view{})
		if err != nil {
			return
		}
		for i := range v.marks {
			recs, err := v.block(i, nil)
			if err != nil {
				t.Fatalf("block %d of what load accepted: %v", i, err)
			}
			for _, r := range recs {
				_ = v.strs[r.span] + v.origins[r.origin].String() + v.strs[r.progress]
			}
		}
	})
}

func TestLoadIsWhatWasWritten(t *testing.T) {
	seg := newSegment(16)
	for i := range uint64(1000) {
		seg.add(2*i+1, int64(i)*1e9, uint8(i%sources), &Entry{Level: Level(i % levels), Span: fmt.Sprint("span", i%7), Text: fmt.Sprint("line ", i),
			Prefix: []string{"", "[a] "}[i%2], Pod: fmt.Sprint("pod", i%3), Container: "a", Continues: i%5 == 0})
	}
	v, err := load(seg.buf, view{})
	if err != nil || v.last != 1999 || len(v.marks) != len(seg.marks) || len(v.strs) != len(seg.strs) {
		t.Fatalf("loaded up to %d with %d marks and %d strings, %v", v.last, len(v.marks), len(v.strs), err)
	}
	if !slices.Equal(v.origins, seg.origins) || len(seg.originIDs) != 6 {
		t.Fatalf("origins are %v, were %v", v.origins, seg.origins)
	}
	for i, m := range v.marks {
		if m != seg.marks[i] {
			t.Fatalf("mark %d is %+v, was %+v", i, m, seg.marks[i])
		}
	}
}
