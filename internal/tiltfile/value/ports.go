package value

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// Port parses a port number, 1 to 65535.
func Port(s string) (int, error) {
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
