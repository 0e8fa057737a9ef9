package model

import (
	"slices"
	"time"
)

// Tiltfile is the result of evaluating a Tiltfile.
type Tiltfile struct {
	// Manifests in the order in which the Tiltfile declares them, uncategorized first.
	Manifests []Manifest
	// Declared are the calls that have shaped each resource, in their order. They are no part of the manifests: a call that
	// only moves to another line changes no resource.
	Declared map[ManifestName][]Declaration
	// ConfigFiles are the absolute paths of every file whose change must re-evaluate the Tiltfile. They are set even if the
	// evaluation failed.
	ConfigFiles []string
	// Read maps the absolute path of each file to the hash (xxh3) of its content as last read by the evaluation; 0 for a file
	// that did not exist. Like ConfigFiles, it is set even if the evaluation failed.
	Read map[string]uint64 `json:"-"`
	// Unwatched are the files that its commands name, and whose change does not re-evaluate it.
	Unwatched []string `json:"-"`
	// Served is what the evaluation was told of what the cluster serves; nil if it did not depend on that. Like ConfigFiles, it
	// is set even if the evaluation failed.
	Served *Capabilities `json:"-"`
	// ServedBy is the same for each other cluster that it declares and depends on in this way, by the context of the kubeconfig.
	ServedBy map[string]Capabilities `json:"-"`
	// Ignores apply to every watch: .tiltignore and watch_settings.
	Ignores []Ignore
	// Enabled limits the session to these resources and their dependencies; nil enables all.
	Enabled []ManifestName
	// Clusters are the clusters that it declares, in its order.
	Clusters        []ClusterDeclaration
	DefaultRegistry Registry
	ImageCache      ImageCache
	Builder         Builder
	Update          UpdateSettings
	CI              CISettings
	DockerPrune     DockerPruneSettings
	// Secrets are the values that must not appear in logs.
	Secrets  []Secret
	Warnings []string
	// LeftOut maps the names of extensions that were left out to the reason, whether the Tiltfile or a client declares them.
	LeftOut map[string]string
	// APIObjects are the objects that the Tiltfile declares through v1alpha1.
	APIObjects
}

// ImageRefs returns the references in the Tiltfile of the images that are built.
func (t Tiltfile) ImageRefs() []string {
	var out []string
	for _, m := range t.Manifests {
		for _, im := range m.Images {
			if !slices.Contains(out, im.Ref) {
				out = append(out, im.Ref)
			}
		}
	}
	return out
}

// Registry is a registry that images are pushed to.
type Registry struct {
	// Host is the address of the registry for this machine, e.g. "localhost:5000" or "gcr.io/shop"; empty for none.
	Host string
	// HostFromCluster is the address of the registry for the cluster, where it differs from Host.
	HostFromCluster string
	// SingleName is the name of the one repository for all images; empty for one repository per image.
	SingleName string
	// Pod is the pod of a registry that hone keeps in the session's own cluster, where only the cluster and hone reach it; zero for others.
	Pod RegistryPod `json:",omitzero"`
}

// Kept reports whether hone keeps the registry.
func (r Registry) Kept() bool { return r.Pod.Image != "" }

// RegistryFor returns the registry for the images of a cluster, which is named as in K8sTarget.
func (t Tiltfile) RegistryFor(on string) Registry {
	if t.DefaultRegistry.Kept() && on != "" {
		return Registry{}
	}
	return t.DefaultRegistry
}

// Empty reports whether no registry is set.
func (r Registry) Empty() bool { return r.Host == "" }

// ImageCache is a registry that holds images by the inputs of their builds, beside the way in which they get to the cluster.
type ImageCache struct {
	Registry Registry
	// Push also puts images there that hone builds.
	Push bool
}

// UpdateSettings are the limits of the session.
type UpdateSettings struct {
	// MaxParallel is the number of updates that may run at the same time; zero means any number, of which DefaultMaxParallel may build
	// or run commands.
	MaxParallel int
	// NoBuildAhead keeps the images of a resource from being built while it waits for others.
	NoBuildAhead bool
	// UpsertTimeout limits each request that applies an object.
	UpsertTimeout time.Duration
	// SuppressUnusedImageWarnings are the images that are intentionally not used by any resource.
	SuppressUnusedImageWarnings []string
}

// CISettings are the time limits of "hone ci".
type CISettings struct {
	// GracePeriod is the time for which a pod may be failing before the failure counts.
	GracePeriod      time.Duration
	Timeout          time.Duration
	ReadinessTimeout time.Duration
	// FailFast ends the run with the first failed try of a Job.
	FailFast bool
}

// DefaultMaxParallel is the number of updates that may build images or run commands at the same time, unless the Tiltfile sets another one.
// Tilt has the same number, for all updates.
const DefaultMaxParallel = 3

// The default settings, the same as in Tilt.
var (
	DefaultUpdateSettings = UpdateSettings{UpsertTimeout: 30 * time.Second}
	DefaultCISettings     = CISettings{Timeout: 30 * time.Minute, ReadinessTimeout: 5 * time.Minute}
)
