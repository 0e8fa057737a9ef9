package up

import (
	"context"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
)

// services returns the nodes of the Compose services that an operation updates, and a function that closes the connection to the
// engine.
func (l loaded) services(ctx context.Context, o buildanddeploy.PreviewOptions) (nodes []operation.Node, closeEngine func(), err error) {
	var items []buildanddeploy.Service
	for _, m := range l.manifests {
		if m.Compose != nil && o.Affects(m) {
			items = append(items, buildanddeploy.Service{Resource: m.Name, Target: m.Compose})
		}
	}
	if len(items) == 0 {
		return nil, func() {}, nil
	}
	engine, err := docker.Open(ctx, l.Known)
	if err != nil {
		return nil, nil, err
	}
	return buildanddeploy.ServiceNodes(engine, items), func() { _ = engine.Close() }, nil
}
