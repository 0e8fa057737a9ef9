package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// diary records events in order, without the durations of steps.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) text() string { return strings.Join(d.lines, "\n") }

// request is a request whose log, commit and progress go into the diary.
func (d *diary) request(m model.Manifest) Request {
	return Request{Manifest: m, Mode: model.UpdateAuto, StartedAt: time.Unix(1, 0),
		Log:      logstore.Func(func(level logstore.Level, text string) { d.add("%s: %s", level, strings.TrimSpace(text)) }),
		Commit:   func() { d.add("commit") },
		Progress: func(mode, stage string, _ model.BuildProgress) { d.add("progress %s: %s", mode, stage) }}
}

// way is a builder with a fixed result.
type way struct {
	name   string
	d      *diary
	result Result
	err    error
}

func (w way) Name() string { return w.name }

func (w way) BuildAndDeploy(context.Context, Request) (Result, error) {
	w.d.add("try %s", w.name)
	return w.result, w.err
}

// asked is the builder of images, which only looks at the request.
type asked func(Request)

func (asked) Name() string { return "image" }

func (a asked) BuildAndDeploy(_ context.Context, req Request) (Result, error) {
	a(req)
	return Result{}, nil
}

var (
	errInfra = &liveupdate.InfraError{Step: "copy files", Err: errors.New("broken pipe")}
	errFit   = &liveupdate.FallBackError{Reason: "package.json matches fall_back_on"}
	errFull  = &liveupdate.BlockedError{Step: "copy files", Err: errors.New("no space left")}
	errStart = &liveupdate.StartError{Reason: "exec format error"}
	errUser  = &liveupdate.RunStepError{Cmd: model.Cmd{Argv: []string{"make"}}, Code: 2}
)

func TestOrder(t *testing.T) {
	for mode, want := range map[model.UpdateMode]string{
		"": "local synclet container exec compose image", model.UpdateAuto: "local synclet container exec compose image",
		model.UpdateSynclet: "local synclet compose image", model.UpdateImage: "local compose image",
		model.UpdateNaive: "local compose image", model.UpdateContainer: "local container compose image", model.UpdateExec: "local exec compose image",
	} {
		if got := strings.Join(Order(mode), " "); got != want {
			t.Errorf("%q: %s, want %s", mode, got, want)
		}
	}
}

// TestCancelledWhileAsked cancels an update while a builder finds out whether it applies: no other builder is tried
// then.
func TestCancelledWhileAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := &diary{}
	asking := NewContainer(nil, func(context.Context, string) bool { cancel(); return false }, nil)
	c := NewComposite(asking, way{"image", d, Result{}, nil})
	req := (&diary{}).request(model.Manifest{})
	req.InPlace, req.Containers = true, []model.LackingContainer{{ContainerRef: model.ContainerRef{ID: "c1", Runtime: "docker"}}}
	if _, err := c.BuildAndDeploy(ctx, req); !errors.Is(err, context.Canceled) || d.text() != "" {
		t.Errorf("%v, then %q", err, d.text())
	}
}

