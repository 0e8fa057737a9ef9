package buildkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// homeTime is the time for which an image waits for its home, from the moment that the home is first missed: a pod is found again, or replaced,
	// within it. Afterwards, the next daemon builds.
	homeTime = docker.AnswerTimeout
	// askTime is the time for an answer of a daemon that has been missed for longer.
	askTime = docker.AnswerTimeout / 10
	// askPause is the pause between two questions.
	askPause = docker.AnswerTimeout / 50
	// refusals is the number of answers in a row, other than that a daemon starts, after which an image of its architecture fails: one may be
	// about a connection that has just ended.
	refusals = 3
)

// archTime is the time for which an image waits for a daemon of its architecture while others answer: as long as for a pod to start.
var archTime = model.DefaultCISettings.ReadinessTimeout

// Fleet is a builder that has one daemon or several: alike ones, and others for other architectures. Each image is built where its cache is. It
// may be used by several goroutines.
type Fleet struct {
	at     Address
	groups []*group // at least one
}

// group are the daemons for an architecture.
type group struct {
	arch string // empty for any
	all  []*daemon
}

// daemon is a member of a fleet.
type daemon struct {
	*Builder

	mu     sync.Mutex
	missed time.Time // when it was first asked in vain; zero if it has answered since; guarded by mu
}

// single returns the fleet of one daemon.
func single(b *Builder) *Fleet {
	return &Fleet{at: b.at, groups: []*group{{all: []*daemon{{Builder: b}}}}}
}

// add adds a daemon for an architecture.
func (f *Fleet) add(arch string, b *Builder) {
	if n := len(f.groups); n == 0 || f.groups[n-1].arch != arch {
		f.groups = append(f.groups, &group{arch: arch})
	}
	last := f.groups[len(f.groups)-1]
	last.all = append(last.all, &daemon{Builder: b})
}

// daemons returns the members of all groups.
func (f *Fleet) daemons() (out []*daemon) {
	for _, g := range f.groups {
		out = append(out, g.all...)
	}
	return out
}

// alone returns the only daemon; nil if there are several.
func (f *Fleet) alone() *Builder {
	if all := f.daemons(); len(all) == 1 {
		return all[0].Builder
	}
	return nil
}

// archs returns the architectures of the groups.
func (f *Fleet) archs() (out []string) {
	for _, g := range f.groups {
		out = append(out, g.arch)
	}
	return out
}

// String names the builder for people.
func (f *Fleet) String() string { return f.at.String() }

// Describe is String with the way in which the daemon runs, where hone runs it, or with the number of daemons.
func (f *Fleet) Describe() string {
	if b := f.alone(); b != nil {
		return b.Describe()
	}
	text := fmt.Sprintf("%s, %d pods", f, len(f.daemons()))
	if archs := f.archs(); len(archs) > 1 {
		text += " for " + strings.Join(archs, ", ")
	}
	return text
}

// OnThisMachine reports whether the daemons share the network of this machine.
func (f *Fleet) OnThisMachine() bool { return f.groups[0].all[0].OnThisMachine() }

// Parts splits the platforms of an image by the daemons that build them. Each part is for one build.
func (f *Fleet) Parts(platforms string) []string { return parts(f.archs(), platforms) }

// InCluster reports whether the daemons run in pods of the session's own cluster.
func (f *Fleet) InCluster() bool { return f.groups[0].all[0].InCluster() }

