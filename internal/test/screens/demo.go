//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// demo is a copy of the demo, which scenes edit.
type demo struct{ dir string }

func (d *demo) unpack(root string) error {
	if err := os.CopyFS(filepath.Join(d.dir, "scripts", "demo"), os.DirFS(filepath.Join(root, "scripts", "demo"))); err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(root, "Tiltfile.example"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, "Tiltfile"), b, 0o644)
}

// edit replaces a text in a file of the demo, the way editors save: a new file, renamed over the old one.
func (d *demo) edit(name, before, after string) error {
	path := filepath.Join(d.dir, "scripts", "demo", name)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(b), before) {
		return fmt.Errorf("%s does not contain %q", name, before)
	}
	if err := os.WriteFile(path+"~", []byte(strings.Replace(string(b), before, after, 1)), 0o644); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

// wait pauses the session and makes changes, which wait then: of a manifest, and of an image.
func (d *demo) wait(ctx context.Context, hone string) error {
	c := exec.CommandContext(ctx, hone, "pause")
	c.Dir = d.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("pause the session: %w\n%s", err, out)
	}
	return errors.Join(d.edit("web/web.yaml", "    .css:text/css\n", "    .css:text/css\n    .svg:image/svg+xml\n"),
		d.edit("web/Dockerfile", "COPY site /www", "COPY site /www\nRUN chmod -R a+r /www"))
}

// visit requests pages of a service of the demo.
func visit(ctx context.Context, paths ...string) error {
	c := http.Client{Timeout: 10 * time.Second}
	for _, path := range paths {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost:"+path, nil)
		if err != nil {
			return err
		}
		resp, err := c.Do(r)
		if err != nil {
			return err
		}
		if err := resp.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}

// scene is a state of the demo that a picture shows.
type scene struct {
	name string
	// play brings the demo from the state of the previous scene into the state of this one.
	play func(context.Context, *demo, *terminal) (picture, error)
}

// line is a line of the demo's api, and broken is its replacement, which makes the api panic.
const (
	line   = `	log.Printf("%s, listening on %s", greeting, server.Addr)`
	broken = `	shelf := []string{"tea", "coffee"}
	log.Printf("%s, today with %s", greeting, shelf[2])`
)

// scenes are played in this order.
var scenes = []scene{
	{"main", func(ctx context.Context, d *demo, t *terminal) (picture, error) {
		return t.take(ctx, func(s *steps) {
			s.shows(`✔ api .*8000 ✔`, `✔ web .*8001 ✔`)
			s.do(func() error { return visit(ctx, "8001/", "8001/style.css", "8000/") })
			s.shows(`Ready to update api in place`)
			// The container receives the first program whole, and of the second only the differences, as of all later ones.
			s.do(func() error { return d.edit("api/main.go", "Hello from Go", "Hello from Hone") })
			s.shows(`✔ 5 ok`, ` api │ .*Hello from Hone`)
			s.do(func() error { return d.edit("web/site/style.css", "{", "{\n") })
			s.shows(`✔ web +in place .*style\.css`)
			s.do(func() error { return d.edit("api/main.go", "Hello from Hone", "Hello from hone") })
			s.shows(`✔ 5 ok`, `✔ api +in place`, ` api │ .*Hello from hone`)
			s.keys("Home", "j", "j", "j")
			s.shows(`▌ ✔ web`)
		})
	}},
	{"details", func(ctx context.Context, d *demo, t *terminal) (picture, error) {
		return t.take(ctx, func(s *steps) {
			s.do(func() error { return d.edit("web/site/index.html", "<", "\n<") })
			s.shows(`✔ web +in place .*index\.html`)
			s.keys("Enter")
			s.shows(`web +\[1 updates\]`, `in place .*index\.html`)
		})
	}},
	{"filter", func(ctx context.Context, _ *demo, t *terminal) (picture, error) {
		return t.take(ctx, func(s *steps) {
			s.keys("Escape")
			s.shows(`▌ ✔ web`)
			for range 4 {
				s.do(func() error {
					return visit(ctx, "8001/", "8001/style.css", "8001/favicon.ico", "8001/prices.html", "8000/")
				})
			}
			s.keys("Tab", "/")
			s.shows(`^ filter log:`)
			s.keys("-l", "source:runtime !response:200 since:5m")
			s.keys("Enter")
			s.shows(`filter: source:runtime`, `response:404`, `GET /`)
			s.keys("f")
			s.shows(`^ find in log:`)
			s.keys("-l", "404")
			s.keys("Enter")
			s.shows(`find: 404 \d+ of \d+`)
		})
	}},
	{"card", func(ctx context.Context, d *demo, t *terminal) (picture, error) {
		return t.take(ctx, func(s *steps) {
			s.keys("Escape")
			s.hides("find:")
			s.keys("Escape")
			s.hides("filter:")
			s.keys("Tab", "l")
			s.do(func() error { return d.edit("api/main.go", line, broken) })
			s.shows(`✖ api .*exited 2`)
			s.keys("e")
			s.shows(`✖ api ─`, `(?m)^ {3,6}panic: runtime error: index out of range`) // on the card, not above it
		})
	}},
}

// private returns an error if a picture reveals something about the machine on which it was made.
func private(p picture) error {
	secrets := map[string]string{}
	if host, err := os.Hostname(); err == nil {
		secrets["the host's name"] = host
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		secrets["the home folder"] = home
	}
	if u, err := user.Current(); err == nil {
		secrets["the user's name"] = u.Username
	}
	all := p.text()
	var errs []error
	for what, s := range secrets {
		if len(s) > 1 && strings.Contains(all, s) {
			errs = append(errs, fmt.Errorf("the picture shows %s, %q:\n%s", what, s, all))
		}
	}
	return errors.Join(errs...)
}