func TestComposite(t *testing.T) {
	no := &Declined{}
	for _, tc := range []struct {
		name                           string
		mode                           model.UpdateMode
		local, container, exec, image  error
		want, mode2, fellBack, failure string
	}{
		{name: "a local resource", want: "local", mode2: "local"},
		{name: "the fastest way", local: no, want: "local container", mode2: "container"},
		{name: "containers elsewhere", local: no, container: &Declined{Reason: "elsewhere"}, want: "local container exec", mode2: "exec"},
		{name: "only an image will do", local: no, container: no, exec: no, want: "local container exec image", mode2: "image"},
		{name: "no builder accepts it", local: no, container: &Declined{Reason: "elsewhere"}, exec: no, image: no, want: "local container exec image",
			failure: "not for this builder"},
		{name: "an infrastructure failure tries the next way", local: no, container: errInfra, want: "local container exec", mode2: "exec",
			fellBack: "copy files: broken pipe"},
		{name: "and the next", local: no, container: errInfra, exec: errors.New("no tar"), want: "local container exec image", mode2: "image", fellBack: "no tar"},
		{name: "a change that does not fit goes straight to an image", local: no, container: errFit, want: "local container image", mode2: "image",
			fellBack: "package.json matches fall_back_on"},
		{name: "the user's own failing command ends it", local: no, container: errUser, want: "local container", mode2: "container",
			failure: errUser.Error()},
		{name: "cancelled work ends it", local: no, container: fmt.Errorf("copy: %w", context.Canceled), want: "local container", mode2: "container",
			failure: "copy: context canceled"},
		{name: "a missed deadline is not a cancellation", local: no, container: context.DeadlineExceeded, want: "local container exec", mode2: "exec",
			fellBack: "context deadline exceeded"},
		{name: "a failing image is the end", local: no, container: no, exec: errFit, image: errors.New("no space"), want: "local container exec image",
			mode2: "image", fellBack: "package.json matches fall_back_on", failure: "no space"},
		{name: "a failing local command is the end", local: errors.New("exit 1"), want: "local", mode2: "local", failure: "exit 1"},
		{name: "mode image", mode: model.UpdateImage, local: no, want: "local image", mode2: "image"},
		{name: "mode exec", mode: model.UpdateExec, local: no, exec: errInfra, want: "local exec image", mode2: "image", fellBack: "copy files: broken pipe"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, tries := &diary{}, &diary{}
			c := NewComposite(way{"image", tries, Result{}, tc.image}, way{"exec", tries, Result{}, tc.exec},
				way{"container", tries, Result{}, tc.container}, way{"local", tries, Result{}, tc.local})
			req := d.request(model.Manifest{})
			req.Mode = tc.mode
			r, err := c.BuildAndDeploy(t.Context(), req)
			if got := strings.ReplaceAll(strings.ReplaceAll(tries.text(), "try ", ""), "\n", " "); got != tc.want {
				t.Errorf("tried %s, want %s", got, tc.want)
			}
			failure := ""
			if err != nil {
				failure = err.Error()
			}
			if r.Mode != tc.mode2 || r.FellBack != tc.fellBack || failure != tc.failure {
				t.Errorf("mode %q, fell back %q, error %q; want %q, %q, %q", r.Mode, r.FellBack, failure, tc.mode2, tc.fellBack, tc.failure)
			}
		})
	}
}

// TestExamine checks that before a failed update in place continues with a builder that needs the cluster, hone finds
// out whether that can help.
// late is a verdict that shows only after a while.
type late struct{ error }

