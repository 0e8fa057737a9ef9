package k8s

import (
	"strings"
	"testing"
)

func TestPortReason(t *testing.T) {
	const sandbox = "4a1c0b5b4c1b0f2f3f0a7b1a5a9a8d7c6b5a4938271605f4e3d2c1b0a9f8e7d6"
	way := "an error occurred forwarding 34567 -> 8080: error forwarding port 8080 to pod " + sandbox + ", uid : failed to execute portforward in network namespace \"/var/run/netns/cni-11111111-2222-3333-4444-555555555555\": "
	for name, tc := range map[string]struct{ text, want string }{
		"refused": {way + `failed to connect to localhost:8080 inside namespace "` + sandbox + `", IPv4: dial tcp4 127.0.0.1:8080: connect: connection refused IPv6 dial tcp6: address localhost: no suitable address found `, "connection refused"},
		"reset":   {way + "read tcp4 127.0.0.1:51234->127.0.0.1:8080: read: connection reset by peer", portReset},
		"CRI-O":   {"an error occurred forwarding 1 -> 2: error forwarding port 2 to pod x, uid : exit status 1: socat E connect(5, AF=2 127.0.0.1:2, 16): Connection refused\n", "connection refused"},
		"gone":    {way + "network namespace is gone", "network namespace is gone"},
		"unknown": {"something else", "something else"},
		"empty":   {"an error occurred forwarding 1 -> 2: ", "an error occurred forwarding 1 -> 2:"},
	} {
		if got := portReason(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := portReason(strings.Repeat("x", 1000)); len(got) > 450 {
		t.Errorf("%d bytes", len(got))
	}
}
