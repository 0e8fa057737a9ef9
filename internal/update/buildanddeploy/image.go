package buildanddeploy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// ImageBuilder builds images.
type ImageBuilder interface {
	Build(ctx context.Context, req imagebuild.Request) (model.ImageResult, error)
	// Try builds an image to look at, and returns the digest in its name; empty for one that is in the engine.
	Try(ctx context.Context, req imagebuild.Request) (result model.ImageResult, digest string, err error)
	Reusable(ctx context.Context, prior model.ImageResult, to imagebuild.Plan) bool
	// Note notes the inputs of an image that another program builds.
	Note(ctx context.Context, req imagebuild.Request) (end func(ref string))
	// Foresee returns the image that a build of the same inputs has made, and Last the last one of a target.
	Foresee(ctx context.Context, req imagebuild.Request) imagebuild.Prospect
	Last(t model.ImageTarget) (model.ImageResult, bool)
}

// Deliverer delivers images to a cluster.
type Deliverer interface {
	Deliver(ctx context.Context, plan imagebuild.Plan, result model.ImageResult, log logstore.Logger, sent func(percent int)) error
	// Ahead begins to send the layers that the image of a build will share with the last one or with its base, without waiting.
	Ahead(ctx context.Context, plan imagebuild.Plan, build imagebuild.Request, last model.ImageResult) *imagebuild.Transfer
}

// Deployer applies the objects of a resource.
type Deployer interface {
	Deploy(ctx context.Context, req Request, images map[string]model.ImageResult) ([]model.AppliedObject, error)
}

// Image builds the images of a resource, delivers them to the cluster, and deploys the resource with them.
type Image struct {
	here      *Environment // nil if images are used where they are built
	builder   ImageBuilder
	deliverer Deliverer
	deployer  Deployer
	synclets  *Synclets
}

// NewImage returns the builder. synclets adds to pods what updates in place need; nil leaves them as they are.
func NewImage(here *Environment, builder ImageBuilder, deliverer Deliverer, deployer Deployer, synclets *Synclets) *Image {
	return &Image{here: here, builder: builder, deliverer: deliverer, deployer: deployer, synclets: synclets}
}

var _ BuildAndDeployer = (*Image)(nil)

// Name implements BuildAndDeployer.
func (b *Image) Name() string { return "image" }

// BuildAndDeploy implements BuildAndDeployer.
func (b *Image) BuildAndDeploy(ctx context.Context, req Request) (result Result, err error) {
	if !req.Manifest.IsK8s() {
		return Result{}, &Declined{}
	}
	work, err := b.plan(ctx, req)
	if err != nil {
		return Result{}, err
	}
	st := &steps{log: req.Log, progress: req.Progress, mode: b.Name(), total: work.steps(), images: work.images(), began: time.Now()}
	result.Images = map[string]model.ImageResult{}
	if !req.BuildOnly {
		st.total++ // its deploy
	}
	if work.steps() == 0 {
		result.Mode = "deploy" // nothing was built: only the objects are new
	}
	defer func() { result.Steps, result.LayersAhead = st.ended(), st.layersAhead() }()
	images, err := b.images(ctx, req, work, st, &result)
	if req.BuildOnly {
		maps.DeleteFunc(result.Images, func(_ string, r model.ImageResult) bool { return len(r.Lacks) > 0 })
	}
	if err != nil || req.BuildOnly {
		return result, err
	}
	if b.synclets != nil {
		if req.Synclet, err = b.synclets.Injection(ctx, req, images); err != nil {
			return result, err
		}
	}
	req.Commit()
	st.next(model.StepApply, "", "Deploying")
	result.Applied, err = b.deployer.Deploy(k8s.Patiently(ctx, st.waits), req, images)
	if err != nil {
		return result, err
	}
	result.Deployed, result.Copies, result.Left = true, req.copies(), req.left(result.Applied)
	st.done()
	return result, nil
}

// images carries out the jobs, one after the other until one fails, notes the built images in the result, and returns all images
// that are in use.
func (b *Image) images(ctx context.Context, req Request, work jobs, st *steps, result *Result) (map[string]model.ImageResult, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := newImages(b, req, work, st)
	all.failed = stop
	defer func() { maps.Copy(result.Images, all.built) }()
	op, err := operation.New(all.nodes())
	if err != nil {
		return all.inUse, err
	}
	errs, err := op.Apply(ctx, 1)
	return all.inUse, cmp.Or(err, all.err, cmp.Or(errs...))
}

