package k8s

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hone-dev/hone/internal/base/discovery"
	"github.com/hone-dev/hone/pkg/model"
)

// Capabilities asks the cluster for its version, and for all versions and kinds that it serves.
func (c *Client) Capabilities(ctx context.Context) (out model.Capabilities, err error) {
	ctx = AtOnce(ctx)
	var groups []discovery.Group
	var g errgroup.Group
	g.Go(func() (err error) { out.KubeVersion, err = c.version(ctx); return })
	g.Go(func() (err error) { groups, err = c.discovery.Groups(quiet(ctx)); return })
	if err := g.Wait(); err != nil {
		return model.Capabilities{}, fmt.Errorf("ask the cluster what it serves: %w", c.Explain(contextError(ctx, err)))
	}
	out.APIVersions = apiVersions(groups)
	return out, nil
}

// apiVersions returns the versions of all groups, each followed by its kinds, as Helm writes them.
func apiVersions(groups []discovery.Group) []string {
	var out []string
	for _, group := range groups {
		for _, v := range group.Versions {
			version := v.Name
			if group.Name != "" {
				version = group.Name + "/" + v.Name
			}
			out = append(out, version)
			for _, r := range v.Resources {
				if !strings.Contains(r.Name, "/") { // a subresource
					out = append(out, version+"/"+r.Kind)
				}
			}
		}
	}
	return out
}
