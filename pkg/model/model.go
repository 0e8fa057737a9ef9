// Package model defines the declarations of a Tiltfile and the facts that hone reports: manifests and their targets, images, live
// updates, clusters, pods, builds. Values are plain data: the package does no I/O, starts no goroutines and keeps no pointers into
// memory of other owners, so a value may be shared freely once it is no longer modified.
package model

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ManifestName is the name of a resource, the row that the user sees. It is unique within a session.
type ManifestName string

const (
	// TiltfileName is the reserved name of the resource that represents the evaluation of the Tiltfile itself.
	TiltfileName ManifestName = "(Tiltfile)"
	// UncategorizedName is the reserved name of the resource for objects that belong to no workload.
	UncategorizedName ManifestName = "uncategorized"
)

// UncategorizedIn returns the name of the resource for the objects of a declared cluster that belong to no workload, by the name of the
// cluster.
func UncategorizedIn(cluster string) ManifestName {
	return UncategorizedName + ":" + ManifestName(cluster)
}

// Uncategorized reports whether the resource is for objects that belong to no workload, in whatever cluster.
func (n ManifestName) Uncategorized() bool {
	head, _, _ := strings.Cut(string(n), ":")
	return head == string(UncategorizedName)
}

// String returns the name as shown to the user.
func (n ManifestName) String() string { return string(n) }

// TargetType is the kind of a target.
type TargetType string

// The kinds of targets that a manifest is made of.
const (
	TargetImage TargetType = "image"
	TargetK8s   TargetType = "k8s"
	TargetLocal TargetType = "local"
	// TargetConfigs represents the files that the Tiltfile itself read.
	TargetConfigs TargetType = "configs"
	// TargetFileWatch represents the files of a FileWatch, which is not part of a manifest.
	TargetFileWatch TargetType = "filewatch"
)

// TargetID identifies one part of a resource that is built, deployed or watched. Image targets are shared by the resources
// that use the image, so their id contains the image's reference, not the resource's name.
type TargetID struct {
	Type TargetType
	Name string
}

// ImageID returns the target id of the image with the reference ref in the Tiltfile.
func ImageID(ref string) TargetID { return TargetID{TargetImage, ref} }

// String returns "type:name".
func (id TargetID) String() string { return string(id.Type) + ":" + id.Name }

// TriggerMode determines whether a file change starts an update automatically.
type TriggerMode int

const (
	// TriggerAuto updates as soon as a file changes.
	TriggerAuto TriggerMode = iota
	// TriggerManual collects changes until the user triggers the update.
	TriggerManual
)

// String returns "auto" or "manual".
func (m TriggerMode) String() string {
	if m == TriggerManual {
		return "manual"
	}
	return "auto"
}

// UpdateMode restricts the ways in which a resource is updated.
type UpdateMode string

// The update modes, as accepted by --update-mode.
const (
	UpdateAuto      UpdateMode = "auto"      // whatever is fastest and possible
	UpdateImage     UpdateMode = "image"     // always a new image
	UpdateNaive     UpdateMode = "naive"     // a new image, built without any cache
	UpdateSynclet   UpdateMode = "synclet"   // in place through hone's program in the container, else a new image
	UpdateContainer UpdateMode = "container" // in place through the container engine, else a new image
	UpdateExec      UpdateMode = "exec"      // in place through Kubernetes exec with tar, else a new image
)

// UpdateModes lists every mode in the order in which the help shows them.
var UpdateModes = []UpdateMode{UpdateAuto, UpdateImage, UpdateNaive, UpdateSynclet, UpdateContainer, UpdateExec}

// InPlace reports whether containers may be updated without a new image.
func (m UpdateMode) InPlace() bool { return m != UpdateImage && m != UpdateNaive }

// ParseUpdateMode returns the mode named s; the empty string means auto.
func ParseUpdateMode(s string) (UpdateMode, error) {
	if s == "" {
		return UpdateAuto, nil
	}
	if m := UpdateMode(s); slices.Contains(UpdateModes, m) {
		return m, nil
	}
	names := make([]string, len(UpdateModes))
	for i, m := range UpdateModes {
		names[i] = string(m)
	}
	return "", fmt.Errorf("unknown update mode %q: choose one of %s", s, strings.Join(names, ", "))
}

// Manifest is one resource as the Tiltfile declares it. At most one of K8s, Local and Compose is set.
type Manifest struct {
	Name         ManifestName
	Labels       []string
	ResourceDeps []ManifestName
	TriggerMode  TriggerMode
	// AutoInit is false for a resource that waits for the user before its first update.
	AutoInit bool
	Links    []Link
	// Images are the images that the resource needs, base images before the images that are built on them.
	Images  []ImageTarget
	K8s     *K8sTarget
	Local   *LocalTarget
	Compose *ComposeTarget
}

