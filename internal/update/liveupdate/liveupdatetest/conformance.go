package liveupdatetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// large is a size in bytes that no updater keeps in memory as a whole.
const large = 8 << 20

// Place is a real container and its updater.
type Place struct {
	Updater   liveupdate.Updater
	Container model.ContainerRef
	// Ask runs a script in the container and returns its output.
	Ask func(t *testing.T, script string) string
}

// Conformance checks the duties of every updater in a real container, with files in /app, deletes in / and commands.
func Conformance(t *testing.T, p Place) {
	dir := t.TempDir()
	update := func(t *testing.T, plan liveupdate.Plan) (string, error) {
		var log strings.Builder
		_, err := p.Updater.Update(t.Context(), p.Container, plan, logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) }))
		return log.String(), err
	}
	long := "/app/" + strings.Repeat("folder with a long name/", 12) + "file"
	old := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(put(t, dir, "script", []byte("#!/bin/sh\necho hi\n"), 0o755), old, old); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), large/16)
	copies := []liveupdate.Copy{
		{Local: filepath.Join(dir, "script"), Remote: "/app/bin/script"},
		{Local: put(t, dir, "secret", []byte("s"), 0o600), Remote: "/app/secret"},
		{Local: put(t, dir, "umlaut", []byte("ü"), 0o644), Remote: "/app/ä ö"},
		{Local: put(t, dir, "long", []byte("long"), 0o644), Remote: long},
		{Local: filepath.Join(dir, "link"), Remote: "/app/link"},
		{Local: filepath.Join(dir, "dir"), Remote: "/app/dir", IsDir: true},
	}
	if err := errors.Join(os.Symlink("bin/script", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "dir"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := update(t, liveupdate.Plan{Copies: copies}); err != nil {
		t.Fatal(problem.Text(err))
	}
	want := "hi\n755 0 0 1580702706\n600 0 0\ns ü long bin/script dir\n"
	got := p.Ask(t, `/app/link; stat -c '%a %u %g %Y' /app/bin/script; stat -c '%a %u %g' /app/secret; `+
		`echo $(cat /app/secret) $(cat '/app/ä ö') $(cat '`+long+`') $(readlink /app/link) $(cd /app; ls -d dir)`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after copying (-want +got):\n%s", diff)
	}

	plan := liveupdate.Plan{
		Copies:  []liveupdate.Copy{{Local: put(t, dir, "secret", []byte("new"), 0o600), Remote: "/app/secret"}},
		Deletes: []string{"/app/bin/script", "/app/bin", "/app/ä ö", "/app/never was", "/app/$(touch pwned)"},
		Runs:    []model.Run{run("cat /app/secret; echo err >&2"), run("ls /app")},
	}
	log, err := update(t, plan)
	if err != nil {
		t.Fatal(problem.Text(err))
	}
	for _, line := range []string{"Running cmd: ls /app\n", "new", "err\n", "dir\nfolder with a long name\nlink\nsecret\n"} {
		if !strings.Contains(log, line) {
			t.Errorf("the log lacks %q:\n%s", line, log)
		}
	}

	t.Run("deletes", func(t *testing.T) { deletes(t, p) })
	t.Run("large", func(t *testing.T) {
		plan := liveupdate.Plan{Copies: []liveupdate.Copy{{Local: put(t, dir, "big", big, 0o644), Remote: "/app/big"}}, Deletes: []string{"/x"}}
		if _, err := update(t, plan); err != nil {
			t.Fatal(problem.Text(err))
		}
		if got := p.Ask(t, "wc -c </app/big"); strings.TrimSpace(got) != fmt.Sprint(len(big)) {
			t.Errorf("got %s bytes", got)
		}
	})
	t.Run("owners", func(t *testing.T) {
		p.Ask(t, "mkdir -p /app/own /app/other; echo old >/app/own/old; chown -hR 7:8 /app/own; chown 9:10 /app/own/old")
		f := put(t, dir, "f", []byte("f"), 0o640)
		given := model.Owner{UID: 11, GID: 12, Set: true}
		copies := []liveupdate.Copy{
			{Local: f, Remote: "/app/own/old"}, {Local: f, Remote: "/app/own/new"}, {Local: f, Remote: "/app/own/a/b/c"},
			{Local: filepath.Join(dir, "dir"), Remote: "/app/own/dir", IsDir: true},
			{Local: f, Remote: "/app/other/given", Owner: given}, {Local: f, Remote: "/app/other/x/given", Owner: given}, {Local: f, Remote: "/app/other/new"},
			{Local: f, Remote: "/app/own/given", Owner: given}, {Local: f, Remote: "/app/own/zero", Owner: model.Owner{Set: true}},
		}
		if _, err := update(t, liveupdate.Plan{Copies: copies}); err != nil {
			t.Fatal(problem.Text(err))
		}
		want := `own/old 9 10
own/new 7 8
own/a 7 8
own/a/b 7 8
own/a/b/c 7 8
own/dir 7 8
other/given 11 12
other/x 11 12
other/x/given 11 12
other/new 0 0
own/given 11 12
own/zero 0 0
`
		got := p.Ask(t, "cd /app; stat -c '%n %u %g' own/old own/new own/a own/a/b own/a/b/c own/dir other/given other/x other/x/given other/new own/given own/zero")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
	})
	t.Run("failing command", func(t *testing.T) {
		log, err := update(t, liveupdate.Plan{Copies: One(t), Runs: []model.Run{run("echo oops; exit 3"), run("touch /after")}})
		var step *liveupdate.RunStepError
		if !errors.As(err, &step) || step.Code != 3 || !strings.Contains(log, "oops") {
			t.Errorf("got %v, log %q", err, log)
		}
		if got := p.Ask(t, "cat /app/a; ls /after 2>&1 || true"); !strings.HasPrefix(got, "a") || !strings.Contains(got, "No such file") {
			t.Errorf("afterwards: %q", got)
		}
	})
	t.Run("missing command", func(t *testing.T) {
		_, err := update(t, liveupdate.Plan{Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"no-such-program"}}}}})
		var step *liveupdate.RunStepError
		if !errors.As(err, &step) || step.Code != 127 && step.Code != 126 { // engines differ
			t.Errorf("got %v", err)
		}
	})
	t.Run("killed command", func(t *testing.T) {
		_, err := update(t, liveupdate.Plan{Runs: []model.Run{run("kill -KILL $$")}})
		WantInfra(t, err, "killed")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log := logstore.Func(func(_ logstore.Level, text string) {
			if strings.Contains(text, "up\n") && !strings.Contains(text, "Running") {
				cancel()
			}
		})
		_, err := p.Updater.Update(ctx, p.Container, liveupdate.Plan{Runs: []model.Run{run("echo up; exec sleep 5")}}, log)
		if liveupdate.Classify(err) != liveupdate.Cancelled {
			t.Errorf("got %v", err)
		}
	})
}

// WantInfra checks that an error is an infrastructure error whose text contains the given text.
func WantInfra(t *testing.T, err error, text string) {
	t.Helper()
	if liveupdate.Classify(err) != liveupdate.Infra || !strings.Contains(problem.Text(err), text) {
		t.Errorf("got %v: %v, want %q", liveupdate.Classify(err), err, text)
	}
}

// One is a file with the content "a" for /app/a.
func One(t *testing.T) []liveupdate.Copy {
	return []liveupdate.Copy{{Local: put(t, t.TempDir(), "a", []byte("a"), 0o644), Remote: "/app/a"}}
}

func put(t *testing.T, dir, name string, data []byte, mode os.FileMode) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := errors.Join(os.WriteFile(p, data, mode), os.Chmod(p, mode)); err != nil {
		t.Fatal(err)
	}
	return p
}

func run(script string) model.Run {
	return model.Run{Cmd: model.Cmd{Argv: []string{"sh", "-c", script}}}
}
