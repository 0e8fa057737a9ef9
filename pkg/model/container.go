package model

import "time"

// ContainerRef identifies a run of a container that can be updated in place, with everything needed to reach it.
type ContainerRef struct {
	Resource ManifestName
	// Cluster, as in K8sTarget, Namespace, Pod and Name find it. A container of Compose has no namespace, and the engine's name as Pod.
	Cluster, Namespace, Pod, Name string
	// ID is the runtime's id of the container, without a scheme, and Runtime the name of the runtime.
	ID, Runtime string
	// Image is the reference in the pod's specification. A way into one container of an image works for all of them.
	Image string
	// Ref is the reference by which the Tiltfile calls that image; empty where hone does not build it.
	Ref string
	// Arch is the architecture that it runs on; empty where that is unknown.
	Arch string
	// Synclet is the path of the synclet that came with its pod or its image; empty without one.
	Synclet string
	// Template is the TemplateHash of its pod.
	Template string
	// StartedAt is the time at which the run began, to the second; zero where that is unknown.
	StartedAt time.Time
	// Stopped is set for a container of Compose that has crashed. It can be changed while it stands, and is then started.
	Stopped bool
	// Syncs say which of its files may be written.
	Syncs []Sync
}

// ContainerRef returns the reference of a container in a pod of the manifest. Ref selects the live update, as in
// LiveUpdateOf. The architecture, which pods do not contain, is left empty.
func (m Manifest) ContainerRef(p Pod, c Container, ref string) ContainerRef {
	steps, _, _ := m.LiveUpdateOf(ref)
	r := ContainerRef{Resource: m.Name, Cluster: p.Cluster, Namespace: p.Namespace, Pod: p.Name, Name: c.Name, ID: c.ID, Runtime: c.Runtime, Image: c.Image, Template: p.TemplateHash,
		Ref: ref, Synclet: c.SyncletPath, StartedAt: c.StartedAt, Syncs: steps.Syncs}
	if im, built := m.Image(ref); built && im.Supervised {
		r.Synclet = SyncletPath // which came with the image
	}
	return r
}

// UpdateBy returns an empty record of an update of the container in the given mode.
func (c ContainerRef) UpdateBy(mode string) ContainerUpdate {
	return ContainerUpdate{Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, ID: c.ID, Mode: mode}
}

// LackingContainer is a container that lacks changes.
type LackingContainer struct {
	ContainerRef
	// Files are the changes that it lacks: absolute local paths, sorted.
	Files []string
	// New says that nothing has been copied into this run of the container yet.
	New bool
}
