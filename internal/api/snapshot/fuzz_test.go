package snapshot

import (
	"strings"
	"testing"
)

// FuzzRead opens arbitrary files: each is restored, or refused with a reason.
func FuzzRead(f *testing.F) {
	f.Add(`{"snapshotVersion":1,"version":"0.1","snapshot":5,"tables":{"resources":[{"id":"web","version":1,"phase":"running","entry":{}}]}}`)
	f.Add(`{"snapshotVersion":1,"tables":{"sessions":[{"id":"","entry":null}],"updates":[{"entry":{"history":[{}]}}]}}`)
	f.Add(`{"snapshotVersion":99}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Read(strings.NewReader(in), "it")
		if err != nil {
			return
		}
		if _, err := Restore(s); err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
	})
}