func TestExamine(t *testing.T) {
	no, forbidden := &Declined{}, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", nil)
	away, gone := &Away{errors.New("refused")}, &Gone{"container main ended (OOMKilled)"}
	crash := &Gone{"container main ended (exit code 3)"}
	for _, tc := range []struct {
		name                                 string
		synclet, container, exec, verdict    error
		want, mode, fellBack, failure, asked string
		says                                 string // of ways and images
	}{
		{name: "the containers run", synclet: errInfra, container: no, exec: errInfra, want: "synclet container exec image", mode: "image",
			fellBack: errInfra.Error(), asked: "false true",
			says: "info: Trying another way: copy files: broken pipe\ninfo: Falling back to a new image: copy files: broken pipe"},
		{name: "the engine needs no cluster", synclet: errInfra, want: "synclet container", mode: "container", fellBack: errInfra.Error(),
			says: "info: Trying another way: copy files: broken pipe"},
		{name: "the cluster is away", synclet: errInfra, container: no, verdict: away, want: "synclet container", mode: "synclet",
			failure: "the cluster does not answer: refused", asked: "false",
			says: "info: Trying another way: copy files: broken pipe"},
		{name: "the containers are gone", synclet: errInfra, container: no, verdict: gone, want: "synclet container", mode: "synclet", asked: "false",
			failure: "the container's memory ran out: container main ended (OOMKilled) while it was being updated; its replacement gets the change",
			says:    "info: Trying another way: copy files: broken pipe"},
		{name: "the containers are gone, after every way", synclet: errInfra, container: no, exec: errInfra, verdict: late{crash}, want: "synclet container exec",
			mode: "exec", asked: "false true", failure: "container main ended (exit code 3) while it was being updated; its replacement gets the change",
			says: "info: Trying another way: copy files: broken pipe"},
		{name: "a change that does not fit", synclet: errFit, verdict: away, want: "synclet image", mode: "image", fellBack: errFit.Error(),
			says: "info: Falling back to a new image: package.json matches fall_back_on"},
		{name: "the disk is full", synclet: errFull, verdict: away, want: "synclet", mode: "synclet", failure: errFull.Error()},
		{name: "exec is forbidden, to all builders alike", synclet: &liveupdate.InfraError{Step: "copy", Err: forbidden}, container: no,
			want: "synclet container image", mode: "image", fellBack: "copy: " + forbidden.Error(), asked: "true",
			says: "info: Trying another way: copy: " + forbidden.Error() + "\ninfo: Falling back to a new image: copy: " + forbidden.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, tries := &diary{}, &diary{}
			var asked []string
			c := NewComposite(way{"synclet", tries, Result{}, tc.synclet}, way{"container", tries, Result{}, tc.container},
				way{"exec", tries, Result{}, tc.exec}, way{"image", tries, Result{}, nil}).Examine(
				func(_ context.Context, cs []model.LackingContainer, patient bool) error {
					if len(cs) != 1 {
						t.Errorf("asked about %v", cs)
					}
					asked = append(asked, fmt.Sprint(patient))
					var l late
					switch {
					case errors.As(tc.verdict, &l) && patient:
						return l.error
					case errors.As(tc.verdict, &l):
						return nil
					}
					return tc.verdict
				})
			req := d.request(model.Manifest{})
			req.Containers = []model.LackingContainer{{ContainerRef: model.ContainerRef{ID: "c1"}}}
			r, err := c.BuildAndDeploy(t.Context(), req)
			failure := ""
			if err != nil {
				failure = err.Error()
			}
			got := []string{strings.ReplaceAll(strings.ReplaceAll(tries.text(), "try ", ""), "\n", " "), r.Mode, r.FellBack, failure, strings.Join(asked, " "), d.text()}
			if diff := cmp.Diff([]string{tc.want, tc.mode, tc.fellBack, tc.failure, tc.asked, tc.says}, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// updater is a liveupdate.Updater that fails in some containers.
type updater struct {
	d    *diary
	fail map[string]error
}

func (u updater) Update(_ context.Context, c model.ContainerRef, p liveupdate.Plan, _ logstore.Logger) (liveupdate.Report, error) {
	u.d.add("update %s: %d copied", c.ID, len(p.Copies))
	now := time.Now()
	return liveupdate.Report{Files: len(p.Copies), Bytes: 1234, Sent: now, Applied: now}, u.fail[c.ID]
}

func TestInPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stop := filepath.Join(dir, "go.mod")
	live := model.LiveUpdate{StopPaths: []string{stop}, Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}
	m := model.Manifest{Name: "web", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", LiveUpdate: live}, {Ref: "side", LiveUpdate: live}}}
	in := func(id, image string, files ...string) model.LackingContainer {
		return model.LackingContainer{ContainerRef: model.ContainerRef{Pod: "pod-" + id, Name: "main", ID: id, Runtime: "docker", Ref: image}, Files: files}
	}
	both := []model.LackingContainer{in("c1", "web", file), in("c2", "web", file)}
	for _, tc := range []struct {
		name       string
		containers []model.LackingContainer
		notInPlace bool
		elsewhere  bool
		fail       map[string]error
		want       string
		synced     []string
		failure    string
		outcome    liveupdate.Outcome
	}{
		{name: "all containers at once", containers: both, synced: []string{"c1", "c2"},
			want: "commit\ndebug: → Container c1 updated! 1 file, 1.2 KB by container in 0.0 ms\n" +
				"debug: → Container c2 updated! 1 file, 1.2 KB by container in 0.0 ms\n" +
				"progress container: updating pod-c1 in place\nprogress container: updating pod-c2 in place\nupdate c1: 1 copied\nupdate c2: 1 copied"},
		{name: "not requested", containers: both, notInPlace: true, failure: "not for this builder", outcome: liveupdate.Infra},
		{name: "no containers", failure: "not for this builder", outcome: liveupdate.Infra},
		{name: "containers of another engine", containers: both, elsewhere: true, outcome: liveupdate.Infra,
			failure: "container main runs in docker, not in the container engine that hone reaches"},
		{name: "a change that does not fit touches nothing", containers: []model.LackingContainer{in("c1", "web", file), in("c2", "web", stop)},
			failure: "go.mod matches fall_back_on", outcome: liveupdate.FallBack},
		{name: "an image that is gone", containers: []model.LackingContainer{in("c1", "old", file)}, failure: "the live update of image old is no longer declared", outcome: liveupdate.FallBack},
		{name: "the command fails everywhere: the files are there", containers: both, fail: map[string]error{"c1": errUser, "c2": errUser},
			synced: []string{"c1", "c2"}, failure: errUser.Error(), outcome: liveupdate.UserError},
		{name: "the command fails in one of two pods", containers: both, fail: map[string]error{"c2": errUser},
			synced: []string{"c1", "c2"}, failure: "the pods are inconsistent now: the update worked in 1, but failed in another: " + errUser.Error(), outcome: liveupdate.FallBack},
		{name: "the command fails in the container of one image only", containers: []model.LackingContainer{in("c1", "web", file), in("c2", "side", file)},
			fail: map[string]error{"c2": errUser}, synced: []string{"c1", "c2"}, failure: errUser.Error(), outcome: liveupdate.UserError},
		{name: "the connection breaks", containers: both, fail: map[string]error{"c2": errInfra}, synced: []string{"c1"},
			failure: "copy files: broken pipe", outcome: liveupdate.Infra},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &diary{}
			b := NewContainer(nil, func(context.Context, string) bool { return !tc.elsewhere }, nil)
			b.updater = updater{d, tc.fail}
			req := d.request(m)
			req.InPlace, req.Containers = !tc.notInPlace, tc.containers
			var r Result
			var err error
			synctest.Test(t, func(t *testing.T) { r, err = b.BuildAndDeploy(t.Context(), req) }) // in a bubble, where no time passes
			if diff := cmp.Diff(tc.synced, r.Synced); diff != "" {
				t.Errorf("synced (-want +got):\n%s", diff)
			}
			slices.Sort(d.lines) // they come in any order
			if tc.want != "" && d.text() != tc.want {
				t.Errorf("diary:\n%s\nwant:\n%s", d.text(), tc.want)
			}
			if tc.failure == "" && err != nil || tc.failure != "" && (err == nil || !strings.Contains(err.Error(), tc.failure)) || liveupdate.Classify(err) != tc.outcome {
				t.Errorf("error (%s): %v, want (%s): %s", liveupdate.Classify(err), err, tc.outcome, tc.failure)
			}
			if tc.outcome == liveupdate.FallBack && tc.synced == nil && strings.Contains(d.text(), "commit") {
				t.Error("it committed to a change that does not fit")
			}
		})
	}
}

func TestInitialSyncCopiesEverythingThatIsNotIgnored(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "b.go", "c.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := model.Manifest{Name: "web", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web",
		LiveUpdate: model.LiveUpdate{InitialSync: true, Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}}}}
	d := &diary{}
	b := NewExec(nil, nil)
	b.updater = updater{d, nil}
	req := d.request(m)
	req.InPlace, req.Ignores = true, []model.Ignore{{Base: dir, Patterns: []string{"*.tmp"}}}
	req.Containers = []model.LackingContainer{
		{ContainerRef: model.ContainerRef{ID: "c1", Ref: "web"}, Files: []string{filepath.Join(dir, "a.go")}, New: true},
		{ContainerRef: model.ContainerRef{ID: "c2", Ref: "web"}, Files: []string{filepath.Join(dir, "a.go")}}}
	if _, err := b.BuildAndDeploy(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := d.text(); !strings.Contains(got, "update c1: 2 copied") || !strings.Contains(got, "update c2: 1 copied") {
		t.Errorf("diary:\n%s", got)
	}
}

