package stdlib

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
)

// Builtins that older Tiltfiles call and that have no effect here. They are accepted, so that the Tiltfiles run.

// ignored accepts a call and does not look at the arguments.
func ignored(*eval.Call) (starlark.Value, error) { return nil, nil }

// obsolete accepts a call and warns that it has no effect.
func obsolete(c *eval.Call) (starlark.Value, error) {
	c.Warn(c.Site(), "%s() has no effect any more; remove the call", c.Name)
	return nil, nil
}

// features are the names that enable_feature and disable_feature accept. Those that are true still have a meaning in
// Tilt; the others can no longer be switched.
var features = map[string]bool{
	"snapshots": true, "cluster_refresh": true,
	"multiple_containers_per_pod": false, "events": false, "live_update_v2": false, "disable_resources": false,
	"bulk_disable_resources": false, "offline_snapshot_creation": false, "update_history": false, "facets": false,
	"labels": false, "sidecar_restart": false,
}

func feature(c *eval.Call) (starlark.Value, error) {
	var name string
	if err := c.Unpack("feature_name", &name); err != nil {
		return nil, err
	}
	live, known := features[name]
	switch {
	case !known:
		return nil, fmt.Errorf("there is no feature %q%s", name, hint.DidYouMean(name, slices.Sorted(maps.Keys(features))))
	case !live:
		c.Warn(c.Site(), "%s: feature %q can no longer be switched; remove the call", c.Name, name)
	}
	return nil, nil
}

// assemblyVersion accepts the only version of assembly.
func assemblyVersion(c *eval.Call) (starlark.Value, error) {
	var version int
	if err := c.Unpack("version", &version); err != nil {
		return nil, err
	}
	if !slices.Contains([]int{2}, version) {
		return nil, fmt.Errorf("version %d of resource assembly is gone; only 2 exists", version)
	}
	return obsolete(c)
}
