package server

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// PageLogin is the way of a browser to the session's page. Its methods may be called from any goroutine.
type PageLogin struct {
	tickets *access.Tickets
	base    url.URL
	open    bool
}

// NewPageLogin returns the page login of a port; a nil listener has none.
func NewPageLogin(tcp net.Listener) *PageLogin {
	d := &PageLogin{tickets: access.NewTickets(nil)}
	if tcp == nil {
		return d
	}
	if at, ok := tcp.Addr().(*net.TCPAddr); ok {
		d.base, d.open = url.URL{Scheme: "http", Host: net.JoinHostPort(pageHost(at.IP), strconv.Itoa(at.Port)), Path: "/"}, true
	}
	return d
}

// pageHost returns the host of the page's address: an address, not localhost. Ports share the cookies of a host, and the services
// that are developed are usually opened as localhost. They would be sent the page's cookie.
func pageHost(ip net.IP) string {
	switch {
	case !ip.IsUnspecified():
		return ip.String()
	case ip.To4() != nil:
		return "127.0.0.1"
	}
	return "::1"
}

// Address returns the address of the page without a ticket; empty for a session without a port.
func (d *PageLogin) Address() string {
	if !d.open {
		return ""
	}
	return d.base.String()
}

// Ticket returns an address that lets one browser in, once and within a minute. It leads to a resource, or to the overview if
// resource is empty.
func (d *PageLogin) Ticket(resource string) (string, error) {
	if !d.open {
		return "", problem.New("this session has no port, and thus no web page", "start it without --port=none")
	}
	u := d.base
	u.RawQuery = url.Values{"ticket": {d.tickets.Issue(pagePath(resource))}}.Encode()
	return u.String(), nil
}

// pagePath returns the path of the page of a resource.
func pagePath(resource string) string {
	if resource == "" {
		return "/"
	}
	return "/#/r/" + url.PathEscape(resource)
}

// ticket handles POST /api/ticket. A page cannot make tickets: its rights end with its cookie.
func (s *Subscriber) ticket(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.TicketRequest
	if !decode(w, r, &req) {
		return
	}
	if access.ByCookie(r.Context()) {
		fail(w, http.StatusForbidden, "a web page cannot let another browser in")
		return
	}
	if err := shown(src.View(), req.Resource); err != nil {
		failBy(w, codeOf(err), err)
		return
	}
	address, err := s.options.PageLogin.Ticket(req.Resource)
	if err != nil {
		failBy(w, http.StatusConflict, err)
		return
	}
	respond(w, api.Ticket{URL: address, ExpiresAt: time.Now().Add(access.TicketTime)})
}

// shown returns an error for a name that no resource has. Before the first successful evaluation of the Tiltfile, the names are
// unknown.
func shown(v store.View, name string) error {
	if name == "" || name == string(model.TiltfileName) || !state.TheTiltfile(v).Good {
		return nil
	}
	all := []string{string(model.TiltfileName)}
	for _, t := range intent.Switchable(v) {
		if t.Name == name {
			return nil
		}
		all = append(all, t.Name)
	}
	return intent.NoResource(v, name, all)
}
