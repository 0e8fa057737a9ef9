package tiltfiles

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/tiltfile/profile"
)

// profiled returns a profile with fixed times.
func profiled() *profile.Profile {
	calls := func(n int, own time.Duration) profile.CallTimes {
		return profile.CallTimes{Calls: n, Total: 2 * own, Own: own, Slowest: own / 2}
	}
	remembered := calls(3, 4*time.Millisecond)
	remembered.Remembered = 2
	return &profile.Profile{Total: 100 * time.Millisecond, Compile: 10 * time.Millisecond, Assembly: 20 * time.Millisecond,
		Builtins: []profile.BuiltinProfile{
			{Name: "local", CallTimes: calls(2, 40*time.Millisecond), Sites: []profile.SiteProfile{
				{File: "/p/Tiltfile", Line: 3, CallTimes: calls(1, 35*time.Millisecond)},
				{File: "/p/Tiltfile", Line: 9, CallTimes: calls(1, 5*time.Millisecond)},
			}},
			{Name: "k8s_yaml", CallTimes: remembered},
		}}
}

func TestProfileTable(t *testing.T) {
	var out bytes.Buffer
	if err := writeProfile(&out, *describeProfile(profiled(), 0)); err != nil {
		t.Fatal(err)
	}
	want := `        OWN      TOTAL    SLOWEST  CALLS  WHAT
  10.000 ms  10.000 ms                    reading Starlark source
  26.000 ms  26.000 ms                    the program itself
  20.000 ms  20.000 ms                    assembling resources
  40.000 ms  80.000 ms  20.000 ms      2  local
  35.000 ms  70.000 ms  17.500 ms      1    Tiltfile:3
   5.000 ms  10.000 ms   2.500 ms      1    Tiltfile:9
   4.000 ms   8.000 ms   2.000 ms      3  k8s_yaml (2 remembered)

100.000 ms in all
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProfileThreshold(t *testing.T) {
	p := describeProfile(profiled(), 10*time.Millisecond)
	if len(p.Builtins) != 1 || len(p.Builtins[0].Sites) != 1 || p.TotalMillis != 100 {
		t.Errorf("%+v", p)
	}
}
