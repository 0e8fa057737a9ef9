package k8s

import (
	"regexp"
	"strings"
)

// wayToPort matches the beginning of a message in which kubelets and container runtimes name their own parts of the way to
// a port. The cause follows it.
var wayToPort = regexp.MustCompile(`^(?:an error occurred forwarding \d+ -> \d+|error forwarding port \d+ to pod [^:]*|unable to do port forwarding|` +
	`failed to execute portforward in network namespace "[^"]*"|failed to connect to localhost:\d+ inside namespace "[^"]*", (?:IPv4|IPv6)|` +
	`(?:read|write) tcp\d? \S+->\S+|dial tcp\d? \S+|error copying from (?:remote stream to local connection|local connection to remote stream))(?:: |$)`)

// portReset is the message for a program that resets a connection. Packages that use connections to pods look for it.
const portReset = "the program reset the connection"

// portReason returns the cause of a failure at a port of a pod, in few words, from the message of a kubelet or a container
// runtime.
func portReason(text string) string {
	text = strings.TrimSpace(text)
	for {
		rest := text[len(wayToPort.FindString(text)):]
		if rest == text || rest == "" {
			break
		}
		text = rest
	}
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, "connection refused"):
		return "connection refused"
	case strings.Contains(lower, "connection reset by peer"), strings.Contains(lower, "broken pipe"):
		return portReset
	}
	return shorten(text, 400)
}
