//go:build linux

package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// cluster simulates pods whose containers have neither shell nor tar, but perhaps an installed synclet or one next to
// them.
type cluster struct {
	installed func(in io.Reader, out io.Writer) error
	image     error // why hone's image cannot be delivered
	refuse    error // why no container can be added
	user      int64 // of the container's process

	mu    sync.Mutex
	calls []string
}

func (c *cluster) call(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
}

func (c *cluster) Exec(ctx context.Context, req k8s.ExecRequest) error {
	container, argv, in, out, errs := req.Container, req.Argv, req.Stdin, req.Stdout, req.Stderr
	c.call("%s: %s", container, strings.Join(argv[:min(2, len(argv))], " "))
	stop := context.AfterFunc(ctx, func() {
		if in != nil {
			_ = in.(io.Closer).Close()
			_ = out.(io.Closer).Close()
		}
	})
	defer stop()
	switch argv[0] {
	case "/.hone/synclet":
		return c.installed(in, out)
	case "/synclet":
		if !strings.HasSuffix(container, fmt.Sprint(c.user)) {
			fmt.Fprintf(errs, "synclet: the container's process may not be looked into: uid=%d gid=7", c.user)
			return exitStatus(95)
		}
		return agent.Serve(in, out, os.Environ())
	case "true":
		return nil
	}
	return exitStatus(127)
}

func (c *cluster) Image(context.Context, Home) (string, error) {
	c.call("image")
	return "hone-synclet:1", c.image
}

func (c *cluster) Ephemeral(_ context.Context, req k8s.EphemeralRequest) (string, error) {
	user := int64(0)
	if req.User != nil {
		user = *req.User
	}
	c.call("add %s of %s to %s, user %d", strings.Join(req.Command, " "), req.Image, req.Target, user)
	return fmt.Sprintf("hone-%d", user), c.refuse
}

var (
	_ Beside               = (*cluster)(nil)
	_ liveupdate.PodExecer = (*cluster)(nil)
)

// statuses is the newest status of each container.
type statuses struct {
	mu    sync.Mutex
	last  map[string]Status
	wakes chan struct{}
}

func (s *statuses) told(st Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[st.Container.ID] = st
	select {
	case s.wakes <- struct{}{}:
	default:
	}
}

// settled waits until a container is ready, or will not be.
func (s *statuses) settled(t *testing.T, id string) Status {
	t.Helper()
	for {
		s.mu.Lock()
		st := s.last[id]
		s.mu.Unlock()
		if st.State == Ready || st.State == Failed {
			return st
		}
		select {
		case <-s.wakes:
		case <-time.After(time.Minute):
			t.Fatalf("%s is %s: %v", id, st.State, st.Err)
		}
	}
}

// says reports whether an error's text matches a pattern; the empty pattern matches only a nil error.
func says(err error, pattern string) bool {
	if err == nil || pattern == "" {
		return err == nil && pattern == ""
	}
	return regexp.MustCompile(pattern).MatchString(err.Error())
}

// foreign is a synclet that speaks another version.
func foreign(in io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, protocol.Preamble); err != nil {
		return err
	}
	if _, err := protocol.NewReader(in).Next(); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\x00\x00\x00\x00\x01\x63\x00\x00\x00\x00\x00\x00")
	return err
}

