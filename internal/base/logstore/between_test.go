package logstore

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadBetween reads the end of a part of the log, and matches no line outside of it.
func TestReadBetween(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n := range 10 {
		s.Append(Entry{Resource: "web", Level: LevelInfo, Text: fmt.Sprint(n + 1)})
	}
	for _, tc := range []struct {
		from, to uint64
		n        int
		want     []string
	}{
		{2, 6, 10, []string{"3", "4", "5"}},
		{2, 6, 2, []string{"4", "5"}},
		{8, math.MaxUint64, 5, []string{"9", "10"}},
		{10, math.MaxUint64, 5, nil},
		{6, 6, 5, nil},
	} {
		var got []string
		looked := 0
		f := Filter{Match: func(LineRef) bool { looked++; return true }}
		for _, l := range s.ReadBetween(f, tc.from, tc.to, tc.n) {
			got = append(got, l.Text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || looked != len(tc.want) {
			t.Errorf("%d lines between %d and %d, %d looked at (-want +got):\n%s", tc.n, tc.from, tc.to, looked, diff)
		}
	}
}
