package process

import "testing"

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		line string
		want stat
	}{
		{"12 (sh) S 1 34 56 0 -1", stat{'S', 34, 56}},
		{"12 (a) Z) (b) Z 1 34 56 0 -1", stat{'Z', 34, 56}},
		{"", stat{}},
		{"12 (sh", stat{}},
		{"12 (sh) S 1 34", stat{}},
	} {
		if got := parseStat([]byte(tt.line)); got != tt.want {
			t.Errorf("%q: got %+v, want %+v", tt.line, got, tt.want)
		}
	}
}