// TestBareWays checks which ways are tried, in which order, if the image offers none, and the reports about them.
func TestBareWays(t *testing.T) {
	serve := func(in io.Reader, out io.Writer) error { return agent.Serve(in, out, nil) }
	own := []string{"main: sh -c", "main: tar -C", "main: tar -C"}
	add := "add /synclet idle of hone-synclet:1 to main, user "
	for _, tt := range []struct {
		name    string
		cluster *cluster
		without bool // nothing can be added to pods
		fresh   bool // the pod was given no synclet
		want    []string
		state   State
		way     Way
		passed  string
		err     string
		locked  bool
	}{
		{name: "the pod was given one", cluster: &cluster{installed: serve}, want: []string{"main: /.hone/synclet serve"}, state: Ready, way: WayVolume},
		{name: "of another version", cluster: &cluster{installed: foreign}, want: append(append([]string{"main: /.hone/synclet serve"}, own...), "image", add+"0", "hone-0: /synclet serve"),
			state: Ready, way: WayEphemeral, passed: "volume: .*another version.*; shell: exit code 127; tar: ", locked: true},
		{name: "that is gone", cluster: &cluster{installed: func(io.Reader, io.Writer) error { return exitStatus(127) }}, without: true,
			want: append([]string{"main: /.hone/synclet serve"}, own...), state: Failed, err: "volume: .*127; shell: .*127; tar: ", locked: true},
		{name: "none", fresh: true, cluster: &cluster{}, want: append(append([]string(nil), own...), "image", add+"0", "hone-0: /synclet serve"), state: Ready, way: WayEphemeral,
			passed: "^shell: exit code 127; tar: ", locked: true},
		{name: "another user", fresh: true, cluster: &cluster{user: 1000},
			want:  append(append([]string(nil), own...), "image", add+"0", "hone-0: /synclet serve", add+"1000", "hone-1000: /synclet serve"),
			state: Ready, way: WayEphemeral, passed: "shell", locked: true},
		{name: "refused", fresh: true, cluster: &cluster{refuse: &k8s.Refused{Reason: "violates PodSecurity"}},
			want: append(append([]string(nil), own...), "image", add+"0"), state: Failed, err: "ephemeral: violates PodSecurity", locked: true},
		{name: "no image", fresh: true, cluster: &cluster{image: errors.New("no registry")}, want: append(append([]string(nil), own...), "image"),
			state: Failed, err: "ephemeral: bring the synclet to the cluster: no registry", locked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := NewPool(tt.cluster)
			t.Cleanup(p.Close)
			seen := &statuses{last: map[string]Status{}, wakes: make(chan struct{}, 1)}
			p.OnStatus(seen.told)
			if !tt.without {
				p.Beside(tt.cluster)
			}
			target := aContainer("c1", "p1")
			target.Ref = "web"
			if !tt.fresh {
				target.Synclet = "/.hone/synclet"
			}
			p.Keep([]model.ContainerRef{target})
			st := seen.settled(t, "c1")
			if st.State != tt.state || st.Way != tt.way || !says(st.Passed, tt.passed) || !says(st.Err, tt.err) {
				t.Errorf("got %s %q, passed %v, error %v", st.State, st.Way, st.Passed, st.Err)
			}
			tt.cluster.mu.Lock()
			calls := tt.cluster.calls
			tt.cluster.mu.Unlock()
			if diff := cmp.Diff(tt.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := p.LockedOut("web"); got != tt.locked || p.LockedOut("other") {
				t.Errorf("locked out: %v", got)
			}
			if k8s.IsForbidden(st.Err) {
				t.Error("what one way forbids counts for all")
			}
		})
	}
}

// TestBesideUpdate copies through the container next to the target, and runs commands in the target.
func TestBesideUpdate(t *testing.T) {
	c := &cluster{}
	p := NewPool(c)
	t.Cleanup(p.Close)
	p.Beside(c)
	local, remote := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(local, "f"), "one", 0o644)
	container := model.ContainerRef{Namespace: "ns", Pod: "p1", Name: "main", ID: "c1", Image: "web:1", Arch: "amd64",
		Syncs: []model.Sync{{LocalPath: local, RemotePath: remote}}}
	plan := liveupdate.Plan{Copies: []liveupdate.Copy{{Local: filepath.Join(local, "f"), Remote: filepath.Join(remote, "f")}},
		Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"true"}}}}}
	_, err := p.Update(t.Context(), container, plan, logstore.Discard)
	check(t, err)
	if got, err := os.ReadFile(filepath.Join(remote, "f")); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if last := c.calls[len(c.calls)-1]; last != "main: true" {
		t.Errorf("the command went to %s", last)
	}
	plan.Runs[0].Cmd.Argv = []string{"missing"}
	if _, err := p.Update(t.Context(), container, plan, logstore.Discard); liveupdate.Classify(err) != liveupdate.UserError {
		t.Errorf("got %v", err)
	}
}
