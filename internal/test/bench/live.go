//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
	"github.com/hone-dev/hone/pkg/model"
)

// The project of the live updates: one container whose files are saved, ten of another image, and a program that
// restarts when its text is saved.
const (
	liveTiltfile = `load('ext://restart_process', 'docker_build_with_restart')
docker_build('%[1]s', '.', dockerfile='Dockerfile', only=['files'], live_update=[sync('files', '/files')])
docker_build('%[1]s-many', '.', dockerfile='Dockerfile.many', only=['many'], live_update=[sync('many', '/files')])
docker_build_with_restart('%[1]s-server', 'server', entrypoint=['/app/server'], live_update=[sync('server/app', '/app')])
k8s_yaml('app.yaml')
k8s_resource('server', port_forwards=[port_forward(%[2]d, 8080)])
`
	liveDockerfile = `FROM busybox
COPY %s /files
CMD ["sleep", "100000"]
`
	liveServerDockerfile = `FROM busybox
COPY app /app
`
	liveYAML = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s}
spec:
  replicas: %[4]d
  strategy: {type: Recreate}
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: %[1]s%[3]s}]
---
`
	replicas = 10
	// burstFiles is the number of files that the saves of a burst go to in turn: each file is saved again long after its last save.
	burstFiles = 200
)

// liveOptions are the flags of "bench liveupdate".
type liveOptions struct {
	hone, server, containerd, output string
	// quick measures fewer saves.
	quick bool
	only  []string
}

// live is a run of the benchmark of live updates.
type live struct {
	options liveOptions
	cluster *cluster
	project *harness.Project
	word    string
	execs   *witness.Execs
	up      *harness.Session
	mode    model.UpdateMode
	report  *liveReport
	saw     atomic.Pointer[func(container int, s witness.Sighting)]
	n       int    // of the newest save
	random  []byte // for noise
	// forwarded is the local port that leads to the server.
	forwarded int
}

// container is a watched container.
type container struct {
	app, id, pod, ip string
	root             string
	witness          *witness.Witness
}

// runLive measures live updates with a witness that is independent of hone.
func runLive(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench liveupdate", flag.ExitOnError)
	var o liveOptions
	flags.StringVar(&o.hone, "hone", ".bin/hone", "the hone to measure")
	flags.StringVar(&o.server, "server", ".bin/server", "internal/test/bench/server, built without cgo")
	flags.StringVar(&o.containerd, "containerd", "/run/containerd/containerd.sock", "the socket of the containerd that runs the cluster's pods")
	flags.StringVar(&o.output, "o", "table", "what to print: table or json")
	flags.BoolVar(&o.quick, "quick", false, "a tenth of the saves")
	only := flags.String("only", "", "measure only the cases whose names begin with one of these words, separated by commas")
	_ = flags.Parse(args)
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("-o %s: there are table and json", o.output)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	c, err := connect("")
	if err != nil {
		return err
	}
	defer c.Close()
	l := &live{options: o, cluster: c, word: "hone-bench-" + uuid.NewString()[:8], report: &liveReport{began: time.Now()}}
	l.report.loads[0] = load()
	if err := l.run(ctx); err != nil {
		return err
	}
	if len(l.report.cases) == 0 {
		return fmt.Errorf("no case's name begins with one of %q", o.only)
	}
	l.report.loads[1], l.report.took = load(), time.Since(l.report.began)
	if o.output == "json" {
		err = l.report.json(os.Stdout)
	} else {
		l.report.table(os.Stdout)
	}
	if failed := l.report.failures(); len(failed) > 0 {
		return errors.Join(err, errors.New(strings.Join(failed, "; ")))
	}
	return err
}

// run creates the project for the measurement and removes it afterwards.
func (l *live) run(ctx context.Context) error {
	var err error
	if l.execs, err = witness.CountExecs(ctx, l.options.containerd); err != nil {
		return err
	}
	defer l.execs.Close()
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	detached := context.WithoutCancel(ctx)
	defer func() {
		harness.RemoveImages(detached, l.word)
		harness.RemoveFromNode(detached, l.options.containerd, l.word)
	}()
	ns, remove, err := l.cluster.namespace(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if l.forwarded, err = freeport.Next(); err != nil {
		return err
	}
	if l.project, err = harness.NewProject(l.options.hone, dir, ns, l.files()); err != nil {
		return err
	}
	if err := copyProgram(l.options.server, filepath.Join(l.project.Dir, "server/app/server")); err != nil {
		return err
	}
	// The update mode exec comes first, since its saves affect only one image.
	if slices.ContainsFunc(nearCases, l.wanted) {
		for _, s := range []struct {
			mode    model.UpdateMode
			measure func(context.Context, []*container) error
		}{{model.UpdateExec, l.measureExec}, {model.UpdateAuto, l.measureAll}} {
			if err := l.session(ctx, s.mode, s.measure); err != nil {
				return fmt.Errorf("--update-mode %s: %w", s.mode, err)
			}
		}
	}
	for _, w := range ways {
		if err := l.far(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// nearCases are the cases without a line in between, by the words that their names begin with.
var nearCases = []string{"one file", "100 files", "1,000 files", "20 saves", "10 replicas", "restart", "1 MB", "a program", "100 MB", "a tree"}

// files returns the files of the project. Every folder exists from the start, so that it can be watched in the
// container.
func (l *live) files() map[string]string {
	files := map[string]string{
		"Tiltfile":          fmt.Sprintf(liveTiltfile, l.word, l.forwarded),
		"Dockerfile":        fmt.Sprintf(liveDockerfile, "files"),
		"Dockerfile.many":   fmt.Sprintf(liveDockerfile, "many"),
		"server/Dockerfile": liveServerDockerfile,
		"app.yaml": fmt.Sprintf(liveYAML, l.word, "app", "", 1) + fmt.Sprintf(liveYAML, l.word, "many", "-many", replicas) +
			fmt.Sprintf(liveYAML, l.word, "server", "-server", 1),
		"server/app/text": "at first\n",
		"many/one":        "at first\n",
	}
	for _, name := range []string{"1k", "100k", "1m", "10m", "same", "log", "beside"} {
		files["files/"+name] = "at first\n"
	}
	for _, n := range []int{100, 1000} {
		for i := range n {
			files[fmt.Sprintf("files/of-%d/%d", n, i)] = "at first\n"
		}
	}
	for i := range burstFiles {
		files[burstFile(i)] = "at first\n"
	}
	return files
}

func burstFile(i int) string { return fmt.Sprintf("files/burst/%d", i%burstFiles) }

func copyProgram(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o755)
}

// session has hone up run, and measures with it.
func (l *live) session(ctx context.Context, mode model.UpdateMode, measure func(context.Context, []*container) error) (err error) {
	l.mode = mode
	if l.up, err = l.project.Up("--update-mode", string(mode)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.up.Stop()) }()
	if err := l.up.Ready(ctx, 3); err != nil {
		return err
	}
	app, err := l.containers(ctx, "app", "files", "files/of-100", "files/of-1000", "files/burst")
	defer closeAll(app)
	if err != nil {
		return err
	}
	if err := measure(ctx, app); err != nil {
		return fmt.Errorf("%w\n%s", err, l.up.Out)
	}
	return nil
}

// containers finds the containers of an app and watches folders in them.
func (l *live) containers(ctx context.Context, app string, dirs ...string) (out []*container, err error) {
	found, err := l.cluster.Containers(ctx, l.project.Namespace, app)
	if err != nil {
		return nil, err
	}
	for i, one := range found {
		c := &container{app: app, id: one.ID, pod: one.Pod, ip: one.IP}
		if c.root, err = witness.Root(c.id); err != nil {
			return out, err
		}
		c.witness, err = witness.Open(c.root, dirs, func(s witness.Sighting) {
			if saw := l.saw.Load(); saw != nil {
				(*saw)(i, s)
			}
		})
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

func closeAll(containers []*container) {
	for _, c := range containers {
		c.witness.Close()
	}
}

// watch sets the function that receives the sightings of the witnesses.
func (l *live) watch(saw func(container int, s witness.Sighting)) { l.saw.Store(&saw) }

// measureExec measures, for comparison, an exec for each save.
func (l *live) measureExec(ctx context.Context, app []*container) error {
	return l.measure(ctx, app, "one file of 1 KB", nil, func() (liveCase, error) {
		return l.spacedCase(ctx, app, l.times(40), 250*time.Millisecond, l.one("files", "1k", func() []byte { return l.text(1024) }))
	})
}

// times returns how often to measure a case.
func (l *live) times(n int) int {
	if l.options.quick {
		return max(n/10, 3)
	}
	return n
}

// length returns how long to measure a case.
func (l *live) length(d time.Duration) time.Duration {
	if l.options.quick {
		return d / 10
	}
	return d
}

// measureAll measures all cases of a session that updates through synclets.
func (l *live) measureAll(ctx context.Context, app []*container) error {
	many, err := l.containers(ctx, "many", "files")
	defer closeAll(many)
	if err != nil {
		return err
	}
	server, err := l.containers(ctx, "server", "app")
	defer closeAll(server)
	if err != nil {
		return err
	}
	if err := l.awaitSynclets(ctx, slices.Concat(app, many, server)); err != nil {
		return err
	}
	if l.report.floor, err = l.cluster.measureFloor(ctx, l.project.Namespace, app[0].pod, app[0].root); err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	for _, measure := range []func() error{
		func() error { return l.measureFiles(ctx, app) },
		func() error { return l.measureBursts(ctx, app) },
		func() error { return l.measureReplicas(ctx, many) },
		func() error { return l.measureAppending(ctx, app) },
		func() error { return l.measureRestarts(ctx, server) },
		func() error { return l.measureRebuilds(ctx, server) },
		func() error { return l.measureLarge(ctx, app) },
		func() error { return l.measureTrees(ctx, app) },
	} {
		if err := measure(); err != nil {
			return err
		}
	}
	return l.noteUse()
}

// awaitSynclets waits until hone has got into all containers, which takes an exec each: this also proves that execs are
// counted.
func (l *live) awaitSynclets(ctx context.Context, all []*container) error {
	err := harness.Await(ctx, time.Minute, "hone to have an exec open in every container", func() error {
		for _, c := range all {
			n, err := l.execs.Of([]string{c.id})
			if err == nil && n == 0 {
				err = fmt.Errorf("none was seen in %s", c.pod)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return harness.Sleep(ctx, time.Second) // until the first messages are over
}

func (l *live) measureFiles(ctx context.Context, app []*container) error {
	for _, c := range []struct {
		name    string
		n       int
		pause   time.Duration
		files   func(int) []file
		targets []target
	}{
		{"one file of 1 KB", 320, 100 * time.Millisecond, l.one("files", "1k", func() []byte { return l.text(1024) }), oneFile},
		{"one file of 100 KB", 100, 100 * time.Millisecond, l.one("files", "100k", func() []byte { return l.noise(100 << 10) }), nil},
		{"one file of 10 MB", 20, 300 * time.Millisecond, l.one("files", "10m", func() []byte { return l.noise(10 << 20) }), nil},
		{"1 MB, a few bytes changed", 40, 100 * time.Millisecond, l.one("files", "1m", func() []byte { return l.noise(1 << 20) }), quickMB},
		{"1 MB, all of it", 40, 100 * time.Millisecond, l.one("files", "1m", func() []byte { return l.newNoise(1 << 20) }), quickMB},
		{"100 files in one save", 30, 200 * time.Millisecond, l.many(100), nil},
		{"1,000 files in one save", 20, 300 * time.Millisecond, l.many(1000), manyFiles},
	} {
		err := l.measure(ctx, app, c.name, c.targets, func() (liveCase, error) {
			return l.spacedCase(ctx, app, l.times(c.n), c.pause, c.files)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *live) spacedCase(ctx context.Context, on []*container, n int, pause time.Duration, files func(int) []file) (liveCase, error) {
	took, lost, err := l.spaced(ctx, on, n, pause, files)
	return liveCase{took: slices.Concat(took...), lost: lost}, err
}

func (l *live) measureBursts(ctx context.Context, app []*container) error {
	for _, c := range []struct {
		name  string
		names func(int) string
	}{
		{"20 saves/s to 200 files", burstFile},
		{"20 saves/s to the same file", func(int) string { return "files/same" }},
	} {
		err := l.measure(ctx, app, c.name, oneFile, func() (out liveCase, err error) {
			out.took, out.lost, err = l.burst(ctx, app[0], time.Second/20, l.length(time.Minute), c.names)
			return out, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measureReplicas saves a file that goes to all replicas: it measures the time until each has it, and until the last has
// it.
func (l *live) measureReplicas(ctx context.Context, many []*container) error {
	var last, fastest, slowest times
	err := l.measure(ctx, many, "10 replicas: each", nil, func() (liveCase, error) {
		took, lost, err := l.spaced(ctx, many, l.times(60), 120*time.Millisecond, l.one("many", "one", func() []byte { return l.text(1024) }))
		if lost == 0 && err == nil {
			for i := range took[0] {
				var all times
				for _, t := range took {
					all = append(all, t[i])
				}
				last = append(last, all.at(1))
			}
		}
		for _, t := range took {
			if fastest == nil || t.median() < fastest.median() {
				fastest = t
			}
			if slowest == nil || t.median() > slowest.median() {
				slowest = t
			}
		}
		return liveCase{took: slices.Concat(took...), lost: lost}, err
	})
	if err != nil || !l.wanted("10 replicas: each") {
		return err
	}
	each := l.report.cases[len(l.report.cases)-1]
	for _, c := range []liveCase{{name: "10 replicas: the fastest of them", took: fastest}, {name: "10 replicas: the slowest of them", took: slowest},
		{name: "10 replicas: until the last has it", took: last}} {
		c.mode, c.busy, c.lost = each.mode, each.busy, each.lost
		l.report.cases = append(l.report.cases, c)
	}
	return nil
}

func (l *live) measureAppending(ctx context.Context, app []*container) error {
	const name = "one file beside an appended one"
	var lines liveCase
	err := l.measure(ctx, app, name, oneFile, func() (edits liveCase, err error) {
		edits, lines, err = l.appendBeside(ctx, app[0], l.length(20*time.Second))
		return edits, err
	})
	if err != nil || !l.wanted(name) {
		return err
	}
	beside := l.report.cases[len(l.report.cases)-1]
	lines.name, lines.mode, lines.busy, lines.targets = "appending: lines, 100/s", beside.mode, beside.busy, appending
	l.report.cases = append(l.report.cases, lines)
	return nil
}

func (l *live) measureRestarts(ctx context.Context, server []*container) error {
	const name = "restart: new process answers"
	var there liveCase
	err := l.measure(ctx, server, name, serving, func() (out liveCase, err error) {
		out.took, there.took, out.lost, err = l.restarts(ctx, server[0], l.times(60), restartPause)
		return out, err
	})
	if err != nil || !l.wanted(name) {
		return err
	}
	served := l.report.cases[len(l.report.cases)-1]
	there.name, there.mode, there.busy = "restart: the file is there", served.mode, served.busy
	l.report.cases = append(l.report.cases, there)
	alone := liveCase{name: "restart: the program's own start"}
	alone.took, err = l.starts(ctx, l.times(60), restartPause)
	l.report.cases = append(l.report.cases, alone)
	return err
}

// measureRebuilds saves a program that was compiled again after a line was changed, until the new one answers.
func (l *live) measureRebuilds(ctx context.Context, server []*container) error {
	for _, c := range []struct{ name, ldflags string }{
		{"a program of 11 MB: answers", "-compressdwarf=false"}, {"a program of 8 MB: answers", ""},
	} {
		err := l.measure(ctx, server, c.name, rebuilt, func() (out liveCase, err error) {
			programs, err := builds(ctx, 4, c.ldflags)
			if err == nil {
				out.took, out.lost, err = l.rebuilds(ctx, server[0], programs, l.times(20), 300*time.Millisecond)
			}
			return out, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether to measure a case.
func (l *live) wanted(name string) bool {
	return len(l.options.only) == 0 || slices.ContainsFunc(l.options.only, func(word string) bool { return strings.HasPrefix(name, word) })
}

// measure measures one case, with the execs and the load of the machine meanwhile.
func (l *live) measure(ctx context.Context, on []*container, name string, targets []target, do func() (liveCase, error)) error {
	if !l.wanted(name) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", l.mode, name)
	var ids []string
	for _, c := range on {
		ids = append(ids, c.id)
	}
	before, err := l.execs.Of(ids)
	if err != nil {
		return err
	}
	used, all, err := busy()
	if err != nil {
		return err
	}
	c, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	usedThen, allThen, err := busy()
	if err != nil {
		return err
	}
	after, err := l.execs.Of(ids)
	if err != nil {
		return err
	}
	c.name, c.targets, c.execs, c.busy = name, targets, after-before, (usedThen-used)/(allThen-all)
	if c.mode, err = l.up.Mode(ctx, on[0].app); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.report.cases = append(l.report.cases, c)
	return nil
}

// noteUse notes the CPU time and memory of hone itself so far.
func (l *live) noteUse() error {
	cpu, err := harness.CPUTime(l.up.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	rss, _, err := harness.Memory(l.up.Cmd.Process.Pid)
	l.report.session = fmt.Sprintf("%s CPU, %s", short(cpu), megabytes(rss))
	return err
}