// images is a builder of images, a deliverer and a deployer in one.
type images struct {
	d    *diary
	gone map[string]bool
	fail map[string]error // by "build REF", "deliver REF", "deploy"
}

func (i *images) Ping(context.Context) (docker.Info, error) {
	i.d.add("ping")
	return docker.Info{OS: "linux", Arch: "amd64"}, i.fail["ping"]
}

func (i *images) Build(_ context.Context, req imagebuild.Request) (model.ImageResult, error) {
	var deps []string
	for _, dep := range req.Target.DependsOn {
		deps = append(deps, req.Deps[dep].Local)
	}
	i.d.add("build %s on %v platform=%s cache=%v", req.Target.Ref, deps, req.Platform, !req.NoCache)
	return model.ImageResult{Local: req.Target.Ref + ":new", Cluster: req.Target.Ref + ":new"}, i.fail["build "+req.Target.Ref]
}

func (i *images) Try(ctx context.Context, req imagebuild.Request) (model.ImageResult, string, error) {
	r, err := i.Build(ctx, req)
	return r, "", err
}

func (*images) Foresee(context.Context, imagebuild.Request) imagebuild.Prospect {
	return imagebuild.Prospect{}
}

func (*images) Note(context.Context, imagebuild.Request) func(string) { return func(string) {} }

