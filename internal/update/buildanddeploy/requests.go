package buildanddeploy

import (
	"context"
	"log/slog"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// counting returns a context whose requests to the API server go into hone's own log, if that is open, one line for each. The caller
// ends the work with counted, which adds them up. The content of objects stays out.
func (c *Cluster) counting(ctx context.Context, work string, resources ...model.ManifestName) (counting context.Context, counted func()) {
	if c.debug == nil || !c.debug.Enabled(ctx, slog.LevelInfo) {
		return ctx, func() {}
	}
	log := c.debug.With("work", work)
	if len(resources) > 0 {
		log = log.With("resources", resources)
	}
	all := &k8s.Requests{Tell: func(r k8s.Request) {
		log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("verb", r.Verb), slog.String("object", r.Object),
			slog.String("namespace", r.Namespace), slog.Int("status", r.Status), slog.Int64("sent", r.Sent),
			slog.Int64("received", r.Received), slog.Duration("took", r.Took))
	}}
	return k8s.CountRequests(ctx, all), func() { log.Info(all.String()) }
}
