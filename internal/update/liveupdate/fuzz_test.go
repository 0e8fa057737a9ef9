package liveupdate

import (
	"strings"
	"testing"
)

// FuzzOwners parses the answer of an unknown container.
func FuzzOwners(f *testing.F) {
	f.Add("uid 1000\n-rw-r--r-- 1 0 0 5 Jan 1 00:00 /site/index.html\nlrwxrwxrwx 1 1 2 3 Jan 1 00:00 /a -> /b\n")
	f.Add("uid 99999999999\nls: /x: No such file or directory\n- a b c /\n")
	f.Fuzz(func(t *testing.T, in string) {
		o := parseSurvey(in)
		for name := range o.of {
			if !strings.HasPrefix(name, "/") || strings.Contains(name, "\n") {
				t.Errorf("%q of %q", name, in)
			}
			o.owner(Copy{Remote: name})
		}
		if o.uid < -1 {
			t.Errorf("uid %d", o.uid)
		}
	})
}
