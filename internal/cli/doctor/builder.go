package doctor

import (
	"context"

	"github.com/hone-dev/hone/internal/cluster/builderpod"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// Builders are the builders of images that may take the place of the container engine.
type Builders struct {
	// Named is the one that the environment names; empty for none. Ping asks it.
	Named string
	Ping  func(context.Context) (docker.Info, error)
	// InCluster returns how one would run in the cluster: "rootless". Nil means that there is no cluster.
	InCluster func(context.Context) (string, error)
	// There returns those in the cluster.
	There func(context.Context) ([]builderpod.Standing, error)
}

// Builder returns the section about builders of images. It starts none.
func Builder(ctx context.Context, b Builders) *Section {
	s := section("Builders of images")
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if b.Named == "" {
		s.found("chosen", "the container engine, unless the Tiltfile names another: builder(…)")
	} else {
		s.found("chosen", "%s (HONE_BUILDER)", b.Named)
	}
	if b.Ping != nil {
		if info, err := b.Ping(ctx); err != nil {
			s.fault("answers", err, "")
		} else {
			s.found("answers", "BuildKit %s, %s/%s", info.Version, info.OS, info.Arch)
		}
	}
	if b.InCluster == nil {
		return s
	}
	if how, err := b.InCluster(ctx); err != nil {
		s.found("in the cluster", "none: %v", err) // a fault only for those who want one
	} else {
		s.found("in the cluster", "one would run %s: --builder kubernetes", how)
	}
	there, err := b.There(ctx)
	if err != nil {
		return s // the section about the cluster says so
	}
	for _, is := range there {
		s.found(is.Name, "%s", is)
	}
	return s
}
