package buildcontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// outcome is the result of a build of the fake builder.
type outcome struct {
	result buildanddeploy.Result
	err    error
	panics any
}

// call is one build that was requested from the fake builder.
type call struct {
	req buildanddeploy.Request
	end chan outcome
	ctx context.Context
}

// builder is a BuildAndDeployer whose builds end when the test says so, or when they are cancelled.
type builder struct {
	mu       sync.Mutex
	running  map[string]*call
	begun    []string
	stubborn bool // builds do not end when they are cancelled
	// begins, unless nil, is called as each build begins, by one goroutine at a time.
	begins func(name string)
}

func (b *builder) Name() string { return "fake" }

func (b *builder) BuildAndDeploy(ctx context.Context, req buildanddeploy.Request) (buildanddeploy.Result, error) {
	name := string(req.Manifest.Name)
	c := &call{req: req, end: make(chan outcome), ctx: ctx}
	b.mu.Lock()
	b.begun = append(b.begun, name)
	if b.running[name] != nil {
		panic(name + " is built twice at once")
	}
	b.running[name] = c
	if b.begins != nil {
		b.begins(name)
	}
	stubborn := b.stubborn
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, name)
	}()
	cancelled := ctx.Done()
	if stubborn {
		cancelled = nil
	}
	select {
	case o := <-c.end:
		if o.panics != nil {
			panic(o.panics)
		}
		return o.result, o.err
	case <-cancelled:
		return buildanddeploy.Result{}, ctx.Err()
	}
}

// call returns the running build of a resource.
func (b *builder) call(name string) *call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[name]
}

// names returns the resources whose builds run.
func (b *builder) names() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for n := range b.running {
		names = append(names, n)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// fixture is a BuildController at work.
type fixture struct {
	*statetest.Alone
	t       *testing.T
	builder *builder
	logs    *logstore.Store
}

func start(t *testing.T, o Options, manifests ...model.Manifest) *fixture {
	return startIn(t, statetest.Session, o, manifests...)
}

// startIn is start in a session of its own kind.
func startIn(t *testing.T, session state.SessionStarted, o Options, manifests ...model.Manifest) *fixture {
	f := &fixture{t: t, builder: &builder{running: map[string]*call{}}, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.builder, f.logs, o), "Other")
	f.Then(session, state.TiltfileStarted{}, statetest.Loaded(manifests...))
	f.Then(statetest.Connected()...)
	return f
}

// finish ends a build.
func (f *fixture) finish(name string, o outcome) {
	f.t.Helper()
	c := f.builder.call(name)
	if c == nil {
		f.t.Fatalf("no build of %s runs, only: %s", name, f.builder.names())
	}
	c.end <- o
	synctest.Wait()
}

// deployed is the outcome of a build that made all images of a manifest and applied it.
func deployed(c *call) outcome {
	r := buildanddeploy.Result{Mode: "image", Deployed: true, Images: map[string]model.ImageResult{}}
	for _, im := range c.req.Manifest.Images {
		r.Images[im.Ref] = model.ImageResult{Local: im.Ref + ":1", Cluster: im.Ref + ":1", StartedAt: c.req.StartedAt}
	}
	return outcome{result: r}
}

func (f *fixture) deploy(names ...string) {
	f.t.Helper()
	for _, n := range names {
		c := f.builder.call(n)
		if c == nil {
			f.t.Fatalf("no build of %s runs, only: %s", n, f.builder.names())
		}
		f.finish(n, deployed(c))
	}
}

func (f *fixture) update(name string) state.Update { return state.Updates.In(f.View()).Value(name) }

func (f *fixture) running(want string) {
	f.t.Helper()
	if got := f.builder.names(); got != want {
		f.t.Errorf("running: %q, want %q", got, want)
	}
}

// last describes the newest past build of a resource.
func (f *fixture) last(name string) string {
	u := f.update(name)
	if len(u.Builds) == 0 {
		return "none"
	}
	b := u.Builds[0]
	return fmt.Sprintf("%d %s err=%q cancelled=%v", b.Serial, b.Reason, b.Err, b.Cancelled)
}

// building is a resource with an image of its own.
func building(name string) model.Manifest { return statetest.K8s(name, statetest.Image(name)) }
