package process

import (
	"bytes"
	"testing"
)

// FuzzStat parses /proc/PID/stat of processes with arbitrary names.
func FuzzStat(f *testing.F) {
	f.Add("hone", "S 1 2 3 4")
	f.Add(") Z 1 1 1 1 (", "R 1 2 3 4")
	f.Fuzz(func(t *testing.T, name, rest string) {
		s := parseStat([]byte("12 (" + name + ") S 1 22 333 0 -1 4194560"))
		if s != (stat{'S', 1, 22, 333}) {
			t.Errorf("%q: %+v", name, s)
		}
		if s := parseStat([]byte("12 (x) " + rest)); s.living() && !bytes.HasPrefix([]byte(rest), []byte{s.state}) {
			t.Errorf("%q: %+v", rest, s)
		}
	})
}
