//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResults(t *testing.T) {
	out := `goos: linux
pkg: example
BenchmarkDecide300-2   	    1234	    123456 ns/op	  1000 B/op	      10 allocs/op
BenchmarkIngest/spilled_with_100_secrets-2  	 1	 1000 ns/op	 1000000 lines/s	 1.5 heap-MB
PASS
`
	want := []result{{name: "Decide300", each: 123456, metrics: map[string]float64{"ns/op": 123456, "B/op": 1000, "allocs/op": 10}},
		{name: "Ingest/spilled_with_100_secrets", each: 1000, rate: 1e6, unit: "lines/s",
			metrics: map[string]float64{"ns/op": 1000, "lines/s": 1e6, "heap-MB": 1.5}}}
	if diff := cmp.Diff(want, results([]byte(out)), cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	var many times
	for i := 10; i > 0; i-- {
		many = append(many, time.Duration(i)*time.Millisecond)
	}
	for _, tc := range []struct {
		times times
		want  string
	}{
		{nil, ""},
		{times{1500 * time.Millisecond, 20 * time.Microsecond}, "1.50 s, 20 µs"},
		{many, "6 ms / 10 ms / 10 ms (10)"},
	} {
		if got := tc.times.String(); got != tc.want {
			t.Errorf("%v: %q, want %q", []time.Duration(tc.times), got, tc.want)
		}
	}
}
