//go:build linux

package agent

import (
	"math"
	"testing"
)

func TestAmount(t *testing.T) {
	for text, want := range map[string]uint64{
		"max\n": math.MaxUint64, "0\n": 0, "9223372036854771712\n": 9223372036854771712, "123": 123, "": 0, "x": 0, "99999999999999999999999": math.MaxUint64,
	} {
		if got := amount([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
