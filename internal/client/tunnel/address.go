package tunnel

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// Scheme begins the addresses of sessions on other machines.
const Scheme = "ssh://"

// Address is a machine that the user's ssh reaches, and maybe a session there.
type Address struct {
	// User and Port are empty if the user's configuration has them.
	User, Host, Port string
	// Session is empty for the only session there.
	Session string
}

// ParseAddress parses ssh://[USER@]BOX[:PORT][/SESSION].
func ParseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Address{}, malformed(s, "it is not an address")
	}
	a := Address{User: u.User.Username(), Host: u.Hostname(), Port: u.Port(), Session: strings.Trim(u.Path, "/")}
	_, secret := u.User.Password()
	switch {
	case u.Scheme+"://" != Scheme:
		return a, malformed(s, "it does not begin with "+Scheme)
	case a.Host == "":
		return a, malformed(s, "it names no machine")
	case secret:
		return a, malformed(Scheme+a.Box(), "it has a password, which ssh does not take")
	case u.RawQuery != "" || u.Fragment != "":
		return a, malformed(s, "nothing follows the session")
	case strings.HasPrefix(a.Host, "-") || strings.HasPrefix(a.User, "-"):
		return a, malformed(s, "ssh would take it for a flag")
	case a.Session != "" && !sessions.ValidName(a.Session):
		return a, malformed(s, fmt.Sprintf("no session can be called %q", a.Session))
	}
	return a, nil
}

func malformed(s, why string) error {
	return problem.New(fmt.Sprintf("%q names no session on another machine: %s", s, why), "write ssh://[USER@]BOX[:PORT][/SESSION]")
}

// Box names the machine for messages: box, or user@box:port.
func (a Address) Box() string {
	box := a.Host
	if a.Port != "" {
		box = net.JoinHostPort(a.Host, a.Port)
	}
	if a.User != "" {
		box = a.User + "@" + box
	}
	return box
}

// Of returns the address of a session on the machine.
func (a Address) Of(session string) string { return Scheme + a.Box() + "/" + session }

// Command returns the command line that runs a command on the machine, with flags of ssh in front. ssh asks no questions: they would be
// drawn into the screen.
func (a Address) Command(flags []string, command ...string) []string {
	argv := append([]string{"ssh", "-o", "BatchMode=yes"}, flags...)
	if a.User != "" {
		argv = append(argv, "-l", a.User)
	}
	if a.Port != "" {
		argv = append(argv, "-p", a.Port)
	}
	return append(append(argv, "--", a.Host), command...)
}
