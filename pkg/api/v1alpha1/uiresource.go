package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// UIResource is a resource as a user sees it: one row. (Tiltfile) stands for the evaluation of the Tiltfile.
type UIResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is empty.
	Spec UIResourceSpec `json:"spec"`
	// Status is how a resource does.
	Status UIResourceStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (r *UIResource) DeepCopyObject() runtime.Object { return deepCopy(r) }

// UIResourceSpec is empty.
type UIResourceSpec struct{}

// UIResourceStatus is how a resource does.
type UIResourceStatus struct {
	// LastDeployTime is when it was last deployed successfully.
	LastDeployTime metav1.MicroTime `json:"lastDeployTime,omitzero"`
	// TriggerMode says what starts an update: 0 every change; 1 the user, but for the first; 2 the user; 3 the user the first
	// time, then every change. Setting it to 0 or 3 makes the resource automatic, to 1 or 2 manual.
	TriggerMode int32 `json:"triggerMode"`
	// BuildHistory are the last updates, newest first, no more than two.
	BuildHistory []UIBuildTerminated `json:"buildHistory,omitempty"`
	// CurrentBuild is the update that runs.
	CurrentBuild *UIBuildRunning `json:"currentBuild,omitempty"`
	// PendingBuildSince is when the oldest change happened that asks for an update.
	PendingBuildSince metav1.MicroTime `json:"pendingBuildSince,omitzero"`
	// HasPendingChanges says that changes ask for an update, also where the user has to start it.
	HasPendingChanges bool `json:"hasPendingChanges"`
	// EndpointLinks are where to look at the resource.
	EndpointLinks []UIResourceLink `json:"endpointLinks,omitempty"`
	// K8sResourceInfo is set for resources on Kubernetes.
	K8sResourceInfo *UIResourceKubernetes `json:"k8sResourceInfo,omitempty"`
	// LocalResourceInfo is set for resources on this machine.
	LocalResourceInfo *UIResourceLocal `json:"localResourceInfo,omitempty"`
	// ComposeResourceInfo is set for services of Docker Compose.
	ComposeResourceInfo *UIResourceCompose `json:"composeResourceInfo,omitempty"`
	// RuntimeStatus is unknown, ok, pending, error, not_applicable or none.
	RuntimeStatus string `json:"runtimeStatus"`
	// UpdateStatus is none, pending, in_progress, ok, error or not_applicable.
	UpdateStatus string `json:"updateStatus"`
	// Specs are the parts of the resource that are built or deployed.
	Specs []UIResourceTargetSpec `json:"specs,omitempty"`
	// Queued says that the user has asked for an update that has not begun.
	Queued bool `json:"queued"`
	// Order is the place in the Tiltfile; (Tiltfile) has 0.
	Order int32 `json:"order"`
	// DisableStatus says whether the resource is switched off, and by what.
	DisableStatus DisableResourceStatus `json:"disableStatus"`
	// Waiting is why an update that is due does not begin.
	Waiting *UIResourceStateWaiting `json:"waiting,omitempty"`
	// Conditions are UpToDate and Ready.
	Conditions []UIResourceCondition `json:"conditions,omitempty"`
}

// The words of UIResourceStatus.UpdateStatus.
const (
	UpdateStatusNone          = "none"
	UpdateStatusPending       = "pending"
	UpdateStatusInProgress    = "in_progress"
	UpdateStatusOK            = "ok"
	UpdateStatusError         = "error"
	UpdateStatusNotApplicable = "not_applicable"
)

// UIBuildTerminated is an update that has ended.
type UIBuildTerminated struct {
	// Error is why it failed; empty when it did not.
	Error string `json:"error,omitempty"`
	// Warnings say what it warned of.
	Warnings []string `json:"warnings,omitempty"`
	// StartTime is when it began.
	StartTime metav1.MicroTime `json:"startTime"`
	// FinishTime is when it ended.
	FinishTime metav1.MicroTime `json:"finishTime"`
	// SpanID names its part of the log.
	SpanID string `json:"spanID,omitempty"`
}

// UIBuildRunning is an update that runs.
type UIBuildRunning struct {
	// StartTime is when it began.
	StartTime metav1.MicroTime `json:"startTime"`
	// SpanID names its part of the log.
	SpanID string `json:"spanID,omitempty"`
}

