package version

import "testing"

func TestSatisfies(t *testing.T) {
	for constraint, want := range map[string]bool{
		">=0.30.0": true, ">0.37.0": false, "<0.37.0": false, "<=0.37": true, "0.37.0": true, "=0.37.0": true, "0.37": true,
		"0.x": true, "!=0.37.0": false, ">= 0.20 < 1.0": true, ">=1.0 || >=0.30": true, "~0.37.0": true, "^0.36": false,
		"^0.37.0": true, ">=0.13.0,<0.14.0": false, "v0.37.0": true, ">0.36": true, "!0.36.1": true,
	} {
		got, err := Satisfies("0.37.0", constraint)
		if err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", constraint, got, err, want)
		}
	}
	for _, bad := range []string{"", "abc", ">=", "||1.0", ">=1.0 foo", ">=99999999999999999999", "1.99999999999999999999"} {
		if _, err := Satisfies("0.37.0", bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}
