package buildanddeploy

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

// ImageReader inspects images, wherever they are; see imagebuild.Reader.
type ImageReader interface {
	Inspect(ctx context.Context, of model.ImageResult, to imagebuild.Plan) (docker.Image, bool, error)
	Programs(ctx context.Context, of model.ImageResult, to imagebuild.Plan, paths []string) ([]string, error)
}

// SyncletImage delivers the image with the synclet to a cluster and returns its name there; see imagebuild.SyncletImage.
type SyncletImage interface {
	Deliver(ctx context.Context, plan imagebuild.Plan, arch, beside string, log logstore.Logger) (string, error)
	// Name returns the name that Deliver would return.
	Name(plan imagebuild.Plan, arch, beside string) (string, error)
}

// Experience remembers earlier containers.
type Experience interface {
	// LockedOut reports whether the synclet could be brought neither by shell nor by tar into containers of an image, which is
	// named by the Tiltfile's reference.
	LockedOut(ref string) bool
}

// Synclets decides which pods get the synclet when they are deployed. Construct it with NewSynclets; it is safe for
// concurrent use.
type Synclets struct {
	images     ImageReader
	image      SyncletImage
	experience Experience
	here       *Environment

	mu   sync.Mutex
	seen map[string]inside // by image id; guarded by mu
}

// NewSynclets returns a Synclets that inspects images, delivers hone's own image, and consults experience.
func NewSynclets(images ImageReader, image SyncletImage, experience Experience, here *Environment) *Synclets {
	return &Synclets{images: images, image: image, experience: experience, here: here, seen: map[string]inside{}}
}

// inside is the relevant content of an image.
type inside struct {
	command deploy.ImageCommand
	path    []string // where programs are looked for
	// open means that the image has a shell or tar; it is valid if looked is set.
	open, looked bool
}

// Injection returns the injection into the pods of a deploy with the given images; nil if they need none.
func (s *Synclets) Injection(ctx context.Context, req Request, images map[string]model.ImageResult) (*deploy.SyncletInjection, error) {
	if !req.Manifest.IsK8s() || req.Manifest.CustomDeploy() != nil {
		return nil, nil
	}
	uses, must, beside, err := s.uses(ctx, req, images)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	ref, err := s.Deliver(ctx, req.Cluster, req.Registry, beside, req.Log)
	switch {
	case err == nil:
		return &deploy.SyncletInjection{Image: ref, Uses: uses}, nil
	case must || ctx.Err() != nil:
		return nil, fmt.Errorf("bring the synclet to the cluster: %w", err)
	}
	logstore.Warnf(req.Log, "WARNING: the synclet could not be brought to the cluster, so changes may need a new image: %s", problem.Text(err))
	return nil, nil
}

// uses returns the images that need the synclet in their containers, whether one cannot do without it, and the reference of the
// last one.
func (s *Synclets) uses(ctx context.Context, req Request, images map[string]model.ImageResult) (uses map[string]deploy.SyncletUse, must bool, beside string, err error) {
	uses = map[string]deploy.SyncletUse{}
	for _, im := range req.Manifest.Images {
		if !deployed(req.Manifest, im.Ref) || images[im.Ref].Cluster == "" {
			continue
		}
		use, why, err := s.use(ctx, req, im, images[im.Ref])
		if err != nil {
			return nil, false, "", err
		}
		if why == "" {
			continue
		}
		uses[im.Ref], must, beside = use, must || use.Run, im.Ref
		logstore.Infof(req.Log, "Putting the synclet into containers of %s: %s", im.Ref, why)
	}
	return uses, must, beside, nil
}

