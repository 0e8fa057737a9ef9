package heap

import (
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
)

// The test's own program is run again, to look at a process that has just begun.
const look = "HONE_TEST_HEAP"

func TestMain(m *testing.M) {
	if os.Getenv(look) != "" {
		os.Stdout.WriteString(collections())
		return
	}
	os.Exit(m.Run())
}

// collections makes garbage, and returns the settings of the collector and its work before and after that.
func collections() string {
	var b strings.Builder
	note := func(what string) {
		runs := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
		metrics.Read(runs)
		b.WriteString(what)
		if runs[0].Value.Uint64() == 0 {
			b.WriteString(" none")
		} else {
			b.WriteString(" some")
		}
	}
	fill := func(bytes int) {
		for range bytes >> 20 {
			kept = make([]byte, 1<<20)
		}
	}
	fill(first / 2)
	note("before:")
	for range 20 { // the first collection ends beside the allocations
		fill(first)
	}
	note(", after:")
	if debug.SetGCPercent(usual) == usual {
		b.WriteString(", as usual")
	}
	return b.String()
}

var kept []byte

func TestFirst(t *testing.T) {
	for _, tc := range []struct{ name, set, want string }{
		{"on its own", "", "before: none, after: some, as usual"},
		{"configured", "GOGC=50", "before: some, after: some"},
		{"limited", "GOMEMLIMIT=1GiB", "before: some, after: some, as usual"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			for _, v := range os.Environ() {
				if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") {
					cmd.Env = append(cmd.Env, v)
				}
			}
			cmd.Env = append(cmd.Env, look+"=1", tc.set)
			out, err := cmd.Output()
			if err != nil || string(out) != tc.want {
				t.Errorf("%s, %v; want %s", out, err, tc.want)
			}
		})
	}
}

func TestPercent(t *testing.T) {
	if Configured() {
		t.Skip("the environment configures the collector")
	}
	defer Percent(Percent(77))
	CollectLate() // too late: it works as it was told
	if got := Percent(78); got != 77 {
		t.Errorf("before: %d", got)
	}
	if limit := debug.SetMemoryLimit(-1); limit == first || limit == late {
		t.Errorf("the limit is still %d", limit)
	}
}
