//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

const (
	// attachedRows is the number of resources: more than a screen has lines, so that each key changes all of them.
	attachedRows = 100
	attachedKeys = 100
	// attachTrip is the time of a round trip over the line to the box.
	attachTrip = 50 * time.Millisecond
	// accepted is the message about the update of the last line.
	accepted = lastOne + " will be updated"
	// attachedEnds is in the footer of an attached screen.
	attachedEnds = "detach"
)

// attachTiltfile has the first and the last line of the table that press needs.
const attachTiltfile = `local_resource('%[1]s', 'true')
for i in range(%[3]d):
  local_resource('svc-%%d' %% i, 'true')
local_resource('%[2]s', 'true')
`

// viewer is a screen of a session. moves and updates are the times from a key until the screen shows its effect: of one that only the screen
// knows, and of one that the session accepts first.
type viewer struct {
	name           string
	term           *harness.Terminal
	moves, updates times
}

// measureAttach measures keys on the screens of one session: its own, one attached nearby, one through ssh, and one through ssh over a line.
func measureAttach(ctx context.Context, b *bench) (err error) {
	b.table.section("From a key to the screen: hone up, and screens that are attached to it", "ratios: to the screen of hone up, in the same session",
		"select: the table shows other lines; update: a resource is triggered, which the session accepts before the screen says so",
		fmt.Sprintf("the box is this machine behind a real sshd, with another HOME; the line adds %s to a round trip", short(attachTrip)))
	s := &screens{}
	defer func() { err = errors.Join(err, s.close()) }()
	switch err := s.open(ctx, b.hone); {
	case errors.Is(err, harness.ErrNoServer):
		b.table.print(row{what: "not measured", figure: err.Error()})
		return nil
	case err != nil:
		return err
	}
	for range attachedKeys {
		for _, v := range s.all {
			if err := v.press(ctx); err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
		}
	}
	up := s.all[0]
	for _, v := range s.all {
		b.table.print(row{"select, " + v.name, v.moves.String(), ratio(v.moves.median(), up.moves.median(), "hone up"), ""})
	}
	for _, v := range s.all {
		b.table.print(row{"update, " + v.name, v.updates.String(), ratio(v.updates.median(), up.updates.median(), "hone up"), ""})
	}
	return nil
}

// press goes to the last line, updates that resource, and goes back.
func (v *viewer) press(ctx context.Context) error {
	for _, p := range []struct {
		key, shows string
		into       *times
	}{{"G", lastOne, &v.moves}, {"t", accepted, &v.updates}, {"g", firstOne, &v.moves}} {
		if err := harness.Sleep(ctx, pause/10); err != nil {
			return err
		}
		took, err := v.term.Press(p.key, p.shows, keyTime)
		if err != nil {
			return err
		}
		*p.into = append(*p.into, took)
	}
	return nil
}

// screens are all screens of one session, its own first.
type screens struct {
	hone  string
	all   []*viewer
	stops []func() error
}

// close closes the screens and all that they need, the last first.
func (s *screens) close() (err error) {
	for len(s.stops) > 0 {
		last := len(s.stops) - 1
		err = errors.Join(err, s.stops[last]())
		s.stops = s.stops[:last]
	}
	return err
}

// open starts a session behind an sshd and opens the screens.
func (s *screens) open(ctx context.Context, hone string) error {
	var err error
	if s.hone, err = filepath.Abs(hone); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return err
	}
	s.stops = append(s.stops, func() error { return os.RemoveAll(dir) })
	there, err := harness.NewProject(s.hone, filepath.Join(dir, "there"), "", map[string]string{"Tiltfile": fmt.Sprintf(attachTiltfile, firstOne, lastOne, attachedRows)})
	if err != nil {
		return err
	}
	there.Kubeconfig = os.DevNull
	box, wire, err := s.box(ctx, dir, there)
	if err != nil {
		return err
	}
	if err := s.up(ctx, there); err != nil {
		return err
	}
	far := "attach ssh://" + harness.BoxName
	return errors.Join(s.attach(there, "attach"), s.through(dir, box, box.Address, far), s.through(dir, box, wire.Address(), far+", the line"))
}

// box starts an sshd before a project, and a line to it.
func (s *screens) box(ctx context.Context, dir string, there *harness.Project) (*harness.Box, *proxy.Wire, error) {
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, nil, err
	}
	box, err := harness.NewBox(home, there.Hone, []string{"XDG_STATE_HOME=" + there.State, "XDG_RUNTIME_DIR=" + there.State, "KUBECONFIG=" + there.Kubeconfig})
	if err != nil {
		return nil, nil, err
	}
	if err := box.Start(ctx); err != nil {
		return nil, nil, err
	}
	s.stops = append(s.stops, func() error { box.Stop(); return nil })
	wire, err := proxy.NewWire(box.Address)
	if err != nil {
		return nil, nil, err
	}
	s.stops = append(s.stops, func() error { wire.Close(); return nil })
	wire.Stretch(proxy.Line{Delay: attachTrip / 2})
	return box, wire, nil
}

// view opens a terminal.
func (s *screens) view(name string) (*viewer, error) {
	term, err := harness.OpenTerminal(160, 48)
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, func() error { term.Close(); return nil })
	v := &viewer{name: name, term: term}
	s.all = append(s.all, v)
	return v, nil
}

// up starts the session, with its own screen.
func (s *screens) up(ctx context.Context, there *harness.Project) error {
	v, err := s.view("hone up")
	if err != nil {
		return err
	}
	port, err := freeport.Next()
	if err != nil {
		return err
	}
	c := there.Command("up", "--port", fmt.Sprint(port))
	v.term.Run(c)
	up, err := there.Start(c, port)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, up.Stop)
	return up.Ready(ctx, attachedRows+2)
}

// attach attaches a screen.
func (s *screens) attach(p *harness.Project, name string, to ...string) error {
	v, err := s.view("hone " + name)
	if err != nil {
		return err
	}
	c := p.Command(append([]string{"attach"}, to...)...)
	v.term.Run(c)
	if err := c.Start(); err != nil {
		return err
	}
	s.stops = append(s.stops, func() error {
		err := c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait() // ended by the signal
		return err
	})
	_, err = v.term.Press("", attachedEnds, keyTime)
	return err
}

// through attaches a screen through the ssh of a machine for which the box has an address.
func (s *screens) through(dir string, box *harness.Box, address, name string) error {
	near, err := harness.NewProject(s.hone, filepath.Join(dir, fmt.Sprint(len(s.all))), "", map[string]string{"README": "a machine without a session"})
	if err != nil {
		return err
	}
	if _, err := box.Client(near.Dir, address); err != nil {
		return err
	}
	near.Env = append(near.Env, "PATH="+near.Dir+":"+os.Getenv("PATH"))
	return s.attach(near, name, "ssh://"+harness.BoxName)
}
