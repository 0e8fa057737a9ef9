package view

import (
	"net"
	"net/netip"
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
)

// On returns the machine of the session in at most width columns: first the user gives way, then the port, the domain, and the middle of
// the name.
func (h Header) On(width int) string {
	_, place, named := strings.Cut(h.Box, "@")
	if !named {
		place = h.Box
	}
	host, _, err := net.SplitHostPort(place)
	if err != nil {
		host = place
	}
	names := []string{h.Box, place, host}
	if _, err := netip.ParseAddr(host); err != nil {
		label, _, of := strings.Cut(host, ".")
		if host = label; of {
			names = append(names, label+"…")
		}
	}
	for _, name := range names {
		if text.Width(name) <= width {
			return name
		}
	}
	return text.CutMiddle(host, width)
}