// UIResourceLink is something to open in a browser.
type UIResourceLink struct {
	// URL is the address.
	URL string `json:"url"`
	// Name is what the link is called; it may be empty.
	Name string `json:"name,omitempty"`
}

// UIResourceKubernetes is about the newest pod of a resource.
type UIResourceKubernetes struct {
	// PodName is the name of the pod; empty while there is none.
	PodName string `json:"podName,omitempty"`
	// PodCreationTime is when it was created.
	PodCreationTime metav1.Time `json:"podCreationTime,omitzero"`
	// PodUpdateStartTime is when the deploy began that the pod belongs to.
	PodUpdateStartTime metav1.Time `json:"podUpdateStartTime,omitzero"`
	// PodStatus is the phase, or the reason for which a container waits or has ended.
	PodStatus string `json:"podStatus,omitempty"`
	// PodStatusMessage explains that.
	PodStatusMessage string `json:"podStatusMessage,omitempty"`
	// AllContainersReady says that the pod is ready.
	AllContainersReady bool `json:"allContainersReady"`
	// PodRestarts is how often its containers were started again, all together.
	PodRestarts int32 `json:"podRestarts"`
	// DisplayNames are the objects of the resource, "name:kind".
	DisplayNames []string `json:"displayNames,omitempty"`
	// SpanID names the log of the pod's first container.
	SpanID string `json:"spanID,omitempty"`
}

// UIResourceLocal is about the server of a resource.
type UIResourceLocal struct {
	// PID is the process id; 0 while there is none.
	PID int64 `json:"pid"`
}

// UIResourceCompose is about the container of a service.
type UIResourceCompose struct {
	// HealthStatus is left out by hone.
	HealthStatus string `json:"healthStatus,omitempty"`
}

// UIResourceTargetSpec is a part of a resource.
type UIResourceTargetSpec struct {
	// ID is like "image:web".
	ID string `json:"id"`
	// Type is image, k8s, local or docker-compose.
	Type string `json:"type"`
	// HasLiveUpdate says that running containers of the image can be updated.
	HasLiveUpdate bool `json:"hasLiveUpdate"`
}

// DisableResourceStatus says whether a resource is switched off. A resource has one switch, so that the counts are 0 or 1.
type DisableResourceStatus struct {
	// EnabledCount is 1 while the resource is switched on.
	EnabledCount int32 `json:"enabledCount"`
	// DisabledCount is 1 while it is switched off.
	DisabledCount int32 `json:"disabledCount"`
	// Sources are the switches.
	Sources []DisableSource `json:"sources,omitempty"`
	// State is Enabled, Disabled, or Pending while the resource is being torn down.
	State string `json:"state"`
}

// UIResourceStateWaiting is why an update that is due does not begin.
type UIResourceStateWaiting struct {
	// Reason is a word, such as waiting-for-dep.
	Reason string `json:"reason"`
	// On are what it waits for.
	On []UIResourceStateWaitingOnRef `json:"on,omitempty"`
}

// UIResourceStateWaitingOnRef names an object that is waited for.
type UIResourceStateWaitingOnRef struct {
	// Group is that of the object's kind: tilt.dev.
	Group string `json:"group,omitempty"`
	// APIVersion is the version of that group.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is UIResource, or Cluster.
	Kind string `json:"kind,omitempty"`
	// Name is that of the object.
	Name string `json:"name,omitempty"`
}

// The values of UIResourceCondition.Type.
const (
	// UIResourceUpToDate is true when no update is due, runs, or has failed.
	UIResourceUpToDate = "UpToDate"
	// UIResourceReady is true when what was deployed works, or there is nothing that could.
	UIResourceReady = "Ready"
)

// UIResourceCondition is one thing that can be waited for.
type UIResourceCondition struct {
	// Type is UpToDate or Ready.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastTransitionTime is when the status can have changed last.
	LastTransitionTime metav1.MicroTime `json:"lastTransitionTime,omitzero"`
	// Reason is a word, Message the same for people.
	Reason string `json:"reason,omitempty"`
	// Message explains it to people; empty where there is nothing to explain.
	Message string `json:"message,omitempty"`
}
