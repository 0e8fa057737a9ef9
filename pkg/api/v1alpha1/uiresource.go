package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// UIResource is a resource as shown to the user: one row. The resource (Tiltfile) is the evaluation of the Tiltfile.
type UIResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is empty.
	Spec UIResourceSpec `json:"spec"`
	// Status is the status of the resource.
	Status UIResourceStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (r *UIResource) DeepCopyObject() runtime.Object { return deepCopy(r) }

// UIResourceSpec is empty.
type UIResourceSpec struct{}

// UIResourceStatus is the status of a resource.
type UIResourceStatus struct {
	// State is the state of the resource in one word, as on the screen: idle, ok, warning, waiting, updating, failed or unknown.
	State string `json:"state"`
	// Message is the error of the update, else of the runtime, else of a port, or else the reason why the resource waits; it may be
	// empty.
	Message string `json:"message,omitempty"`
	// LastDeployTime is the time at which the resource was last deployed successfully.
	LastDeployTime metav1.MicroTime `json:"lastDeployTime,omitzero"`
	// TriggerMode determines the triggers of an update: 0: every change; 1: the user, except for the first update; 2: the user; 3: the
	// user for the first update, then every change. Setting it to 0 or 3 makes the resource automatic, to 1 or 2 manual.
	TriggerMode int32 `json:"triggerMode"`
	// BuildHistory is the last updates, newest first, at most two.
	BuildHistory []UIBuildTerminated `json:"buildHistory,omitempty"`
	// CurrentBuild is the running update.
	CurrentBuild *UIBuildRunning `json:"currentBuild,omitempty"`
	// PendingBuildSince is the time of the oldest change that requires an update.
	PendingBuildSince metav1.MicroTime `json:"pendingBuildSince,omitzero"`
	// HasPendingChanges is true while changes require an update, even if the user has to start it.
	HasPendingChanges bool `json:"hasPendingChanges"`
	// EndpointLinks are the addresses of the resource.
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
	// Specs are the targets of the resource that are built or deployed.
	Specs []UIResourceTargetSpec `json:"specs,omitempty"`
	// Queued is true while an update that the user requested has not begun.
	Queued bool `json:"queued"`
	// Order is the position in the Tiltfile. It is 0 for (Tiltfile).
	Order int32 `json:"order"`
	// DisableStatus reports whether the resource is disabled, and by which config maps.
	DisableStatus DisableResourceStatus `json:"disableStatus"`
	// Waiting is the reason why an update that is due does not begin.
	Waiting *UIResourceStateWaiting `json:"waiting,omitempty"`
	// Conditions are the conditions UpToDate, Ready and Failed.
	Conditions []UIResourceCondition `json:"conditions,omitempty"`
}

// The values of UIResourceStatus.UpdateStatus.
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
	// Error is the reason why the update failed; empty when it succeeded.
	Error string `json:"error,omitempty"`
	// Warnings are the warnings of the update.
	Warnings []string `json:"warnings,omitempty"`
	// StartTime is the time at which the update began.
	StartTime metav1.MicroTime `json:"startTime"`
	// FinishTime is the time at which the update ended.
	FinishTime metav1.MicroTime `json:"finishTime"`
	// SpanID is the id of the update's span in the log.
	SpanID string `json:"spanID,omitempty"`
}

// UIBuildRunning is a running update.
type UIBuildRunning struct {
	// StartTime is the time at which the update began.
	StartTime metav1.MicroTime `json:"startTime"`
	// SpanID is the id of the update's span in the log.
	SpanID string `json:"spanID,omitempty"`
}

// UIResourceLink is an address to open in a browser.
type UIResourceLink struct {
	// URL is the address.
	URL string `json:"url"`
	// Name is the name of the link; it may be empty.
	Name string `json:"name,omitempty"`
}

// UIResourceKubernetes describes the newest pod of a resource.
type UIResourceKubernetes struct {
	// Cluster is the name of the Cluster object that the resource is deployed to, in a session that works on several; otherwise empty.
	Cluster string `json:"cluster,omitempty"`
	// PodName is the name of the pod; empty while there is none.
	PodName string `json:"podName,omitempty"`
	// PodCreationTime is the time at which the pod was created.
	PodCreationTime metav1.Time `json:"podCreationTime,omitzero"`
	// PodUpdateStartTime is the time at which the deploy that created the pod began.
	PodUpdateStartTime metav1.Time `json:"podUpdateStartTime,omitzero"`
	// PodStatus is the phase, or the reason why a container waits or has terminated.
	PodStatus string `json:"podStatus,omitempty"`
	// PodStatusMessage explains the status.
	PodStatusMessage string `json:"podStatusMessage,omitempty"`
	// AllContainersReady is true for a ready pod.
	AllContainersReady bool `json:"allContainersReady"`
	// PodRestarts is the total number of restarts of the pod's containers.
	PodRestarts int32 `json:"podRestarts"`
	// DisplayNames are the names of the resource's objects, "name:kind".
	DisplayNames []string `json:"displayNames,omitempty"`
	// SpanID is the id of the log span of the pod's first container.
	SpanID string `json:"spanID,omitempty"`
}