// Foreseen returns the same as Injection would, and delivers nothing. An image that is not built yet is judged by the last one of
// its name, if there is one.
func (s *Synclets) Foreseen(ctx context.Context, req Request, images map[string]model.ImageResult) (*deploy.SyncletInjection, error) {
	if !req.Manifest.IsK8s() || req.Manifest.CustomDeploy() != nil {
		return nil, nil
	}
	req.Log = logstore.Discard
	uses, _, beside, err := s.uses(ctx, req, images)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	for ref, use := range uses {
		if use.Run && use.Command == nil {
			use.Command = deploy.UnbuiltCommand()
			uses[ref] = use
		}
	}
	plan, err := s.here.plan(ctx, req.Cluster, req.Registry, model.ImageTarget{Ref: model.SyncletName})
	if err != nil {
		return nil, err
	}
	name, err := s.image.Name(plan, req.Cluster.Arch, beside)
	return &deploy.SyncletInjection{Image: name, Uses: uses}, err
}

// Deliver delivers the image with the synclet to a cluster.
func (s *Synclets) Deliver(ctx context.Context, cluster model.Cluster, registry model.Registry, beside string, log logstore.Logger) (string, error) {
	plan, err := s.here.plan(ctx, cluster, registry, model.ImageTarget{Ref: model.SyncletName})
	if err != nil {
		return "", err
	}
	return s.image.Deliver(ctx, plan, cluster.Arch, beside, log)
}

// use returns how containers of an image use the synclet, and why; without a reason they do not need it.
func (s *Synclets) use(ctx context.Context, req Request, im model.ImageTarget, r model.ImageResult) (use deploy.SyncletUse, why string, err error) {
	if im.LiveUpdate.RestartProcess != nil {
		in, known, err := s.look(ctx, req, im, r, false)
		if known {
			use.Command = &in.command
		}
		use.Run = true
		return use, "their process is restarted in place", err
	}
	if len(im.LiveUpdate.Syncs) == 0 || !slices.Contains(Order(req.Mode), "synclet") {
		return use, "", nil
	}
	in, known, err := s.look(ctx, req, im, r, true)
	switch {
	case err != nil:
		return use, "", err
	case known && !in.open:
		return use, "the image has neither sh nor tar", nil
	case s.experience.LockedOut(im.Ref):
		return use, "it found no other way into earlier containers", nil
	}
	return use, "", nil
}

// look returns the content of an image, and with programs also whether it has a shell or tar. known is false if the
// image cannot be inspected.
func (s *Synclets) look(ctx context.Context, req Request, target model.ImageTarget, r model.ImageResult, programs bool) (in inside, known bool, err error) {
	if in, known = s.looked(r.ImageID, programs); known {
		return in, true, nil
	}
	to, err := s.here.plan(ctx, req.Cluster, req.Registry, target)
	if err != nil {
		return inside{}, false, err
	}
	im, found, err := s.images.Inspect(ctx, r, to)
	if err != nil || !found {
		return inside{}, false, err
	}
	if in, known = s.looked(im.ID, programs); known {
		return in, true, nil
	}
	in = inside{command: deploy.ImageCommand{Entrypoint: im.Entrypoint, Cmd: im.Cmd}, path: searchPath(im.Env)}
	if programs {
		var tools []string
		for _, dir := range in.path {
			tools = append(tools, path.Join(dir, "sh"), path.Join(dir, "tar"))
		}
		got, err := s.images.Programs(ctx, r, to, tools)
		if err != nil {
			return inside{}, false, err
		}
		in.open, in.looked = len(got) > 0, true
	}
	s.mu.Lock()
	s.seen[im.ID] = in
	s.mu.Unlock()
	return in, true, nil
}

// looked returns the content of an image if it was inspected before.
func (s *Synclets) looked(id string, programs bool) (in inside, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, known = s.seen[id]
	return in, known && (in.looked || !programs)
}

// usualPath is the list of folders in which container runtimes look for programs if an image does not set PATH.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// searchPath returns the absolute folders of PATH.
func searchPath(env []string) []string {
	list := usualPath
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	return slices.DeleteFunc(strings.Split(list, ":"), func(dir string) bool { return !path.IsAbs(dir) })
}
