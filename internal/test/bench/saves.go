//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/model"
)

// The project whose files are saved: one container that does nothing, with a word of its own on its command line.
const (
	savesTiltfile = `docker_build('%[1]s', '.', dockerfile='Dockerfile', only=['files'], live_update=[sync('files', '/files')])
k8s_yaml('app.yaml')
`
	savesDockerfile = `FROM busybox
COPY files /files
CMD ["sh", "-c", "while :; do sleep 3600; done", "%[1]s"]
`
	savesYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: %[1]s}]
`
)

const (
	// saveTimeout bounds how long one save may take to arrive.
	saveTimeout = 2 * time.Minute
	// pause is the time between two saves: more than five saves a second count as a program that writes in bursts, and
	// hone waits for the end of the burst.
	pause = 500 * time.Millisecond
)

// saves is the state of measuring saves on one cluster.
type saves struct {
	bench   *bench
	cluster *cluster
	project *harness.Project
	// word is the name of the image and the last word of the container's command line.
	word string
	// ratio compares a time with the baselines; nil until those have been measured.
	ratio func(time.Duration) string
	// n makes the content of every save different.
	n int
}

// mode is one way of updating, and the number of its measurements.
type mode struct {
	name model.UpdateMode
	// one, many and lot are the numbers of measurements with 1, 100 and 1000 saved files.
	one, many, lot int
	// replaces means that updates replace the container.
	replaces bool
	others   string
}

// modes are the update modes that "bench liveupdate" does not measure.
var modes = []mode{
	{model.UpdateImage, 3, 0, 0, true, ""},
	{model.UpdateNaive, 2, 0, 0, true, ""},
}

// measureSaves measures the time from the end of a save until its bytes are in the container, watched through /proc.
func measureSaves(ctx context.Context, b *bench) error {
	measure := func(s *saves) error {
		baselines := func(ctx context.Context) (func(time.Duration) string, error) {
			base, err := s.cluster.saveBaselines(ctx, s.project.Namespace)
			if err != nil {
				return nil, err
			}
			base.print(b.table)
			return base.ratio, nil
		}
		return s.sessions(ctx, modes, baselines)
	}
	if err := b.withSaves(ctx, b.cluster, measure); err != nil {
		return err
	}
	return b.measureEngineSaves(ctx)
}

// withSaves creates a project on a cluster for the measurement and removes it afterwards.
func (b *bench) withSaves(ctx context.Context, c *cluster, measure func(*saves) error) error {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ns, remove, err := c.namespace(ctx)
	if err != nil {
		return err
	}
	defer remove()
	s := &saves{bench: b, cluster: c, word: "hone-bench-" + uuid.NewString()[:8]}
	defer harness.RemoveImages(context.WithoutCancel(ctx), s.word)
	s.project, err = harness.NewProject(b.hone, dir, ns, map[string]string{
		"Tiltfile":   fmt.Sprintf(savesTiltfile, s.word),
		"Dockerfile": fmt.Sprintf(savesDockerfile, s.word),
		"app.yaml":   fmt.Sprintf(savesYAML, s.word),
		"files/one":  s.content(),
	})
	if err != nil {
		return err
	}
	s.project.Kubeconfig = c.Kubeconfig
	return measure(s)
}

// sessions measures each mode in a session of its own, and the baselines in the first.
func (s *saves) sessions(ctx context.Context, modes []mode, baselines func(context.Context) (func(time.Duration) string, error)) error {
	for _, m := range modes {
		if err := s.session(ctx, m, baselines); err != nil {
			return fmt.Errorf("--update-mode %s: %w", m.name, err)
		}
	}
	return nil
}

func (s *saves) session(ctx context.Context, m mode, baselines func(context.Context) (func(time.Duration) string, error)) (err error) {
	up, err := s.project.Up("--update-mode", string(m.name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	if err := up.Ready(ctx, 1); err != nil {
		return err
	}
	if s.ratio == nil {
		if s.ratio, err = baselines(ctx); err != nil {
			return err
		}
	}
	for _, batch := range []struct {
		files, times int
		others       string
	}{{1, m.one, m.others}, {100, m.many, "Tilt 278 ms"}, {1000, m.lot, ""}} {
		if batch.times == 0 {
			continue
		}
		took, how, err := s.repeat(ctx, up, batch.files, batch.times, m.replaces)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, up.Out)
		}
		what := fmt.Sprintf("%s: %d file(s)", m.name, batch.files)
		if how != string(m.name) {
			what = fmt.Sprintf("%s (took %s): %d file(s)", m.name, how, batch.files)
		}
		s.bench.table.print(row{what, took.String(), s.ratio(took.median()), batch.others})
	}
	return nil
}

// repeat saves a number of files several times. It also returns how the updates were done. replaces means that updates
// replace the container.
func (s *saves) repeat(ctx context.Context, up *harness.Session, files, n int, replaces bool) (took times, how string, err error) {
	for range n {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, "", err
		}
		there := roots(s.word)
		var find func() []string
		if replaces {
			find = func() []string { return roots(s.word) }
		}
		names, text, err := s.save(files)
		if err != nil {
			return nil, "", err
		}
		start := time.Now()
		if err := awaitIn(there, find, names, text, saveTimeout); err != nil {
			return nil, "", err
		}
		took = append(took, time.Since(start))
		if how, err = up.Mode(ctx, "app"); err != nil {
			return nil, "", err
		}
		if err := up.Ready(ctx, 1); err != nil {
			return nil, "", err
		}
	}
	return took, how, nil
}

// save writes files of 1 KB and returns their names and their content.
func (s *saves) save(files int) (names []string, text string, err error) {
	text = s.content()
	for i := range files {
		name := "files/one"
		if files > 1 {
			name = fmt.Sprintf("files/of-%d/%d", files, i)
		}
		if err := s.project.Write(name, text); err != nil {
			return nil, "", err
		}
		names = append(names, name)
	}
	return names, text, nil
}

func (s *saves) content() string {
	s.n++
	head := fmt.Sprintf("save %d\n", s.n)
	return head + strings.Repeat("x", 1023-len(head)) + "\n"
}