// DeployID returns the target id of the manifest's deployed part: its objects, its command or its service.
func (m Manifest) DeployID() TargetID {
	switch {
	case m.Local != nil:
		return TargetID{TargetLocal, string(m.Name)}
	case m.Compose != nil:
		return TargetID{TargetCompose, string(m.Name)}
	}
	return TargetID{TargetK8s, string(m.Name)}
}

// IsK8s reports whether the resource is deployed to Kubernetes.
func (m Manifest) IsK8s() bool { return m.K8s != nil }

// Cluster returns the context of the declared cluster that the resource is deployed to; empty for the session's own, and for a resource
// that is deployed to none.
func (m Manifest) Cluster() string {
	if m.K8s == nil {
		return ""
	}
	return m.K8s.Cluster
}

// CustomDeploy returns the commands that deploy the resource; nil if hone applies its objects, or if it has none.
func (m Manifest) CustomDeploy() *CustomDeploy {
	if m.K8s == nil {
		return nil
	}
	return m.K8s.CustomDeploy
}

// NeedsEngine reports whether updates of the resource, except updates in place, need the container engine: it builds an image, or runs
// the service.
func (m Manifest) NeedsEngine() bool {
	return m.IsCompose() || slices.ContainsFunc(m.Images, func(im ImageTarget) bool { return im.Docker != nil })
}

// IsTest reports whether the resource is a test.
func (m Manifest) IsTest() bool { return m.Local != nil && m.Local.Test != nil }

// IsLocal reports whether the resource runs on this machine.
func (m Manifest) IsLocal() bool { return m.Local != nil }

// Image returns the image target with the given reference.
func (m Manifest) Image(ref string) (ImageTarget, bool) {
	for _, im := range m.Images {
		if im.Ref == ref {
			return im, true
		}
	}
	return ImageTarget{}, false
}

// HasLiveUpdate reports whether any image of the manifest, or its custom deploy, declares live update steps.
func (m Manifest) HasLiveUpdate() bool {
	if _, _, ok := m.LiveUpdateOf(""); ok {
		return true
	}
	return slices.ContainsFunc(m.Images, func(im ImageTarget) bool { return !im.LiveUpdate.Empty() })
}

// Link is an address that the user can open in a browser.
type Link struct {
	URL  string
	Name string
}

// Cmd is a command to run: an argument vector without a shell, a working folder and additional environment variables ("K=V").
type Cmd struct {
	Argv []string
	Dir  string
	Env  []string
	// EchoOff keeps the command line, but not its output, out of the log.
	EchoOff bool
	// Secrets are those of the project that a command has which may run after the Tiltfile has changed.
	Secrets []Secret `json:"-"`
}

// Hides returns the command with those of the secrets that it has.
func (c Cmd) Hides(secrets []Secret) Cmd {
	c.Secrets = nil
	text := strings.Join(slices.Concat(c.Argv, c.Env), "\n")
	for _, s := range secrets {
		if strings.Contains(text, s.Value) {
			c.Secrets = append(c.Secrets, s)
		}
	}
	return c
}

// Empty reports whether there is nothing to run.
func (c Cmd) Empty() bool { return len(c.Argv) == 0 }

// String returns the command as a user would type it: the script of a "sh -c", else the joined words.
func (c Cmd) String() string {
	if len(c.Argv) == 3 && c.Argv[0] == "sh" && c.Argv[1] == "-c" {
		return c.Argv[2]
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$&|;<>()*?[]{}~`#") {
			w = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// Quoted returns the command for a message: in one line, between quotes, with nothing escaped.
func (c Cmd) Quoted() string { return `"` + strings.Join(strings.Fields(c.String()), " ") + `"` }

// Equal reports whether both commands are the same.
func (c Cmd) Equal(o Cmd) bool {
	here := c.Dir == o.Dir && slices.Equal(c.Env, o.Env)
	return here && slices.Equal(c.Argv, o.Argv) && c.EchoOff == o.EchoOff
}

// Ignore is a set of patterns in .dockerignore syntax, relative to Base. Source names the origin of the patterns, for messages.
type Ignore struct {
	Base     string
	Patterns []string
	Source   string
}

// WatchSpec is the set of files that a target depends on: Paths (files, or folders with everything below them) without the
// files that Ignores exclude. All paths are absolute.
type WatchSpec struct {
	Paths   []string
	Ignores []Ignore
}

// IsChild reports whether path is dir or lies below it. Both must be clean absolute paths.
func IsChild(dir, path string) bool {
	if dir == path || dir == string(filepath.Separator) {
		return true
	}
	return strings.HasPrefix(path, dir) && path[len(dir)] == filepath.Separator
}
