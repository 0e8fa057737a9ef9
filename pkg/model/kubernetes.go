package model

import (
	"slices"
	"strings"
	"time"
)

// K8sTarget is the part of a resource that is applied to a cluster.
type K8sTarget struct {
	Objects []K8sObject
	// CustomDeploy, when not nil, deploys in the place of Objects, of which there are none then.
	CustomDeploy *CustomDeploy
	// PortForwards are opened for as long as the resource exists.
	PortForwards []PortForward
	PodReadiness PodReadiness
	// ExtraPodSelectors claim pods by label, each a conjunction; the resource owns the union.
	ExtraPodSelectors []map[string]string
	// SelectorsOnly finds pods by ExtraPodSelectors alone, not by who owns them.
	SelectorsOnly bool
	// ImageLocators say where objects of the user's own kinds name images.
	ImageLocators []ImageLocator
	// Links is where to look at what is deployed.
	Links []Link
}

// K8sObject is one object as the Tiltfile declares it, before hone injects anything.
type K8sObject struct {
	APIVersion string
	Kind       string
	// Namespace is empty where the YAML leaves it to the session.
	Namespace string
	Name      string
	// JSON is the whole object in canonical form.
	JSON string
}

// Group returns the API group of the object, empty for the core group.
func (o K8sObject) Group() string {
	if g, _, ok := strings.Cut(o.APIVersion, "/"); ok {
		return g
	}
	return ""
}

// ID returns the object's identity. The version is not part of it.
func (o K8sObject) ID() ObjectID { return ObjectID{o.Group(), o.Kind, o.Namespace, o.Name} }

// ObjectID is what makes an object the same over time: group, kind, namespace and name.
type ObjectID struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// String returns "kind/namespace/name", or "kind/name" where there is no namespace, in lower-case kind.
func (id ObjectID) String() string {
	s := strings.ToLower(id.Kind) + "/"
	if id.Namespace != "" {
		s += id.Namespace + "/"
	}
	return s + id.Name
}

// PodReadiness says what makes the resource's runtime ready.
type PodReadiness string

const (
	// PodWait waits until a pod is ready.
	PodWait PodReadiness = "wait"
	// PodIgnore is content once the objects are applied.
	PodIgnore PodReadiness = "ignore"
	// PodSucceeded waits until a pod has run to its end (jobs).
	PodSucceeded PodReadiness = "succeeded"
)

// PortForward opens a local port to a port of the resource's current pod. ContainerPort 0 means: the local port if the
// pod declares it, else the first that it declares, else the local port. LocalPort is 1 to 65535.
type PortForward struct {
	LocalPort     int
	ContainerPort int
	// Host is the local address to listen on; empty means the session's default.
	Host     string
	Name     string
	LinkPath string
}

// AppliedObject is an object as the API server returned it after an apply.
type AppliedObject struct {
	ObjectID
	APIVersion string
	UID        string
	// TemplateHash is the value of the pod template's hash label, empty for objects without a template.
	TemplateHash string
	// Foreign objects were applied by a command of the user: neither they nor their pods carry hone's labels.
	Foreign bool
	// StartedAt is when a container of Compose was started last, by the engine's clock; zero for objects.
	StartedAt time.Time
}

// Pod is a pod as far as hone is concerned with it, or a container that Compose runs, which is like a pod of one container:
// that one has no namespace but the engine's word in Engine, its UID is the engine's id of the container, and Name is what the engine calls it.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	// Resource is the manifest that owns the pod.
	Resource ManifestName
	// Phase is Kubernetes' word: Pending, Running, Succeeded, Failed, Unknown.
	Phase string
	// Status is the word that a person should see: the phase, or the reason a container waits or ended for.
	Status string
	// Message explains Status where Kubernetes does.
	Message   string
	Deleting  bool
	CreatedAt time.Time
	// TemplateHash is the value of hone's pod template label.
	TemplateHash string
	// Owner is the UID of the object that controls the pod, such as a ReplicaSet; empty for a pod without one.
	Owner string
	// ReplicaSet is the name of the direct owner, and ReplicaSetCreatedAt tells generations of it apart.
	Controller          string
	ControllerCreatedAt time.Time
	NodeName            string
	IP                  string
	InitContainers      []Container
	Containers          []Container
	Ready               bool
	// Of a container of Compose, Engine is the engine's word for how it does (created, running, paused, restarting, removing,
	// exited, dead), Health what its health check says (empty where there is none), and Published are the ports that are
	// reached on this machine. All are empty for pods.
	Engine    string
	Health    string
	Published []ComposePort
}

// Restarts is the number of restarts of all containers together, init containers aside that have an end.
func (p Pod) Restarts() int {
	n := 0
	for _, c := range p.LastingContainers() {
		n += c.Restarts
	}
	return n
}

// Restarting reports whether the engine keeps restarting a container of Compose, since it ends each time.
func (p Pod) Restarting() bool {
	return p.OfCompose() && len(p.Containers) == 1 && p.Containers[0].Reason == ContainerRestarting
}