// Close closes the connections.
func (f *Fleet) Close() error {
	var errs []error
	for _, d := range f.daemons() {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// Alive returns nil when a daemon answers, or a problem that satisfies docker.IsUnreachable.
func (f *Fleet) Alive(ctx context.Context) error {
	_, err := f.Ping(ctx)
	return err
}

// Ping asks all daemons, and returns the first answer. The error satisfies docker.IsUnreachable if none answers in time.
func (f *Fleet) Ping(ctx context.Context) (docker.Info, error) {
	if b := f.alone(); b != nil {
		return b.Ping(ctx)
	}
	asks, cancel := context.WithCancel(ctx)
	defer cancel()
	var asking sync.WaitGroup
	var first sync.Once
	var found docker.Info
	all := f.daemons()
	errs := make([]error, len(all))
	for i, d := range all {
		asking.Go(func() {
			info, err := d.Ping(asks)
			if errs[i] = err; err == nil {
				first.Do(func() { found = info; cancel() })
			}
		})
	}
	asking.Wait()
	switch {
	case slices.Contains(errs, nil):
		return found, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return docker.Info{}, ctx.Err()
	}
	if starts := slices.IndexFunc(errs, docker.IsStarting); starts >= 0 { // the others may never come
		return docker.Info{}, errs[starts]
	}
	return docker.Info{}, errs[0]
}

// Build builds an image as docker.Client does: at its home among the daemons for its platforms, and where that is missing at the next one that
// answers. When a daemon goes in the middle of the build, another one builds, once.
func (f *Fleet) Build(ctx context.Context, req docker.BuildRequest) (id string, err error) {
	if b := f.alone(); b != nil {
		return b.Build(ctx, req)
	}
	if req.Log == nil {
		req.Log = logstore.Discard
	}
	g := f.groups[groupFor(f.archs(), req.Platform)]
	order := make([]*daemon, 0, len(g.all))
	for _, i := range homes(req.Image, len(g.all)) {
		order = append(order, g.all[i])
	}
	var d *daemon
	if len(f.groups) > 1 {
		d, err = g.await(ctx, order, req)
	} else {
		d, err = choose(ctx, order, req.Log)
	}
	if err != nil {
		return "", err
	}
	id, err = d.Build(ctx, req)
	if ctx.Err() != nil || !docker.IsUnreachable(err) {
		return id, err
	}
	d.miss()
	others := slices.DeleteFunc(order, func(other *daemon) bool { return other == d })
	if len(others) == 0 {
		return id, err
	}
	logstore.Infof(req.Log, "%v", err)
	next, none := choose(ctx, others, req.Log)
	if none != nil {
		return "", err
	}
	return next.Build(ctx, req)
}

// choose returns the first daemon in an order that answers. Without one, the error is about the first.
func choose(ctx context.Context, order []*daemon, log logstore.Logger) (*daemon, error) {
	var first error
	for _, d := range order {
		err := d.answers(ctx)
		switch {
		case err == nil:
			logstore.Infof(log, "Building at %s", d.Describe())
			return d, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case first == nil:
			first = err
		}
		logstore.Debugf(log, "%v", err)
	}
	return nil, first
}

// await is choose for an architecture beside which others answer: only images of this one wait for it. The error does not satisfy
// docker.IsUnreachable, for which all images wait.
func (g *group) await(ctx context.Context, order []*daemon, req docker.BuildRequest) (*daemon, error) {
	waits := req.OnWait
	if waits == nil {
		waits = func(string) {}
	}
	said, refused := "", 0
	defer func() {
		if said != "" {
			waits("")
		}
	}()
	for began := time.Now(); ; {
		d, err := choose(ctx, order, req.Log)
		if err == nil || ctx.Err() != nil {
			return d, err
		}
		if refused++; docker.IsStarting(err) {
			refused = 0
		}
		if refused == refusals || time.Since(began) > archTime {
			p := problem.Wrap(errors.New(problem.Text(err)), "no builder for "+g.arch+" answers",
				"give the cluster a node of this architecture, or leave it out: builder(\"kubernetes\", platforms=[…])").See("builders")
			return nil, &docker.Passing{Err: p}
		}
		if text := err.Error(); text != said {
			said = text
			logstore.Infof(req.Log, "Waiting for %s: %s", g.arch, text)
			waits("waiting for " + g.arch + ": " + cmp.Or(docker.StartsAfter(err), text))
		}
	}
}

// answers returns nil once the daemon answers. One that has been missed for some time gets less.
func (d *daemon) answers(ctx context.Context) error {
	asks, cancel := context.WithTimeout(ctx, max(askTime, homeTime-d.miss()))
	defer cancel()
	for {
		d.conn.ResetConnectBackoff() // the pause between two attempts may be longer than the time that is left
		_, err := d.Ping(asks)
		if err == nil {
			d.mu.Lock()
			d.missed = time.Time{}
			d.mu.Unlock()
			return nil
		}
		if !retry.Sleep(asks, askPause) {
			return err
		}
	}
}

// miss notes that the daemon may not answer, and returns for how long it has been missed.
func (d *daemon) miss() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.missed.IsZero() {
		d.missed = time.Now()
	}
	return time.Since(d.missed)
}
