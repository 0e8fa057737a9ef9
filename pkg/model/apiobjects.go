package model

// APIObjects are the objects that a Tiltfile declares through v1alpha1, in the order of the calls.
type APIObjects struct {
	Buttons        []Button
	Commands       []Command
	ConfigMaps     []ConfigMap
	FileWatches    []FileWatch
	ExtensionRepos []ExtensionRepo
	Extensions     []Extension
	// Kept are declarations that hone accepts and shows but does not act on.
	Kept []KeptObject
}

// Add appends the declarations of another Tiltfile.
func (o *APIObjects) Add(more APIObjects) {
	o.Buttons = append(o.Buttons, more.Buttons...)
	o.Commands = append(o.Commands, more.Commands...)
	o.ConfigMaps = append(o.ConfigMaps, more.ConfigMaps...)
	o.FileWatches = append(o.FileWatches, more.FileWatches...)
	o.ExtensionRepos = append(o.ExtensionRepos, more.ExtensionRepos...)
	o.Extensions = append(o.Extensions, more.Extensions...)
	o.Kept = append(o.Kept, more.Kept...)
}

// ExtensionRepo is a repository of extensions: v1alpha1.extension_repo.
type ExtensionRepo struct {
	// Name is unique among extension repos. A repo named "default" replaces the standard repo.
	Name string
	// URL starts with https://, http:// or file://.
	URL string
	// Ref is the branch, tag or commit; empty for the newest commit.
	Ref string
	// LoadHost, if set, is the first part of ext:// paths that refer to this repo.
	LoadHost string
	// GitSubpath is the folder in the repository that contains the extensions; empty for its root.
	GitSubpath string
	Meta
}

// Extension is one extension of a repo: v1alpha1.extension. load("ext://NAME") loads it.
type Extension struct {
	// Name is unique among extensions.
	Name string
	// Repo is the name of an ExtensionRepo.
	Repo string
	// Path is the slash-separated path in the repo of the folder that contains the extension's Tiltfile.
	Path string
	// Args are the arguments of the extension's Tiltfile.
	Args []string
	Meta
}

// KeptObject is an object in the form that the API shows.
type KeptObject struct {
	// Kind is KubernetesApply or KubernetesDiscovery.
	Kind string
	Name string
	// Spec is the specification as JSON, with the API's field names.
	Spec string
	Meta
}
