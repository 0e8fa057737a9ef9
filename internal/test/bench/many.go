//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/api"
)

// shape is a size of the session.
type shape struct{ resources, clusters int }

func (s shape) String() string {
	if s.clusters == 1 {
		return fmt.Sprintf("%d, one cluster", s.resources)
	}
	return fmt.Sprintf("%d, %d clusters", s.resources, s.clusters)
}

// shapes are the measured ones: the last is compared with a tenth of its resources, and with all of them in one cluster.
var shapes = []shape{{100, 5}, {1000, 1}, {1000, 5}}

const (
	// manyTime bounds the time until everything is ready.
	manyTime = 10 * saveTimeout
	// manyKeys, manySaves and manyAnswers are the numbers of measurements in a session at rest.
	manyKeys, manySaves, manyAnswers = 60, 20, 10
	// keyTime bounds the time of one key.
	keyTime = 10 * time.Second
)

// reading is the figures of one shape.
type reading struct {
	shape
	// rss is the resident memory, own the part that is no file's, base the memory of hone version.
	rss, own, base int64
	// rest is the processor time that was used in the time idle.
	rest time.Duration
	// first is the time until a save was in the container, ready the time until everything ran.
	first, ready time.Duration
	// answers are the times of hone status.
	keys, saves, answers times
	// typed and echoed are floors of keys and saves, in turns with them: a key to cat in a terminal of its own, and a round of cat in the
	// container over an open exec. They show how busy the machine is.
	typed, echoed times
}

// measureMany measures a session of many resources in several clusters, with a screen.
func measureMany(ctx context.Context, b *bench) (err error) {
	b.table.section(fmt.Sprintf("hone up with a screen, %d pods and %d watched files for each resource", podsEach, filesEach),
		"ratios: of the cost of a resource in the smaller session, where the figure grows with them (each); of the whole figure elsewhere",
		"the clusters are contexts of one cluster; the pods are of a node without a machine, which reports that they run and serves their logs",
		"floors, which grow with the load of the machine: a key to cat in another terminal; a round of cat in the container over an open exec")
	floor, err := (&harness.Project{Hone: b.hone}).Run(ctx, "version")
	if err != nil {
		return err
	}
	node, err := b.cluster.paperNode(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.remove()) }()
	if err := node.await(ctx); err != nil {
		return err
	}
	var all []reading
	for _, s := range shapes {
		r, err := b.many(ctx, s, node.name)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		r.base = floor.RSS
		b.table.manyRows(r, all)
		all = append(all, r)
	}
	return nil
}

// many measures one shape.
func (b *bench) many(ctx context.Context, s shape, node string) (r reading, err error) {
	p, err := newManyProject(ctx, b, s, node)
	if err != nil {
		return r, err
	}
	defer p.remove(ctx)
	term, err := harness.OpenTerminal(160, 48)
	if err != nil {
		return r, err
	}
	defer term.Close()
	port, err := freeport.Next()
	if err != nil {
		return r, err
	}
	c := p.Command("up", "--namespace", p.Namespace, "--port", fmt.Sprint(port))
	term.Run(c)
	began := time.Now()
	up, err := p.Start(c, port)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	r = reading{shape: s}
	if err := p.firstSave(ctx, began, &r); err != nil {
		return r, err
	}
	if err := allReady(ctx, up, s.resources+1); err != nil {
		return r, err
	}
	r.ready = time.Since(began)
	if err := errors.Join(r.atRest(ctx, up.Cmd.Process.Pid), r.press(ctx, term), p.save(ctx, &r), p.ask(ctx, &r)); err != nil {
		return r, err
	}
	r.echoed, err = b.echoes(ctx, up)
	return r, err
}

// echoes measures the floor of a save.
func (b *bench) echoes(ctx context.Context, up *harness.Session) (times, error) {
	v, err := up.View()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v.Resources, func(r api.Resource) bool { return r.Name == firstOne })
	if i < 0 || len(v.Resources[i].Pods) == 0 {
		return nil, fmt.Errorf("%s has no pod", firstOne)
	}
	pod := v.Resources[i].Pods[0]
	return b.cluster.echo(ctx, pod.Namespace, pod.Name, 1024, manySaves, pause)
}

