package k8s

import (
	"strings"
	"testing"
)

// FuzzVersion parses the version document of a server.
func FuzzVersion(f *testing.F) {
	f.Add(`{"major":"1","minor":"34","gitVersion":"v1.34.4"}`)
	f.Add(`{"gitVersion":5}`)
	f.Fuzz(func(t *testing.T, in string) {
		if v, err := parseVersion([]byte(in)); (err == nil) == (v == "") {
			t.Errorf("%q: %q, %v", in, v, err)
		}
	})
}

// FuzzContainerID parses container ids of any runtime.
func FuzzContainerID(f *testing.F) {
	f.Add("containerd://0123")
	f.Add("docker-pullable://a@sha256:b")
	f.Fuzz(func(t *testing.T, in string) {
		runtime, rest := splitContainerID(in)
		if !strings.HasSuffix(in, rest) || !strings.HasPrefix(in, runtime) {
			t.Errorf("%q is %q and %q", in, runtime, rest)
		}
	})
}
