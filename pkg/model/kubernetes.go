package model

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// K8sTarget is the part of a resource that is applied to a cluster.
type K8sTarget struct {
	// Cluster is the context of the declared cluster that it is deployed to; empty for the session's own cluster.
	Cluster string
	Objects []K8sObject
	// CustomDeploy, if not nil, deploys instead of Objects, which is then empty.
	CustomDeploy *CustomDeploy
	// PortForwards are opened for as long as the resource exists.
	PortForwards []PortForward
	PodReadiness PodReadiness
	// ExtraPodSelectors claim pods by label. The labels of one selector must all match; the resource owns the union of all
	// selectors.
	ExtraPodSelectors []map[string]string
	// SelectorsOnly finds pods only by ExtraPodSelectors, not by their owners.
	SelectorsOnly bool
	// ImageLocators are the places of image references in objects of custom kinds.
	ImageLocators []ImageLocator
	// Links are the addresses of the deployed resource.
	Links []Link
	// Registry is the registry that the Tiltfile names for the resource's images; empty for none, and without images.
	Registry Registry
}

// K8sObject is one object as the Tiltfile declares it, before hone injects anything.
type K8sObject struct {
	APIVersion string
	Kind       string
	// Namespace is empty where the YAML does not set it; the session's namespace applies then.
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

// PodReadiness is the condition under which the resource's runtime is ready.
type PodReadiness string

const (
	// PodWait waits until a pod is ready.
	PodWait PodReadiness = "wait"
	// PodIgnore is satisfied once the objects are applied.
	PodIgnore PodReadiness = "ignore"
	// PodSucceeded waits until a pod has run to completion (jobs).
	PodSucceeded PodReadiness = "succeeded"
)

// PortForward forwards a local port to a port of the resource's current pod. ContainerPort 0 means the local port if the pod
// declares it, else the first port that the pod declares, else the local port. LocalPort is 1 to 65535.
type PortForward struct {
	LocalPort     int
	ContainerPort int
	// Host is the local address to listen on; empty means the session's default.
	Host     string
	Name     string
	LinkPath string
}

// SameAddress reports whether two forwards listen on the same host, as they name it, and port.
func (f PortForward) SameAddress(o PortForward) bool {
	return f.Host == o.Host && f.LocalPort == o.LocalPort
}

// Address returns the address that the forward listens on as it is declared: "8080", "host:8080" or "[IPv6 address]:8080".
func (f PortForward) Address() string {
	port := strconv.Itoa(f.LocalPort)
	if f.Host == "" {
		return port
	}
	return net.JoinHostPort(f.Host, port)
}

// AppliedObject is an object as the API server returned it after an apply.
type AppliedObject struct {
	ObjectID
	// Cluster is the context of its cluster, as in K8sTarget.
	Cluster    string
	APIVersion string
	UID        string
	// TemplateHash is the value of the pod template's hash label, empty for objects without a template.
	TemplateHash string
	// Generation counts the changes of the object's desired state, up to this one; zero for kinds that do not count them.
	Generation int64
	// Foreign is true for objects that a user's command applied: neither they nor their pods have hone's labels.
	Foreign bool
	// StartedAt is the time at which a container of Compose was last started, by the engine's clock; zero for objects.
	StartedAt time.Time
}

// Pod is the part of a pod that hone uses, or a container that Compose runs, modelled as a pod of one container. For a
// container of Compose, Namespace is empty, Engine is the state that the engine reports, UID is the engine's id of the
// container, and Name is the engine's name for it.
type Pod struct {
	// Cluster is the context of its cluster, as in K8sTarget.
	Cluster   string
	Namespace string
	Name      string
	UID       string
	// Resource is the manifest that owns the pod.
	Resource ManifestName
	// Phase is the Kubernetes phase: Pending, Running, Succeeded, Failed or Unknown.
	Phase string
	// Status is the status to display: the phase, or the reason why a container waits or has terminated.
	Status string
	// Message is Kubernetes' explanation of Status, if there is one.
	Message   string
	Deleting  bool
	CreatedAt time.Time
	// TemplateHash is the value of hone's pod template label.
	TemplateHash string
	// Owner is the UID of the object that controls the pod, such as a ReplicaSet; empty for a pod without one.
	Owner string
	// Controller is the name of the direct owner, such as a ReplicaSet. ControllerCreatedAt distinguishes its generations.
	Controller          string
	ControllerCreatedAt time.Time
	NodeName            string
	IP                  string
	InitContainers      []Container
	Containers          []Container
	// DefaultContainer is the container that the pod's annotation names for commands such as kubectl exec; empty where none is
	// named.
	DefaultContainer string
	Ready            bool
	// UnreadySince is when the pod, whose containers run, was last ready; zero if it is ready, or has not been since they started.
	UnreadySince time.Time
	// Engine, Health and Published are set only for a container of Compose. Engine is the state that the engine reports
	// (created, running, paused, restarting, removing, exited, dead), Health is the result of the health check (empty where
	// there is none), and Published are the ports that are published on this machine.
	Engine    string
	Health    string
	Published []ComposePort
}

// Restarts returns the total number of restarts of all containers, except init containers that run to completion.
func (p Pod) Restarts() int {
	n := 0
	for _, c := range p.LastingContainers() {
		n += c.Restarts
	}
	return n
}

// Restarting reports whether the engine keeps restarting a container of Compose that exits each time.
func (p Pod) Restarting() bool {
	return p.OfCompose() && len(p.Containers) == 1 && p.Containers[0].Reason == ContainerRestarting
}

// Ended reports whether the pod runs no more, and is not restarted.
func (p Pod) Ended() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// OfCompose reports whether p is a container that Compose runs rather than a pod of Kubernetes.
func (p Pod) OfCompose() bool { return p.Engine != "" }

// Key returns "namespace/name", or the name alone for a container of Compose.
func (p Pod) Key() string {
	if p.OfCompose() {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// LastingContainers returns the containers that run for as long as the pod does: the ordinary containers, then the sidecars
// among the init containers.
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

// The states of a container; empty means that the kubelet has not reported one yet.
const (
	ContainerWaiting    ContainerState = "waiting"
	ContainerRunning    ContainerState = "running"
	ContainerTerminated ContainerState = "terminated"
)

// ContainerRestarting is the waiting reason of a container of Compose that the engine is about to restart.
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
	// ImageID is the content id of the image in the container engine, for containers of Compose; otherwise empty.
	ImageID string
	// Init marks an init container; Sidecar marks an init container that keeps running alongside the others (restartPolicy:
	// Always).
	Init, Sidecar bool
	Ready         bool
	State         ContainerState
	// Reason is Kubernetes' reason for waiting or terminating (CrashLoopBackOff, ErrImagePull, OOMKilled, Completed …).
	Reason     string
	Message    string
	ExitCode   int
	StartedAt  time.Time
	FinishedAt time.Time
	Restarts   int
	// LastID, LastReason and LastExitCode describe the run before the current one.
	LastID       string
	LastReason   string
	LastExitCode int
	// LastMessage, LastStartedAt and LastFinishedAt are the message, the start and the end that Kubernetes reports for that run; empty
	// and zero if unknown.
	LastMessage                   string
	LastStartedAt, LastFinishedAt time.Time
	// MemoryLimit is resources.limits.memory as the object has it: "64Mi"; empty for none.
	MemoryLimit string
	Ports       []int
	// Probes are the kubelet's probes of the container, in the order startup, readiness, liveness. Started is true once the
	// startup probe has succeeded, or if there is none and the container is running.
	Probes  []ContainerProbe
	Started bool
	// SyncletPath is the path in the container of the synclet that was added to the pod at deploy time; empty if there is
	// none.
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

// ContainerProbe is a probe with which the kubelet checks a container.
type ContainerProbe struct {
	Kind ProbeKind
	// Calls describes the probe's action: "httpGet :8080/health", "tcpSocket :5432", "exec cat /ready", "grpc :9000".
	Calls string
}

// String names the probe.
func (p ContainerProbe) String() string {
	return strings.TrimSpace(string(p.Kind) + " probe " + p.Calls)
}

// ProbeKind is the purpose of a probe.
type ProbeKind string

// The kinds of probes.
const (
	ProbeStartup   ProbeKind = "startup"
	ProbeReadiness ProbeKind = "readiness"
	ProbeLiveness  ProbeKind = "liveness"
)

// The names of the volume, the init container and the files that hone adds to pods so that their containers can be updated in place.
const (
	// SyncletName is the name of the volume with the synclet, and of the init container that fills it.
	SyncletName = "hone-synclet"
	// SyncletFile is the program's name in the volume.
	SyncletFile = "synclet"
	// SyncletPath is the path of the synclet in containers that have it, through a volume or as part of their image.
	SyncletPath = "/.hone/" + SyncletFile
)

// PodErrorReasons are the waiting and termination reasons that mean that a pod will not become ready on its own.
var PodErrorReasons = map[string]bool{
	"CrashLoopBackOff": true, "ErrImagePull": true, "ImagePullBackOff": true, "RunContainerError": true,
	"StartError": true, "Error": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CreateContainerConfigError": true, "CreateContainerError": true, "OOMKilled": true, "ContainerCannotRun": true,
}

// RefusedPods returns why the pods of a workload cannot be created, by a quota or by an admission controller for example,
// from the message of its condition ReplicaFailure or of an event FailedCreate about it. It leaves out the names of pods, which
// are others with each attempt. It is empty for a refusal that ends by itself: Kubernetes makes the default service account
// of a new namespace a moment after the namespace.
func RefusedPods(message string) string {
	if strings.Contains(message, `serviceaccount "default" not found`) {
		return ""
	}
	why := strings.TrimPrefix(strings.TrimPrefix(message, "(combined from similar events): "), "Error creating: ")
	if _, of, ok := strings.Cut(why, " failed error: "); ok && strings.HasPrefix(why, "create ") { // a StatefulSet's
		why = of
	}
	if _, cause, ok := strings.Cut(why, " is forbidden: "); ok && strings.HasPrefix(why, "pods ") {
		why = cause
	}
	return "its pods cannot be created: " + why
}

// Service is a Kubernetes Service that a resource applied.
type Service struct {
	Namespace string
	Name      string
	UID       string
	Resource  ManifestName
	// URL is the address of the Service for this machine; empty if it cannot be reached.
	URL string
}

// ObjectStatus is the status of an applied object, in the terms of kstatus.
type ObjectStatus struct {
	ObjectID
	UID      string
	Resource ManifestName
	// Generation is the generation of the object that the status describes, as in AppliedObject; zero if it is unknown.
	Generation int64
	// Health is Current, InProgress, Failed, Terminating, Gone, Deleted or Unknown. A completed Job is Current and a failed Job is
	// Failed, also after it was removed. Gone is a Job or a pod that was removed before hone knew its result, Deleted one that was
	// deleted while it ran.
	Health  string
	Message string
	// Ended is set for an object that has run to its end, successfully or not, such as a Job. Removing it changes nothing.
	Ended bool
	// Pods is the number of pods that the spec of a Deployment, a ReplicaSet or a StatefulSet wants; zero for other kinds.
	Pods int
	// PodsMissingSince is set for a StatefulSet, a DaemonSet or a Job whose status shows fewer pods than Kubernetes should have made
	// by now. It is the time at which the spec that wants the pods was written, by the cluster's clock, in whole seconds. Unlike other
	// workloads, these have no condition for pods that are refused.
	PodsMissingSince time.Time
}

// The values of ObjectStatus.Health.
const (
	HealthCurrent     = "Current"
	HealthInProgress  = "InProgress"
	HealthFailed      = "Failed"
	HealthTerminating = "Terminating"
	HealthGone        = "Gone"
	HealthDeleted     = "Deleted"
	HealthUnknown     = "Unknown"
)
