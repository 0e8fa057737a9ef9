package imagebuild

import (
	"context"
	"sync"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// fetchedLabel marks the images that fetching a base makes, for a moment.
const fetchedLabel = "dev.hone.fetched"

// fetches is the number of bases that are fetched at a time: the builds that run have the first claim to the network.
const fetches = 2

// Bases fetches the bases of images before their builds have a slot. It is safe for concurrent use. Construct it with NewBases.
type Bases struct {
	docker docker.Client
	away   func() bool
	slots  chan struct{}

	mu   sync.Mutex
	seen map[string]bool // guarded by mu; by platform and reference
}

// NewBases returns a Bases for the engine that builds.
func NewBases(engine docker.Client) *Bases {
	return &Bases{docker: engine, away: func() bool { return false }, slots: make(chan struct{}, fetches), seen: map[string]bool{}}
}

// Unless makes Fetch do nothing while another builder takes the place of the engine, as away reports.
func (b *Bases) Unless(away func() bool) *Bases {
	b.away = away
	return b
}

// Fetch fetches the bases of an image that the engine lacks, each only once. Platform is as in Request. It is silent about failures: the
// build reports them. BuildKit keeps a fetched base, and a build that begins meanwhile joins the fetch.
func (b *Bases) Fetch(ctx context.Context, target model.ImageTarget, cluster string) {
	spec := target.Docker
	if spec == nil || b.away() {
		return
	}
	own := map[string]model.ImageResult{}
	for _, ref := range target.DependsOn {
		own[ref] = model.ImageResult{Local: ref}
	}
	on := platform(spec.Platform, cluster)
	for _, ref := range BaseImages(spec.Contents, spec.BuildArgs) {
		if _, built := resolve(ref, own); built || !b.first(on+" "+ref) {
			continue
		}
		select {
		case b.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		b.fetch(ctx, ref, on)
		<-b.slots
	}
}

// first reports whether a key is new.
func (b *Bases) first(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := b.seen[key]
	b.seen[key] = true
	return !seen
}

// fetch builds an image that is the base and a label, with the credentials of builds, and removes it.
func (b *Bases) fetch(ctx context.Context, ref, on string) {
	if _, found, err := b.docker.Inspect(ctx, ref); found || err != nil {
		return
	}
	id, err := b.docker.Build(ctx, docker.BuildRequest{Dockerfile: "Dockerfile", Contents: "FROM " + ref + "\n", Platform: on,
		Labels: map[string]string{fetchedLabel: "true"}})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), untagTime)
	defer cancel()
	_ = b.docker.Remove(ctx, id)
}