// image builds one image and delivers it to the cluster.
func (b *Image) image(ctx context.Context, req Request, w job, images map[string]model.ImageResult, st *steps) (model.ImageResult, error) {
	ref := w.target.Ref
	st.nth++
	if w.target.Custom != nil {
		st.next(model.StepBuild, ref, fmt.Sprintf("Building Custom Build: [%s]", ref))
	} else {
		st.next(model.StepBuild, ref, fmt.Sprintf("Building Dockerfile: [%s]", ref))
	}
	log := logstore.Indent(req.Log, "  ")
	build := b.request(req, w, images)
	build.Logger, build.OnContext, build.OnStep, build.OnWait = log, st.context, st.build, st.report
	if w.deliver {
		build.OnBuild = func() {
			last, _ := b.builder.Last(w.target)
			st.goAhead(ref, b.deliverer.Ahead(ctx, w.plan, build, last))
		}
	}
	r, err := b.builder.Build(ctx, build)
	if err != nil {
		return r, err
	}
	if len(r.Lacks) == 0 {
		r.StartedAt = req.StartedAt
	}
	r.On, r.Registry = req.Manifest.Cluster(), w.plan.Registry
	if w.deliver {
		st.next(model.StepPush, ref, "Pushing "+r.Local)
		if err := b.deliverer.Deliver(ctx, w.plan, r, log, st.sent); err != nil {
			return r, err
		}
	}
	return r, nil
}

// request returns the build of one image, given the images that are in use.
func (b *Image) request(req Request, w job, images map[string]model.ImageResult) imagebuild.Request {
	deps := map[string]model.ImageResult{}
	for _, dep := range w.target.DependsOn {
		deps[dep] = images[dep]
	}
	return imagebuild.Request{Target: w.target, Deps: deps, Registry: w.plan.Registry, To: w.plan, NoCache: req.fromScratch(), Reuse: req.Reuse, Renew: req.Force, Share: w.plan.Share, Cache: req.Cache, Builder: req.Builder, MayLack: req.mayLack(w.target),
		Platform: b.platform(req.Cluster), Env: req.Env}
}

// platform returns the default platform of images.
func (b *Image) platform(c model.Cluster) string {
	if c.Arch == "" || b.here == nil {
		return ""
	}
	return "linux/" + c.Arch
}

// job is the work for one image.
type job struct {
	target model.ImageTarget
	plan   imagebuild.Plan
	// build is false for an image whose result is still good.
	build bool
	// deliver is false for an image that is only the base of others, unless it is shared.
	deliver bool
}

type jobs []job

// images returns the number of images that are built.
func (j jobs) images() (n int) {
	for _, w := range j {
		if w.build {
			n++
		}
	}
	return n
}

func (j jobs) steps() int {
	n := 0
	for _, w := range j {
		if w.build {
			n++
			if w.deliver {
				n++
			}
		}
	}
	return n
}

// plan decides which images to build: the images that changed, those whose result is gone, and those that are based on one of
// these.
func (b *Image) plan(ctx context.Context, req Request) (jobs, error) {
	building := map[string]bool{}
	var out jobs
	for _, im := range req.Manifest.Images {
		prior, have := req.Results[im.Ref]
		j := job{target: im}
		if b.here != nil {
			plan, err := b.here.plan(ctx, req.Cluster, req.Registry, im)
			if err != nil {
				return nil, err
			}
			j.plan, j.deliver = plan, plan.Share || deployed(req.Manifest, im.Ref)
			j.plan.Base = isBase(req.Manifest, im.Ref)
		}
		usable := have && prior.On == req.Manifest.Cluster() && prior.Registry == j.plan.Registry
		asked := req.Force || req.fromScratch()
		needed := asked || !usable || req.Dirty[im.Ref]
		for _, dep := range im.DependsOn {
			needed = needed || building[dep]
		}
		j.build = needed || !b.builder.Reusable(ctx, prior, j.plan)
		building[im.Ref] = j.build
		out = append(out, j)
	}
	return out, nil
}

// isBase reports whether other images of a resource are based on an image.
func isBase(m model.Manifest, ref string) bool {
	return slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return slices.Contains(im.DependsOn, ref) })
}

