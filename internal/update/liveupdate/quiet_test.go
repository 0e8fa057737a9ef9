package liveupdate

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// slow is a container whose programs print a line and then take a time, again and again.
type slow struct {
	script
	lines int
	takes time.Duration
}

func (s *slow) Exec(_ context.Context, req k8s.ExecRequest) error {
	defer func() { _, _ = io.WriteString(req.Stdout, endMark+"0\n") }()
	return s.ContainerExec(context.Background(), "", nil, req.Stdin, req.Stderr)
}

func (s *slow) ContainerExec(_ context.Context, _ string, _ []string, _ io.Reader, out io.Writer) error {
	for range s.lines {
		_, _ = io.WriteString(out, "working\n")
		time.Sleep(s.takes)
	}
	if s.lines == 0 {
		time.Sleep(s.takes)
	}
	return nil
}

// TestQuiet runs a step that prints nothing for a while, through exec and through an engine: the log names it once, and says when it ends.
func TestQuiet(t *testing.T) {
	make := Plan{Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"make"}}}}}
	remove := Plan{Deletes: []string{"/app/a"}}
	tells := func(step, took string) []string {
		return []string{"3s Nothing has come from this step for 3s: " + step + ". It works silently, or its container stands still",
			took + " The step has ended after " + took + ": " + step}
	}
	for name, tt := range map[string]struct {
		slow
		plan Plan
		want []string
	}{
		"a quick command":              {slow{takes: time.Second}, make, nil},
		"a silent command":             {slow{takes: time.Minute}, make, tells(`run "make" in web`, "1m0s")},
		"a command that prints often":  {slow{takes: time.Second, lines: 60}, make, nil},
		"a command that prints rarely": {slow{takes: 30 * time.Second, lines: 3}, make, tells(`run "make" in web`, "1m30s")},
		"files":                        {slow{takes: time.Minute}, remove, tells("copy files to web", "1m0s")},
	} {
		for way, u := range map[string]Updater{"exec": ExecUpdater{Pods: &tt.slow}, "engine": ContainerUpdater{Engine: &tt.slow}} {
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
