package model

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// ParsePort parses a port number, 1 to 65535.
func ParsePort(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("%s is not a port (1 to 65535)", s)
	}
	return n, nil
}

// BareHost removes the brackets that separate an IPv6 address from a port.
func BareHost(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(inner, ":") {
			return "", fmt.Errorf("%q is not an IPv6 address in brackets", host)
		}
		host = inner
	}
	return host, CheckHost(host)
}

// CheckHost refuses a text that is neither a host name nor the address of a host.
func CheckHost(host string) error {
	if strings.ContainsFunc(host, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(" /[]", r) }) {
		return fmt.Errorf("%q is not the name or address of a host", host)
	}
	if strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("%q is neither the name of a host nor an IPv6 address", host)
		}
	}
	return nil
}

// ParsePortForward parses "local", "local:container", "host:local:container" or "[IPv6 address]:local:container".
func ParsePortForward(s string) (PortForward, error) {
	var pf PortForward
	ports := s
	if i := strings.LastIndexByte(s, ']'); i > 0 && s[0] == '[' {
		pf.Host, ports = s[:i+1], strings.TrimPrefix(s[i+1:], ":")
	} else if parts := strings.Split(s, ":"); len(parts) > 2 {
		last := len(parts) - 2
		pf.Host, ports = strings.Join(parts[:last], ":"), strings.Join(parts[last:], ":")
	}
	local, container, both := strings.Cut(ports, ":")
	if pf.Host != "" && !both {
		return pf, fmt.Errorf("%q: there is only one port after the host; the form is %s", s, portForwardForms)
	}
	var err error
	if pf.Host, err = BareHost(pf.Host); err != nil {
		return pf, err
	}
	if pf.LocalPort, err = ParsePort(local); err != nil {
		return pf, fmt.Errorf("%q: %w; the form is %s", s, err, portForwardForms)
	}
	if both {
		if pf.ContainerPort, err = ParsePort(container); err != nil {
			return pf, fmt.Errorf("%q: %w", s, err)
		}
	}
	return pf, nil
}

const portForwardForms = `"local", "local:container" or "host:local:container"`
