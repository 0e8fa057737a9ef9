package buildanddeploy

import (
	"slices"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/docker"
)

// IsPassing reports whether an update failed for an external, temporary reason: a registry that does not accept a push,
// an engine that does not answer, an API server (or a webhook that it calls) that answers 429 or 5xx, a connection that
// broke off, a namespace, a kind or room in a quota that the cluster lacks for now, others that write at the same time.
func IsPassing(err error) bool {
	return slices.ContainsFunc(passing, func(is func(error) bool) bool { return is(err) })
}

// passing are the reasons of IsPassing.
var passing = []func(error) bool{
	docker.IsPassing, docker.IsUnreachable, isBusy, k8s.IsCutOff, deploy.IsLacking, deploy.IsContended,
}

func isBusy(err error) bool { return k8s.AsBusy(err) != nil }
