package client

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hone-dev/hone/internal/client/sessions"
)

// begin registers a session. It has a socket if it is not still starting.
func begin(t *testing.T, r *sessions.Registry, dir string, change func(*sessions.Info)) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tiltfile := filepath.Join(dir, "Tiltfile")
	if err := os.WriteFile(tiltfile, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// Two "ci" of one project may run at the same time, two "up" may not.
	c, err := r.Claim(t.Context(), sessions.Info{PID: os.Getpid(), Command: "ci", Tiltfile: tiltfile, Context: "kind-dev"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Release(t.Context()) })
	if err := c.Publish(t.Context(), func(i *sessions.Info) {
		i.Socket = "/run/" + c.Info().Name + ".sock"
		change(i)
	}); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(dir string) string { return filepath.Join(root, dir) }
	r := sessions.New(filepath.Join(root, "registry"))
	for _, w := range []Selector{{Dir: root}, {}} {
		_, err = Find(t.Context(), r, w)
		mends(t, err, "no session is running", "hone up --detach")
	}
	_, err = Find(t.Context(), r, Selector{Name: "shop"})
	mends(t, err, `no session is called "shop"`, "start one with hone up")

	as := func(*sessions.Info) {}
	begin(t, r, at("shop"), func(i *sessions.Info) { i.Host, i.Port = "localhost", 10350 })
	if c, err := Find(t.Context(), r, Selector{Dir: "/elsewhere"}); err != nil || c.Session.Name != "shop" {
		t.Errorf("the only one: %+v %v", c, err)
	}
	begin(t, r, at("shop/api"), func(i *sessions.Info) { i.Host, i.Port = "192.0.2.1", 10351 })
	begin(t, r, at("twice"), as)
	begin(t, r, at("twice"), as)
	begin(t, r, at("young"), func(i *sessions.Info) { i.Socket = "" })
	if err := os.MkdirAll(at("shop/web/src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("shop/api"), at("link")); err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		selector Selector
		want     string // the name of a session, or its address
	}{
		{Selector{Name: "api", Port: 10350, Dir: at("shop")}, "api"},
		{Selector{Dir: at("shop")}, "shop"},
		{Selector{Dir: at("shop/web/src")}, "shop"},
		{Selector{Dir: at("shop/api")}, "api"},
		{Selector{Dir: at("link")}, "api"},
		{Selector{Host: "localhost", Port: 10350, Dir: at("shop/api")}, "shop"},
		{Selector{Host: "127.0.0.1", Port: 10350}, "shop"},
		{Selector{Host: "192.0.2.1", Port: 10351}, "api"},
		{Selector{Host: "localhost", Port: 10351, Token: "t"}, "localhost:10351"},
		{Selector{Host: "dev-box", Port: 10350, Token: "t"}, "dev-box:10350"},
	} {
		c, err := Find(t.Context(), r, tc.selector)
		if err != nil {
			t.Errorf("%+v: %v", tc.selector, err)
			continue
		}
		got, by := c.Session.Name, "http://localhost"
		if got == "" {
			got, by = c.base().Host, "http://"+c.base().Host
		}
		// A session on this machine is used over its socket, which requires no token.
		if got != tc.want || c.base().String() != by || (c.token != "") != (c.Session.Name == "") {
			t.Errorf("%+v: %s at %s with token %q, want %s", tc.selector, got, c.base(), c.token, tc.want)
		}
	}

	_, err = Find(t.Context(), r, Selector{Dir: root})
	mends(t, err, "several sessions are running, and none of them works on this folder", "--session shop ", "--session api ", at("shop/api/Tiltfile")+" @ kind-dev")
	_, err = Find(t.Context(), r, Selector{Dir: at("twice")})
	mends(t, err, "several sessions work on this project", "--session twice ", "--session twice-2 ")
	_, err = Find(t.Context(), r, Selector{Name: "nobody"})
	mends(t, err, `no session is called "nobody"`, "choose one:", "--session shop ")
	_, err = Find(t.Context(), r, Selector{Dir: at("young")})
	mends(t, err, "session young is still starting", "wait a moment")
}