// firstSave saves as soon as the container runs.
func (p *manyProject) firstSave(ctx context.Context, began time.Time, r *reading) error {
	err := harness.Await(ctx, manyTime, "the container", func() error {
		if len(roots(p.word)) == 0 {
			return errors.New("it does not run")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := p.saveOnce(); err != nil {
		return err
	}
	r.first = time.Since(began)
	return nil
}

// saveOnce saves a file and waits until the container has it.
func (p *manyProject) saveOnce() (time.Duration, error) {
	there, text := roots(p.word), p.content()
	if err := p.Write(filepath.Join("app", "files", "one"), text); err != nil {
		return 0, err
	}
	start := time.Now()
	err := awaitIn(there, nil, []string{"files/one"}, text, saveTimeout)
	return time.Since(start), err
}

// allReady waits until n resources are ready. It asks rarely, since each answer has all of them.
func allReady(ctx context.Context, up *harness.Session, n int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, manyTime, errors.New("that took too long"))
	defer cancel()
	for {
		v, err := up.View()
		left := len(v.Resources)
		for _, r := range v.Resources {
			if harness.Ready(r) {
				left--
			}
		}
		if err == nil && len(v.Resources) >= n && left == 0 {
			return nil
		}
		if harness.Sleep(ctx, 2*pause) != nil {
			return fmt.Errorf("wait for %d resources: %d of %d are not ready: %w", n, left, len(v.Resources), errors.Join(context.Cause(ctx), err))
		}
	}
}

// atRest measures the memory, and the processor time while nothing happens.
func (r *reading) atRest(ctx context.Context, pid int) error {
	if err := harness.Sleep(ctx, settle); err != nil {
		return err
	}
	before, err := harness.CPUTime(pid)
	if err != nil {
		return err
	}
	if err := harness.Sleep(ctx, idle); err != nil {
		return err
	}
	after, err := harness.CPUTime(pid)
	if err != nil {
		return err
	}
	r.rest = after - before
	r.rss, r.own, err = harness.Memory(pid)
	return err
}

// press goes from the first line of the table to the last and back.
func (r *reading) press(ctx context.Context, term *harness.Terminal) (err error) {
	plain, err := harness.OpenTerminal(160, 48)
	if err != nil {
		return err
	}
	defer plain.Close()
	cat := exec.CommandContext(ctx, "sh", "-c", "stty raw -echo; echo begun; exec cat")
	plain.Run(cat)
	if err := cat.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cat.Process.Kill()
		_ = cat.Wait()
	}()
	if _, err := plain.Press("a", "a", keyTime); err != nil {
		return err
	}
	moves := []struct{ key, shows string }{{"G", lastOne}, {"g", firstOne}}
	if _, err := term.Press(moves[0].key, moves[0].shows, keyTime); err != nil {
		return err
	}
	for i := range manyKeys {
		if err := harness.Sleep(ctx, pause/10); err != nil {
			return err
		}
		m := moves[(i+1)%2]
		took, err := term.Press(m.key, m.shows, keyTime)
		if err != nil {
			return err
		}
		r.keys = append(r.keys, took)
		if took, err = plain.Press(m.key, m.key, keyTime); err != nil {
			return err
		}
		r.typed = append(r.typed, took)
	}
	return nil
}

// save measures live updates beside everything else.
func (p *manyProject) save(ctx context.Context, r *reading) error {
	for range manySaves {
		if err := harness.Sleep(ctx, pause); err != nil {
			return err
		}
		took, err := p.saveOnce()
		if err != nil {
			return err
		}
		r.saves = append(r.saves, took)
	}
	return nil
}

// ask measures the answers to how the session is.
func (p *manyProject) ask(ctx context.Context, r *reading) error {
	for range manyAnswers {
		use, err := p.Run(ctx, "status")
		if err != nil {
			return err
		}
		r.answers = append(r.answers, use.Wall)
	}
	return nil
}

// manyRows prints the figures of a shape beside the earlier shapes.
func (t *table) manyRows(r reading, before []reading) {
	memory := func(r reading) float64 { return float64(r.rss - r.base) }
	rest := func(r reading) float64 { return float64(r.rest) }
	busy := 100 * float64(r.rest) / float64(idle)
	each := float64(r.rss-r.base) / float64(r.resources)
	t.many(r, before, "memory", fmt.Sprintf("%s (%s own), %.0f kB each", megabytes(r.rss), megabytes(r.own), each/1024), true, memory)
	t.many(r, before, "at rest", fmt.Sprintf("%.2f %% CPU, %.2f %% for 1000", busy, busy*1000/float64(r.resources)), true, rest)
	t.many(r, before, "key to screen", r.keys.String(), false, func(r reading) float64 { return float64(r.keys.median()) })
	t.many(r, before, "  a key to cat", r.typed.String(), false, func(r reading) float64 { return float64(r.typed.median()) })
	t.many(r, before, "first live update", short(r.first), false, func(r reading) float64 { return float64(r.first) })
	t.many(r, before, "everything ready", short(r.ready), true, func(r reading) float64 { return float64(r.ready) })
	t.many(r, before, "save to container", r.saves.String(), false, func(r reading) float64 { return float64(r.saves.median()) })
	t.many(r, before, "  a round of cat", r.echoed.String(), false, func(r reading) float64 { return float64(r.echoed.median()) })
	t.many(r, before, "hone status", r.answers.String(), false, func(r reading) float64 { return float64(r.answers.median()) })
}

// many prints one figure and its ratio to the same figure of the other shapes. each means that the figure is divided by the resources.
func (t *table) many(r reading, before []reading, what, figure string, each bool, value func(reading) float64) {
	compared := func(with func(reading) bool, name string) string {
		i := slices.IndexFunc(before, with)
		if i < 0 || value(before[i]) <= 0 {
			return ""
		}
		ratio := value(r) / value(before[i])
		if each {
			ratio *= float64(before[i].resources) / float64(r.resources)
			name += ", each"
		}
		return fmt.Sprintf("%.3g× %s", ratio, name)
	}
	fewer := compared(func(o reading) bool { return o.resources < r.resources }, "fewer")
	together := compared(func(o reading) bool { return o.resources == r.resources }, "one cluster")
	t.print(row{fmt.Sprintf("%s (%s)", what, r.shape), figure, fewer, together})
}
