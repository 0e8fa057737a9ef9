package client

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// Selector selects a session. The first field that is set counts.
type Selector struct {
	// Name is the session's name. Last returns the project of the last session with a name that none has now; it may be nil.
	Name string
	Last func(name string) (p sessions.Project, known bool, err error)
	// Host and Port are the TCP address of the session; a Port of 0 means that they are not set.
	Host string
	Port int
	// Token is the token that requests have. Without one, a session on this machine gives them all rights, and another refuses them.
	Token string
	// Dir is the user's working folder. It selects the session of the Tiltfile in that folder, or in the closest parent
	// folder that has one.
	Dir string
}

// Find returns the selected session, or a problem that lists the running sessions.
func Find(ctx context.Context, r *sessions.Registry, w Selector) (*Client, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	if w.Name == "" && w.Port != 0 {
		return byPort(all, w), nil
	}
	s, err := choose(all, w)
	if err != nil {
		return nil, err
	}
	if s.Socket == "" {
		return nil, problem.New(fmt.Sprintf("session %s is still starting", s.Name), "wait a moment; hone sessions shows its state")
	}
	return Over(s).As(w.Token), nil
}

// byPort returns a client for the session at a port: over the socket if the session is in the registry, otherwise at its
// address.
func byPort(all []sessions.Info, w Selector) *Client {
	for _, s := range all {
		sameHost := s.Host == w.Host || loopback(s.Host) && loopback(w.Host)
		if sameHost && s.Port == w.Port && s.Socket != "" {
			return Over(s).As(w.Token)
		}
	}
	return At(sessions.Info{Host: w.Host, Port: w.Port}, w.Token)
}

// loopback reports whether a host is a loopback address of this machine or stands for all its addresses.
func loopback(host string) bool {
	if host == "localhost" || host == "" {
		return true
	}
	ip := net.ParseIP(host) // nil, which is neither, for a name
	return ip.IsLoopback() || ip.IsUnspecified()
}

// choose returns the session selected by name or by folder, or the only running session.
func choose(all []sessions.Info, w Selector) (sessions.Info, error) {
	if w.Name != "" {
		for _, s := range all {
			if s.Name == w.Name {
				return s, nil
			}
		}
		return sessions.Info{}, w.absent(all)
	}
	here := nearest(all, w.Dir)
	switch {
	case len(here) == 1:
		return here[0], nil
	case len(here) > 1:
		return sessions.Info{}, ambiguous("several sessions work on this project", here)
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return sessions.Info{}, problem.New("no session is running", "start one with hone up, or in the background with hone up --detach")
	}
	return sessions.Info{}, ambiguous("several sessions are running, and none of them works on this folder", all)
}

// absent returns the problem that no session has the name.
func (w Selector) absent(all []sessions.Info) error {
	if w.Last != nil {
		if p, known, err := w.Last(w.Name); err == nil && known {
			return problem.New(fmt.Sprintf("session %s has ended; it worked on %s", w.Name, p.Tiltfile),
				fmt.Sprintf("start it again: hone up --session %s -f %s", w.Name, p.Tiltfile))
		}
	}
	return ambiguous(fmt.Sprintf("no session is called %q", w.Name), all)
}

// nearest returns the sessions whose Tiltfile is in the folder, or else in the closest parent folder with any.
func nearest(all []sessions.Info, dir string) []sessions.Info {
	if dir == "" {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		var found []sessions.Info
		for _, s := range all {
			if filepath.Dir(s.Tiltfile) == dir {
				found = append(found, s)
			}
		}
		parent := filepath.Dir(dir)
		if len(found) > 0 || parent == dir {
			return found
		}
		dir = parent
	}
}

// ambiguous returns a problem that lists sessions to choose from.
func ambiguous(summary string, all []sessions.Info) error {
	if len(all) == 0 {
		return problem.New(summary, "no session is running: start one with hone up")
	}
	var b strings.Builder
	b.WriteString("choose one:")
	for _, s := range all {
		fmt.Fprintf(&b, "\n  --session %s  (%s %s", s.Name, s.Command, s.Tiltfile)
		if s.Context != "" {
			b.WriteString(" @ " + s.Context)
		}
		b.WriteString(")")
	}
	return problem.New(summary, b.String())
}