// OfCompose reports whether it is a container that Compose runs, not a pod of Kubernetes.
func (p Pod) OfCompose() bool { return p.Engine != "" }

// Key returns "namespace/name", for a container of Compose its name.
func (p Pod) Key() string {
	if p.OfCompose() {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// LastingContainers returns the containers that run for as long as the pod does: the ordinary ones, then the sidecars among
// the init containers.
func (p Pod) LastingContainers() []Container {
	out := slices.Clip(p.Containers)
	for _, c := range p.InitContainers {
		if c.Sidecar {
			out = append(out, c)
		}
	}
	return out
}

// AllContainers returns the init containers, then the others.
func (p Pod) AllContainers() []Container {
	return append(append(make([]Container, 0, len(p.InitContainers)+len(p.Containers)), p.InitContainers...), p.Containers...)
}

// ContainerState is one of waiting, running, terminated.
type ContainerState string

// The states of a container; empty means that the kubelet has said nothing yet.
const (
	ContainerWaiting    ContainerState = "waiting"
	ContainerRunning    ContainerState = "running"
	ContainerTerminated ContainerState = "terminated"
)

// ContainerRestarting is the reason for which a container of Compose waits that the engine is about to restart.
const ContainerRestarting = "restarting"

// Container is a container of a pod.
type Container struct {
	Name string
	// ID is the runtime's id without its scheme; empty before the first start.
	ID string
	// Runtime is the scheme of the id: "containerd", "docker", "cri-o".
	Runtime string
	// Image is the reference in the pod's specification.
	Image string
	// Init says that it is one of the init containers, Sidecar that it is one that keeps running beside the others
	// (restartPolicy: Always).
	Init, Sidecar bool
	Ready         bool
	State         ContainerState
	// Reason is Kubernetes' reason for waiting or ending (CrashLoopBackOff, ErrImagePull, OOMKilled, Completed …).
	Reason     string
	Message    string
	ExitCode   int
	StartedAt  time.Time
	FinishedAt time.Time
	Restarts   int
	// LastID and LastReason describe the run before the current one.
	LastID       string
	LastReason   string
	LastExitCode int
	Ports        []int
	// Probes are what the kubelet asks of the container, in the order startup, readiness, liveness. Started says that the startup
	// probe has succeeded, or that there is none and the container runs.
	Probes  []ContainerProbe
	Started bool
	// SyncletPath is where the container has the synclet that its pod was given when it was deployed; empty without one.
	SyncletPath string
}

// Probe returns the container's probe of a kind.
func (c Container) Probe(kind ProbeKind) (ContainerProbe, bool) {
	i := slices.IndexFunc(c.Probes, func(p ContainerProbe) bool { return p.Kind == kind })
	if i < 0 {
		return ContainerProbe{}, false
	}
	return c.Probes[i], true
}

// ContainerProbe is a probe by which the kubelet finds out how a container does.
type ContainerProbe struct {
	Kind ProbeKind
	// Calls is what it does, as people write it: "httpGet :8080/health", "tcpSocket :5432", "exec cat /ready", "grpc :9000".
	Calls string
}

// String names the probe.
func (p ContainerProbe) String() string {
	return strings.TrimSpace(string(p.Kind) + " probe " + p.Calls)
}

// ProbeKind is what a probe is for.
type ProbeKind string

// The kinds of probes.
const (
	ProbeStartup   ProbeKind = "startup"
	ProbeReadiness ProbeKind = "readiness"
	ProbeLiveness  ProbeKind = "liveness"
)

// What is put into pods so that their containers can be updated in place.
const (
	// SyncletName is the name of the volume with the synclet, and of the init container that fills it.
	SyncletName = "hone-synclet"
	// SyncletFile is the program's name in the volume.
	SyncletFile = "synclet"
	// SyncletPath is where containers have it that it was put into: by a volume, or with their image.
	SyncletPath = "/.hone/" + SyncletFile
)

// PodErrorReasons are the waiting and ending reasons that mean that the pod will not get ready by itself.
var PodErrorReasons = map[string]bool{
	"CrashLoopBackOff": true, "ErrImagePull": true, "ImagePullBackOff": true, "RunContainerError": true,
	"StartError": true, "Error": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "OOMKilled": true, "ContainerCannotRun": true,
}

// Service is a Service that a resource applied.
type Service struct {
	Namespace string
	Name      string
	UID       string
	Resource  ManifestName
	// URL is where the Service can be reached from this machine; empty when it cannot.
	URL string
}

// ObjectStatus is how an applied object does, in kstatus' terms.
type ObjectStatus struct {
	ObjectID
	UID      string
	Resource ManifestName
	// Health is Current, InProgress, Failed, Terminating, Gone or Unknown. A Job that is complete is Current and one that has
	// failed is Failed, also after it was removed; Gone is one that was removed before hone knew how it ended.
	Health  string
	Message string
}

// The values of ObjectStatus.Health.
const (
	HealthCurrent     = "Current"
	HealthInProgress  = "InProgress"
	HealthFailed      = "Failed"
	HealthTerminating = "Terminating"
	HealthGone        = "Gone"
	HealthUnknown     = "Unknown"
)
