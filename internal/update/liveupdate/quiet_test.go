package liveupdate

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// slow is a container whose programs print a line and then take a time, again and again. They take the same time for each piece of a
// megabyte of their input.
type slow struct {
	lines int
	takes time.Duration
}

func (s *slow) Exec(_ context.Context, req k8s.ExecRequest) error {
	defer func() { _, _ = io.WriteString(req.Stdout, endMark+"0\n") }()
	if req.Stdin != nil {
		_, _ = io.WriteString(req.Stdout, ".\n") // of the survey
		return s.CopyTo(context.Background(), "", "", req.Stdin)
	}
	return s.ContainerExec(context.Background(), "", nil, nil, req.Stderr)
}

func (s *slow) CopyTo(_ context.Context, _, _ string, archive io.Reader) error {
	for {
		if _, err := io.CopyN(io.Discard, archive, 1<<20); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		time.Sleep(s.takes)
	}
}

func (s *slow) Entry(context.Context, string, string) (*tar.Header, error) { return nil, nil }

func (s *slow) RestartContainer(context.Context, string, bool) error {
	time.Sleep(s.takes)
	return nil
}

func (s *slow) ContainerExec(_ context.Context, _ string, argv []string, _ io.Reader, out io.Writer) error {
	if len(argv) > 2 && argv[2] == survey {
		return exited(127)
	}
	for range s.lines {
		_, _ = io.WriteString(out, "working\n")
		time.Sleep(s.takes)
	}
	if s.lines == 0 {
		time.Sleep(s.takes)
	}
	return nil
}

// TestQuiet carries out a step that shows no sign of life for a while, through exec and through an engine: the log names it once, and
// says when it ends.
func TestQuiet(t *testing.T) {
	command := Plan{Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"make"}}}}}
	remove := Plan{Deletes: []string{"/app/a"}}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	copies := Plan{Copies: []Copy{{Local: large, Remote: "/app/large"}}}
	tells := func(step, took string) []string {
		return []string{"3s Nothing has come from this step for 3s: " + step + ". It works silently, or its container stands still",
			took + " The step has ended after " + took + ": " + step}
	}
	for name, tt := range map[string]struct {
		slow
		plan Plan
		want []string
	}{
		"a quick command":              {slow{takes: time.Second}, command, nil},
		"a silent command":             {slow{takes: time.Minute}, command, tells(`run "make" in web`, "1m0s")},
		"a command that prints often":  {slow{takes: time.Second, lines: 60}, command, nil},
		"a command that prints rarely": {slow{takes: 30 * time.Second, lines: 3}, command, tells(`run "make" in web`, "1m30s")},
		"files":                        {slow{takes: time.Minute}, remove, tells("copy files to web", "1m0s")},
		"a large file, a slow reader":  {slow{takes: time.Second}, copies, nil},
		"a reader that does not go on": {slow{takes: time.Minute}, copies, tells("copy files to web", "10m0s")},
		"a restart of the process":     {slow{takes: time.Minute}, Plan{RestartProcess: true}, tells("restart the process in web", "1m0s")},
		"a restart of the container":   {slow{takes: time.Minute}, Plan{Restart: true}, tells("restart web", "1m0s")},
	} {
		for way, u := range map[string]Updater{"exec": ExecUpdater{Pods: &tt.slow}, "engine": ContainerUpdater{Engine: &tt.slow}} {
			if _, kubernetes := u.(ExecUpdater); kubernetes && tt.plan.Restart {
				continue // it cannot restart a container
			}
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var got []string
					began := time.Now()
					log := logstore.Func(func(level logstore.Level, text string) {
						if level == logstore.LevelInfo && text != "working\n" && text != "Running cmd: make\n" {
							got = append(got, time.Since(began).String()+" "+text[:len(text)-1])
						}
					})
					if _, err := u.Update(t.Context(), web, tt.plan, log); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Errorf("-want +got\n%s", diff)
					}
				})
			})
		}
	}
}