// deployed reports whether an image runs in the cluster itself, rather than being only a base of others.
func deployed(m model.Manifest, ref string) bool {
	if !isBase(m, ref) {
		return true
	}
	if d := m.K8s.CustomDeploy; d != nil {
		return slices.Contains(d.ImageDeps, ref)
	}
	for _, o := range m.K8s.Objects {
		for _, end := range []string{`"`, ":", "@"} {
			if strings.Contains(o.JSON, `"`+ref+end) {
				return true
			}
		}
	}
	return false
}

// steps logs the headings of an update's steps and their durations.
type steps struct {
	log      logstore.Logger
	progress func(mode, stage string, at model.BuildProgress)
	mode     string
	total    int
	at       int
	// images is the number of images that are built, and nth the number of the current one.
	images, nth int
	name        string
	started     time.Time
	began       time.Time
	took        []string
	// step is the current step, which lasts from started until it is finished, and far its progress. carried is the duration of the
	// transfer of its build context. list are the steps before it.
	step    model.BuildStep
	far     model.BuildProgress
	carried time.Duration
	list    []model.BuildStep
	// ahead are transfers of layers beside the steps.
	ahead []transferAhead
}

// transferAhead is the transfer of layers for an image.
type transferAhead struct {
	image string
	*imagebuild.Transfer
}

func (s *steps) next(kind model.StepKind, what, name string) {
	s.finish()
	s.at++
	s.name, s.started = name, time.Now()
	s.step, s.carried = model.BuildStep{Kind: kind, What: what}, 0
	s.far = model.BuildProgress{Kind: kind, Image: what}
	if kind == model.StepBuild || kind == model.StepPush {
		s.far.Nth, s.far.Images = s.nth, s.images
	}
	logstore.Infof(s.log, "STEP %d/%d — %s", s.at, s.total, name)
	s.report("")
}

// report reports the progress of the current step, and the reason why it waits, if any.
func (s *steps) report(waits string) {
	stage := fmt.Sprintf("%d/%d %s", s.at, s.total, s.name)
	if waits != "" {
		stage += ": " + waits
	}
	far := s.far // a copy: concurrent requests to the cluster each report their own wait
	far.Waits = waits
	s.progress(s.mode, stage, far)
}

// build reports how many of the steps of the current image have begun.
func (s *steps) build(begun, all int) {
	s.far.Step, s.far.Steps = begun, all
	s.report("")
}

// sent reports how much of the current image has been sent.
func (s *steps) sent(percent int) {
	s.far.Percent = percent
	s.report("")
}

// waits reports that a step waits for the cluster, and when it continues.
func (s *steps) waits(w k8s.Wait) {
	if w.Why == "" {
		s.report("")
		return
	}
	logstore.Infof(s.log, "%s", w)
	s.report(w.String())
}

// context reports how long the transfer of the current step's build context took.
func (s *steps) context(took time.Duration) { s.carried = took }

// goAhead notes a transfer of layers for an image; nil is none.
func (s *steps) goAhead(image string, t *imagebuild.Transfer) {
	if t != nil {
		s.ahead = append(s.ahead, transferAhead{image, t})
	}
}

// layersAhead returns the transfers of layers up to now.
func (s *steps) layersAhead() (list []model.LayersAhead) {
	for _, t := range s.ahead {
		from, to := t.Span()
		list = append(list, model.LayersAhead{Image: t.image, From: from.Sub(s.began), Took: to.Sub(from)})
	}
	return list
}

// ended finishes the current step, if there is one, and returns all of them.
func (s *steps) ended() []model.BuildStep {
	s.finish()
	return s.list
}

func (s *steps) finish() {
	if s.name != "" {
		s.step.Took = time.Since(s.started)
		if sent := min(s.carried, s.step.Took); sent > 0 {
			s.list = append(s.list, model.BuildStep{Kind: model.StepContext, What: s.step.What, Took: sent})
			s.step.Took -= sent
		}
		s.list = append(s.list, s.step)
		s.took = append(s.took, fmt.Sprintf("     Step %d - %.2fs (%s)", s.at, time.Since(s.started).Seconds(), s.name))
	}
	s.name = ""
}

func (s *steps) done() {
	s.finish()
	logstore.Infof(s.log, "%s\n     DONE IN: %.2fs", strings.Join(s.took, "\n"), time.Since(s.began).Seconds())
}
