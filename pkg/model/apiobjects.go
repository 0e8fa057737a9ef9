package model

// APIObjects are what a Tiltfile declares through v1alpha1, in the order of the calls.
type APIObjects struct {
	Buttons        []Button
	Commands       []Command
	ConfigMaps     []ConfigMap
	FileWatches    []FileWatch
	ExtensionRepos []ExtensionRepo
	Extensions     []Extension
	// Kept are declarations that hone takes in and shows, and does nothing about.
	Kept []KeptObject
}

// Add appends what another Tiltfile declares.
func (o *APIObjects) Add(more APIObjects) {
	o.Buttons = append(o.Buttons, more.Buttons...)
	o.Commands = append(o.Commands, more.Commands...)
	o.ConfigMaps = append(o.ConfigMaps, more.ConfigMaps...)
	o.FileWatches = append(o.FileWatches, more.FileWatches...)
	o.ExtensionRepos = append(o.ExtensionRepos, more.ExtensionRepos...)
	o.Extensions = append(o.Extensions, more.Extensions...)
	o.Kept = append(o.Kept, more.Kept...)
}

// ExtensionRepo says where a set of extensions comes from: v1alpha1.extension_repo.
type ExtensionRepo struct {
	// Name is unique among extension repos. The one called "default" replaces the standard one.
	Name string
	// URL starts with https://, http:// or file://.
	URL string
	// Ref is the branch, tag or commit; empty for the newest.
	Ref string
	// LoadHost, when set, is the first part of the ext:// paths that lead here.
	LoadHost string
	// GitSubpath is the folder inside the repository that holds the extensions; empty for its root.
	GitSubpath string
	Meta
}

// Extension names one extension of a repo: v1alpha1.extension. load("ext://NAME") leads to it.
type Extension struct {
	// Name is unique among extensions.
	Name string
	// Repo is the name of an ExtensionRepo.
	Repo string
	// Path is the folder of the extension's Tiltfile inside the repo, with slashes.
	Path string
	// Args are the arguments of that Tiltfile.
	Args []string
	Meta
}

// KeptObject is an object in the form in which the API shows it.
type KeptObject struct {
	// Kind is KubernetesApply or KubernetesDiscovery.
	Kind string
	Name string
	// Spec is the specification as JSON, with the API's names for fields.
	Spec string
	Meta
}