// UIResourceLocal describes the server of a local resource.
type UIResourceLocal struct {
	// PID is the process id; 0 while there is none.
	PID int64 `json:"pid"`
}

// UIResourceCompose describes the container of a service.
type UIResourceCompose struct {
	// HealthStatus is always empty in hone.
	HealthStatus string `json:"healthStatus,omitempty"`
}

// UIResourceTargetSpec is a target of a resource.
type UIResourceTargetSpec struct {
	// ID is the id of the target, such as "image:web".
	ID string `json:"id"`
	// Type is image, k8s, local or docker-compose.
	Type string `json:"type"`
	// HasLiveUpdate is true if running containers of the image can be updated in place.
	HasLiveUpdate bool `json:"hasLiveUpdate"`
}

// DisableResourceStatus tells whether a resource is disabled. A resource has one switch, so the counts are 0 or 1.
type DisableResourceStatus struct {
	// EnabledCount is 1 while the resource is enabled.
	EnabledCount int32 `json:"enabledCount"`
	// DisabledCount is 1 while the resource is disabled.
	DisabledCount int32 `json:"disabledCount"`
	// Sources are the switches.
	Sources []DisableSource `json:"sources,omitempty"`
	// State is Enabled, Disabled, or Pending while the resource is being torn down.
	State string `json:"state"`
}

// UIResourceStateWaiting is the reason why an update that is due does not begin.
type UIResourceStateWaiting struct {
	// Reason is one of tiltfile-reload, waiting-for-local, is-unparallelizable-local, waiting-for-uncategorized,
	// building-component, waiting-for-dep, waiting-for-newest, waiting-for-cluster, waiting-for-engine, waiting-for-deploy,
	// waiting-for-container, waiting-for-slot, manual, paused, waiting-for-turn, waiting-for-confirmation, pausing-in-loop
	// and tearing-down, for a resource that is being removed.
	Reason string `json:"reason"`
	// On lists the objects that the update waits for.
	On []UIResourceStateWaitingOnRef `json:"on,omitempty"`
	// Blocker is a resource that has failed and keeps the update from beginning until it is ready. A wait for this resource ends then.
	Blocker *UIResourceBlocker `json:"blocker,omitempty"`
}

// UIResourceBlocker is a failed resource that others wait for, directly or through others.
type UIResourceBlocker struct {
	// Name is the name of the resource.
	Name string `json:"name"`
	// Message is its error.
	Message string `json:"message,omitempty"`
}

// UIResourceStateWaitingOnRef refers to an object that an update waits for.
type UIResourceStateWaitingOnRef struct {
	// Group is the API group of the object: tilt.dev.
	Group string `json:"group,omitempty"`
	// APIVersion is the version of that group.
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is UIResource or Cluster.
	Kind string `json:"kind,omitempty"`
	// Name is the name of the object.
	Name string `json:"name,omitempty"`
}

// The values of UIResourceCondition.Type.
const (
	// UIResourceUpToDate is true when no update is due, is running, or has failed.
	UIResourceUpToDate = "UpToDate"
	// UIResourceReady is true when the runtime of the resource is ready and its ports are open, or the resource has no runtime.
	UIResourceReady = "Ready"
	// UIResourceFailed is true when the update, the runtime or a port has failed, and is not tried again at once. Waiting for the
	// other conditions ends then.
	UIResourceFailed = "Failed"
)

// UIResourceCondition is a condition that clients can wait for.
type UIResourceCondition struct {
	// Type is UpToDate, Ready or Failed.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastTransitionTime is the latest time at which the status may have changed.
	LastTransitionTime metav1.MicroTime `json:"lastTransitionTime,omitzero"`
	// Reason is a single word.
	Reason string `json:"reason,omitempty"`
	// Message explains the status, for display; empty where no explanation is needed.
	Message string `json:"message,omitempty"`
}