func (*images) Last(model.ImageTarget) (model.ImageResult, bool) { return model.ImageResult{}, false }

func (i *images) Reusable(_ context.Context, prior model.ImageResult, _ imagebuild.Plan) bool {
	return !i.gone[prior.Local]
}

func (*images) Ahead(context.Context, imagebuild.Plan, imagebuild.Request, model.ImageResult) *imagebuild.Transfer {
	return nil
}

func (i *images) Deliver(_ context.Context, _ imagebuild.Plan, r model.ImageResult, _ logstore.Logger, _ func(int)) error {
	i.d.add("deliver %s", r.Local)
	return i.fail["deliver "+r.Local]
}

func (i *images) Deploy(_ context.Context, req Request, results map[string]model.ImageResult) ([]model.AppliedObject, error) {
	i.d.add("deploy %s base=%s web=%s", req.Manifest.Name, results["base"].Local, results["web"].Local)
	return []model.AppliedObject{{UID: "u"}}, i.fail["deploy"]
}

func TestImage(t *testing.T) {
	dockerfile := &model.DockerBuild{}
	m := model.Manifest{Name: "shop", K8s: &model.K8sTarget{Objects: []model.K8sObject{{JSON: `{"image":"web"}`}}},
		Images: []model.ImageTarget{{Ref: "base", Docker: dockerfile}, {Ref: "web", Docker: dockerfile, DependsOn: []string{"base"}}}}
	old := map[string]model.ImageResult{"base": {Local: "base:old"}, "web": {Local: "web:old"}}
	for _, tc := range []struct {
		name   string
		change func(req *Request, i *images)
		want   string
		images string
		mode   string
		fails  string
	}{
		{"the first time: the base is built and not delivered", func(req *Request, _ *images) { req.Results = nil },
			"build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"nothing changed", func(*Request, *images) {}, "commit\ndeploy shop base=base:old web=web:old", "", "deploy", ""},
		{"the image changed", func(req *Request, _ *images) { req.Dirty = map[string]bool{"web": true} },
			"build web on [base:old] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:old web=web:new", "web:new", "", ""},
		{"the base changed: so does what is built on it", func(req *Request, _ *images) { req.Dirty = map[string]bool{"base": true} },
			"build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"the image was removed from the engine", func(_ *Request, i *images) { i.gone = map[string]bool{"web:old": true} },
			"build web on [base:old] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:old web=web:new", "web:new", "", ""},
		{"the images are in another registry", func(req *Request, _ *images) { req.Registry.Host = "localhost:5000" },
			"build base on [] platform=linux/arm64 cache=true\ndeliver base:new\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\n" +
				"deploy shop base=base:new web=web:new", "base:new web:new", "", ""},
		{"the images are in the registry of the cluster, which takes precedence", func(req *Request, _ *images) {
			req.Registry.Host, req.Cluster.Registry.Host = "registry.example.com", "localhost:5000"
			req.Results = map[string]model.ImageResult{}
			for ref, im := range old {
				im.Registry = req.Cluster.Registry
				req.Results[ref] = im
			}
		}, "commit\ndeploy shop base=base:old web=web:old", "", "deploy", ""},
		{"forced", func(req *Request, _ *images) { req.Force = true },
			"build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"naive", func(req *Request, _ *images) { req.Mode = model.UpdateNaive },
			"build base on [] platform=linux/arm64 cache=false\nbuild web on [base:new] platform=linux/arm64 cache=false\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"from scratch", func(req *Request, _ *images) { req.NoCache = true },
			"build base on [] platform=linux/arm64 cache=false\nbuild web on [base:new] platform=linux/arm64 cache=false\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"a base whose name begins another image's is not taken for that", func(req *Request, _ *images) {
			req.Results = nil
			k := *req.Manifest.K8s
			k.Objects = append(k.Objects[:len(k.Objects):len(k.Objects)], model.K8sObject{JSON: `{"image":"base-of-somebody"}`})
			req.Manifest.K8s = &k
		}, "build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"a base that also runs on its own is delivered", func(req *Request, _ *images) {
			req.Dirty = map[string]bool{"base": true}
			k := *m.K8s
			k.Objects = append(k.Objects, model.K8sObject{JSON: `{"image":"base"}`})
			req.Manifest.K8s = &k
		}, "build base on [] platform=linux/arm64 cache=true\ndeliver base:new\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:new web=web:new",
			"base:new web:new", "", ""},
		{"the images only", func(req *Request, _ *images) { req.Results, req.BuildOnly = nil, true },
			"build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true\ndeliver web:new",
			"base:new web:new", "", ""},
		{"the second image fails: the first one counts", func(req *Request, i *images) {
			req.Results, i.fail = nil, map[string]error{"build web": errors.New("COPY: no such file")}
		}, "build base on [] platform=linux/arm64 cache=true\nbuild web on [base:new] platform=linux/arm64 cache=true", "base:new", "", "COPY: no such file"},
		{"an image that cannot be delivered does not count", func(req *Request, i *images) {
			req.Dirty, i.fail = map[string]bool{"web": true}, map[string]error{"deliver web:new": errors.New("denied")}
		}, "build web on [base:old] platform=linux/arm64 cache=true\ndeliver web:new", "", "", "denied"},
		{"the deploy fails", func(req *Request, i *images) {
			req.Dirty, i.fail = map[string]bool{"web": true}, map[string]error{"deploy": errors.New("forbidden")}
		}, "build web on [base:old] platform=linux/arm64 cache=true\ndeliver web:new\ncommit\ndeploy shop base=base:old web=web:new", "web:new", "", "forbidden"},
		{"the engine does not answer", func(_ *Request, i *images) { i.fail = map[string]error{"ping": errors.New("no engine")} }, "", "", "", "no engine"},
		{"without images the engine is not needed", func(req *Request, i *images) {
			req.Manifest.Images, i.fail = nil, map[string]error{"ping": errors.New("no engine")}
		}, "commit\ndeploy shop base=base:old web=web:old", "", "deploy", ""},
		{"a local resource", func(req *Request, _ *images) { req.Manifest = model.Manifest{Local: &model.LocalTarget{}} }, "", "", "", "not for this builder"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &diary{}
			i := &images{d: d}
			b := NewImage(NewEnvironment(i), i, i, i, nil)
			b.here.known = &environment{} // this machine's properties do not matter here
			req := d.request(m)
			req.Results, req.Cluster = old, model.Cluster{Arch: "arm64"}
			tc.change(&req, i)
			if i.fail["ping"] != nil {
				b.here.known = nil
			}
			r, err := b.BuildAndDeploy(t.Context(), req)
			var done []string
			for _, line := range d.lines {
				if word, _, _ := strings.Cut(line, " "); word == "build" || word == "deliver" || word == "commit" || word == "deploy" {
					done = append(done, line)
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(done, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var built []string
			for _, ref := range []string{"base", "web"} {
				if im, ok := r.Images[ref]; ok {
					built = append(built, im.Local)
					if !im.StartedAt.Equal(req.StartedAt) {
						t.Errorf("%s began at %s, want the beginning of the update", ref, im.StartedAt)
					}
				}
			}
			deploys := tc.fails == "" && !req.BuildOnly
			if got := strings.Join(built, " "); got != tc.images || r.Mode != tc.mode || r.Deployed != deploys {
				t.Errorf("images %q, mode %q, deployed %v; want %q, %q", got, r.Mode, r.Deployed, tc.images, tc.mode)
			}
			if tc.fails == "" && err != nil || tc.fails != "" && (err == nil || err.Error() != tc.fails) {
				t.Errorf("error %v, want %q", err, tc.fails)
			}
			if len(old) != 2 || old["web"].Local != "web:old" {
				t.Error("the request's results were written to")
			}
		})
	}
}

func TestSteps(t *testing.T) {
	d := &diary{}
	i := &images{d: d}
	b := NewImage(NewEnvironment(i), i, i, i, nil)
	b.here.known = &environment{}
	m := model.Manifest{Name: "shop", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", Docker: &model.DockerBuild{}}, {Ref: "own", Custom: &model.CustomBuild{}}}}
	if _, err := b.BuildAndDeploy(t.Context(), d.request(m)); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, line := range d.lines {
		if s, ok := strings.CutPrefix(line, "info: STEP "); ok {
			steps = append(steps, s)
		}
	}
	want := []string{"1/5 — Building Dockerfile: [web]", "2/5 — Pushing web:new", "3/5 — Building Custom Build: [own]", "4/5 — Pushing own:new", "5/5 — Deploying"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last := d.lines[len(d.lines)-1]; strings.Count(last, "Step ") != 5 || !strings.Contains(last, "DONE IN: ") {
		t.Errorf("at the end: %s", last)
	}
}

func TestLocal(t *testing.T) {
	run := func(ctx context.Context, cmd model.Cmd) (string, Result, error) {
		d := &diary{}
		req := d.request(model.Manifest{Name: "gen", Local: &model.LocalTarget{Update: cmd}})
		req.Env = []string{"GREETING=hi"}
		r, err := Local{}.BuildAndDeploy(ctx, req)
		return d.text(), r, err
	}
	sh := func(script string) model.Cmd { return model.Cmd{Argv: []string{"sh", "-c", script}} }
	text, r, err := run(t.Context(), sh("echo $GREETING; echo oops >&2"))
	if err != nil || !r.Deployed || !strings.HasPrefix(text, "info: Running cmd: echo $GREETING; echo oops >&2\ncommit\nprogress local: running echo") ||
		!strings.Contains(text, "info: hi") || !strings.Contains(text, "info: oops") {
		t.Errorf("%v %v\n%s", r, err, text)
	}
	if text, _, err := run(t.Context(), sh("printf 'no end'")); err != nil || !strings.Contains(text, "info: no end") {
		t.Errorf("a last line without an end: %v\n%s", err, text)
	}
	quiet := sh("true")
	quiet.EchoOff = true
	if text, _, err := run(t.Context(), quiet); err != nil || strings.Contains(text, "Running cmd") {
		t.Errorf("echo_off: %v\n%s", err, text)
	}
	if text, r, err := run(t.Context(), model.Cmd{}); err != nil || !r.Deployed || text != "" {
		t.Errorf("no command: %v %v %q", r, err, text)
	}
	if _, r, err := run(t.Context(), sh("exit 3")); err == nil || r.Deployed || !strings.Contains(err.Error(), `command "exit 3" failed`) {
		t.Errorf("failing: %v %v", r, err)
	}
	if _, r, err := run(t.Context(), model.Cmd{Argv: []string{"/does/not/exist"}}); err == nil || r.Deployed {
		t.Errorf("missing: %v %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, r, err := run(ctx, sh("sleep 100")); !errors.Is(err, context.Canceled) || r.Deployed {
		t.Errorf("cancelled: %v %v", r, err)
	}
	var declined *Declined
	if _, err := (Local{}).BuildAndDeploy(t.Context(), Request{}); !errors.As(err, &declined) {
		t.Errorf("not local: %v", err)
	}
}

// TestLocalOutputIsKnown waits for the changes that a command has made before it counts as done, but not forever, and
// not when it has failed.
func TestLocalOutputIsKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	build := func(script string, settled func(context.Context)) (Result, error) {
		req := (&diary{}).request(model.Manifest{Name: "gen", Local: &model.LocalTarget{Update: model.Cmd{Argv: []string{"sh", "-c", script}}}})
		req.Settled = settled
		return Local{}.BuildAndDeploy(t.Context(), req)
	}
	known := false
	r, err := build("echo x > "+file, func(context.Context) {
		_, err := os.Stat(file)
		known = err == nil
	})
	if err != nil || !r.Deployed || !known {
		t.Errorf("%v %v, known %v", r, err, known)
	}
	if r, err := build("true", func(ctx context.Context) { <-ctx.Done() }); err != nil || !r.Deployed {
		t.Errorf("files that never come to rest: %v %v", r, err)
	}
	if _, err := build("exit 1", func(context.Context) { t.Error("waits for the output of a command that has failed") }); err == nil {
		t.Error("no error")
	}
}
