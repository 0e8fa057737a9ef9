package model

import (
	"slices"
	"time"
)

// Tiltfile is what evaluating a Tiltfile yields.
type Tiltfile struct {
	// Manifests in the order in which the Tiltfile declares them, uncategorized first.
	Manifests []Manifest
	// ConfigFiles are the absolute paths of every file whose change must re-evaluate the Tiltfile; they are filled
	// also when the evaluation failed.
	ConfigFiles []string
	// Read has, by absolute path, the hash (xxh3) of each file's content as the evaluation last read it; 0 for a file that did
	// not exist. Like ConfigFiles, it is filled also when the evaluation failed.
	Read map[string]uint64 `json:"-"`
	// Ignores apply to every watch: .tiltignore and watch_settings.
	Ignores []Ignore
	// Enabled restricts the session to these resources and their dependencies; nil enables all.
	Enabled         []ManifestName
	DefaultRegistry Registry
	Update          UpdateSettings
	CI              CISettings
	DockerPrune     DockerPruneSettings
	// Secrets are the values that logs must not show.
	Secrets  []Secret
	Warnings []string
	// LeftOut says why extensions, by name, whether it declares them or a client does, are not part of this.
	LeftOut map[string]string
	// APIObjects are what it declares through v1alpha1.
	APIObjects
}

// ImageRefs are the images that are built, as the Tiltfile calls them.
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

// Registry is where images are pushed to.
type Registry struct {
	// Host is the registry as this machine reaches it, e.g. "localhost:5000" or "gcr.io/shop"; empty for none.
	Host string
	// HostFromCluster is how the cluster reaches it, where that differs.
	HostFromCluster string
	// SingleName puts every image into one repository of this name.
	SingleName string
}

// Empty reports whether no registry is set.
func (r Registry) Empty() bool { return r.Host == "" }

// UpdateSettings are the session's limits.
type UpdateSettings struct {
	// MaxParallel is how many updates may run at once; 1 or more.
	MaxParallel int
	// UpsertTimeout bounds each request that applies an object.
	UpsertTimeout time.Duration
	// SuppressUnusedImageWarnings names images that are built for no resource on purpose.
	SuppressUnusedImageWarnings []string
}

// CISettings bound "hone ci".
type CISettings struct {
	// GracePeriod is for how long a pod may be failing before it counts.
	GracePeriod      time.Duration
	Timeout          time.Duration
	ReadinessTimeout time.Duration
}

// The defaults of the settings, as in Tilt.
var (
	DefaultUpdateSettings = UpdateSettings{MaxParallel: 3, UpsertTimeout: 30 * time.Second}
	DefaultCISettings     = CISettings{Timeout: 30 * time.Minute, ReadinessTimeout: 5 * time.Minute}
)

// Secret is a value of a Secret object, to be replaced in logs.
type Secret struct {
	Name  string
	Key   string
	Value string
}
