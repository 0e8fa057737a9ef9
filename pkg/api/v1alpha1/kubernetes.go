package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KubernetesApply is the configuration that a resource applies to the cluster, and the result.
type KubernetesApply struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the configuration to apply.
	Spec KubernetesApplySpec `json:"spec"`
	// Status is the result of the apply.
	Status KubernetesApplyStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (k *KubernetesApply) DeepCopyObject() runtime.Object { return deepCopy(k) }

// KubernetesApplySpec is the configuration to apply.
type KubernetesApplySpec struct {
	// YAML holds the objects as the Tiltfile declares them. The data of Secrets is not shown.
	YAML string `json:"yaml,omitempty"`
	// ImageMaps are the names of the ImageMaps whose images are injected into the objects.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// ApplyCmd deploys instead of YAML.
	ApplyCmd *KubernetesApplyCmd `json:"applyCmd,omitempty"`
	// DeleteCmd deletes the objects that ApplyCmd deployed.
	DeleteCmd *KubernetesApplyCmd `json:"deleteCmd,omitempty"`
	// RestartOn lists the triggers that run ApplyCmd again.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
	// DiscoveryStrategy is "default", or "selectors-only" where pods are found only by selectors.
	DiscoveryStrategy string `json:"discoveryStrategy,omitempty"`
	// PortForwardTemplateSpec are the port forwards of the resource.
	PortForwardTemplateSpec *PortForwardTemplateSpec `json:"portForwardTemplateSpec,omitempty"`
	// Timeout limits each request that applies an object.
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
	// DisableSource names the config maps that disable the resource.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// KubernetesApplyCmd is a user's command that deploys or deletes objects.
type KubernetesApplyCmd struct {
	// Args is the argument vector, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the command's working folder.
	Dir string `json:"dir,omitempty"`
	// Env are additional environment variables, "K=V".
	Env []string `json:"env,omitempty"`
}

// KubernetesApplyStatus is the result of the apply.
type KubernetesApplyStatus struct {
	// ResultYAML identifies the applied objects, with their UIDs.
	ResultYAML string `json:"resultYAML,omitempty"`
	// Error is the reason why the last apply failed; empty when it succeeded.
	Error string `json:"error,omitempty"`
	// LastApplyStartTime is the time at which the last successful apply began.
	LastApplyStartTime metav1.MicroTime `json:"lastApplyStartTime,omitzero"`
	// LastApplyTime is the time at which the last successful apply ended.
	LastApplyTime metav1.MicroTime `json:"lastApplyTime,omitzero"`
	// DisableStatus reports whether the resource is disabled.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
	// Conditions contains JobComplete once a job of the resource is complete.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// KubernetesDiscovery finds the pods of a resource.
type KubernetesDiscovery struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec selects the pods of the resource.
	Spec KubernetesDiscoverySpec `json:"spec"`
	// Status is the list of pods that were found.
	Status KubernetesDiscoveryStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (k *KubernetesDiscovery) DeepCopyObject() runtime.Object { return deepCopy(k) }

// KubernetesDiscoverySpec selects the pods of a resource.
type KubernetesDiscoverySpec struct {
	// Watches are the applied objects whose pods are watched.
	Watches []KubernetesWatchRef `json:"watches,omitempty"`
	// ExtraSelectors are label selectors that claim additional pods.
	ExtraSelectors []metav1.LabelSelector `json:"extraSelectors,omitempty"`
	// PortForwardTemplateSpec are the port forwards of the resource.
	PortForwardTemplateSpec *PortForwardTemplateSpec `json:"portForwardTemplateSpec,omitempty"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
}

// KubernetesWatchRef is an applied object.
type KubernetesWatchRef struct {
	// UID is the UID of the object.
	UID string `json:"uid,omitempty"`
	// Namespace is the namespace of the object; empty for a cluster-scoped object.
	Namespace string `json:"namespace"`
	// Name is the name of the object.
	Name string `json:"name,omitempty"`
}

// KubernetesDiscoveryStatus is the list of pods that were found.
type KubernetesDiscoveryStatus struct {
	// MonitorStartTime is the time at which watching the pods began.
	MonitorStartTime metav1.MicroTime `json:"monitorStartTime,omitzero"`
	// Pods are the pods that were found: pods of the newest deploy first, newer before older.
	Pods []Pod `json:"pods,omitempty"`
}

// Pod is a pod of a resource.
type Pod struct {
	// UID is the UID of the pod.
	UID string `json:"uid"`
	// Name is the name of the pod.
	Name string `json:"name"`
	// Namespace is the namespace of the pod.
	Namespace string `json:"namespace"`
	// CreatedAt is the time at which the pod was created.
	CreatedAt metav1.Time `json:"createdAt"`
	// Phase is Pending, Running, Succeeded, Failed or Unknown.
	Phase string `json:"phase"`
	// Deleting is true for a pod that is being deleted.
	Deleting bool `json:"deleting,omitempty"`
	// Current is true for a pod of the newest deploy, false for older pods.
	Current bool `json:"current"`
	// PodTemplateSpecHash is the hash of the template from which the pod was created.
	PodTemplateSpecHash string `json:"podTemplateSpecHash,omitempty"`
	// InitContainers are the init containers of the pod.
	InitContainers []Container `json:"initContainers,omitempty"`
	// Containers are the other containers of the pod.
	Containers []Container `json:"containers,omitempty"`
	// Status is the phase, or the reason why a container waits or has terminated.
	Status string `json:"status"`
	// Errors explain the status.
	Errors []string `json:"errors,omitempty"`
	// Owner is the direct owner of the pod.
	Owner *PodOwner `json:"owner,omitempty"`
}

// PodOwner is the direct owner of a pod.
type PodOwner struct {
	// Name is the name of the owner.
	Name string `json:"name"`
	// CreationTimestamp is the time at which the owner was created.
	CreationTimestamp metav1.Time `json:"creationTimestamp,omitzero"`
}

// Container is a container of a pod.
type Container struct {
	// Name is the name of the container in its pod.
	Name string `json:"name"`
	// ID is the id of the container's newest run; empty before the first run.
	ID string `json:"id"`
	// Ready is true while the container is running and passes its probe.
	Ready bool `json:"ready"`
	// Image is the reference of the image that the container runs.
	Image string `json:"image"`
	// Restarts is the number of times the container was restarted.
	Restarts int32 `json:"restarts"`
	// State is the container's state.
	State ContainerState `json:"state"`
	// Ports are the ports that the container declares.
	Ports []int32 `json:"ports,omitempty"`
}

// ContainerState is the state of a container; at most one of the fields is set.
type ContainerState struct {
	// Waiting is set while the container has not started yet.
	Waiting *ContainerStateWaiting `json:"waiting,omitempty"`
	// Running is set while the container is running.
	Running *ContainerStateRunning `json:"running,omitempty"`
	// Terminated is set once the container has terminated.
	Terminated *ContainerStateTerminated `json:"terminated,omitempty"`
}

// ContainerStateWaiting is the state of a container that has not started yet.
type ContainerStateWaiting struct {
	// Reason is a single word, such as ImagePullBackOff.
	Reason string `json:"reason"`
}

// ContainerStateRunning is the state of a running container.
type ContainerStateRunning struct {
	// StartedAt is the time at which the run began.
	StartedAt metav1.Time `json:"startedAt,omitzero"`
}

// ContainerStateTerminated is the state of a container that has terminated.
type ContainerStateTerminated struct {
	// StartedAt is the time at which the run began.
	StartedAt metav1.Time `json:"startedAt,omitzero"`
	// FinishedAt is the time at which the run ended.
	FinishedAt metav1.Time `json:"finishedAt,omitzero"`
	// Reason is a single word, such as OOMKilled.
	Reason string `json:"reason,omitempty"`
	// ExitCode is the exit code of the process.
	ExitCode int32 `json:"exitCode"`
}

// PortForward is the local ports of a resource and their destinations.
type PortForward struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec maps local ports to a pod.
	Spec PortForwardSpec `json:"spec"`
	// Status is the status of the ports.
	Status PortForwardStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (p *PortForward) DeepCopyObject() runtime.Object { return deepCopy(p) }

// PortForwardSpec maps local ports to a pod.
type PortForwardSpec struct {
	// PodName is the name of the pod that new connections go to; empty while there is none.
	PodName string `json:"podName"`
	// Namespace is the namespace of that pod; empty while there is none.
	Namespace string `json:"namespace"`
	// Forwards are the ports.
	Forwards []Forward `json:"forwards"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
}

// PortForwardTemplateSpec is the port forwards of a resource, independent of a particular pod.
type PortForwardTemplateSpec struct {
	// Forwards are the ports.
	Forwards []Forward `json:"forwards"`
}

// Forward is a local port that leads to a port of a pod.
type Forward struct {
	// LocalPort is the port on this machine.
	LocalPort int32 `json:"localPort"`
	// ContainerPort is the port of the pod; 0 where the pod's declared ports determine it.
	ContainerPort int32 `json:"containerPort"`
	// Host is the local address to listen on; empty for the session's default.
	Host string `json:"host,omitempty"`
	// Name is the name of the link.
	Name string `json:"name,omitempty"`
	// Path is appended to the URL of the link.
	Path string `json:"path,omitempty"`
}

// PortForwardStatus is the status of the ports.
type PortForwardStatus struct {
	// ForwardStatuses is the status of each port that was opened or could not be opened.
	ForwardStatuses []ForwardStatus `json:"forwardStatuses,omitempty"`
}

// ForwardStatus is the status of a port.
type ForwardStatus struct {
	// LocalPort is the port on this machine.
	LocalPort int32 `json:"localPort"`
	// ContainerPort is the port of the pod; 0 where the pod's declared ports determine it.
	ContainerPort int32 `json:"containerPort"`
	// Addresses are the local addresses that the port listens on.
	Addresses []string `json:"addresses,omitempty"`
	// StartedAt is the time at which the port was opened.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// Error is the reason why the port is not ready.
	Error string `json:"error,omitempty"`
}

// PodLogStream copies the log of a pod into the log of a resource.
type PodLogStream struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec selects the log to read.
	Spec PodLogStreamSpec `json:"spec"`
	// Status is the status of the stream.
	Status PodLogStreamStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (p *PodLogStream) DeepCopyObject() runtime.Object { return deepCopy(p) }

// PodLogStreamSpec selects the log to read.
type PodLogStreamSpec struct {
	// Pod is the name of the pod.
	Pod string `json:"pod"`
	// Namespace is the namespace of the pod.
	Namespace string `json:"namespace"`
	// SinceTime is the time from which lines are read; older lines are omitted.
	SinceTime *metav1.Time `json:"sinceTime,omitempty"`
	// IgnoreContainers are the names of containers whose logs are not read.
	IgnoreContainers []string `json:"ignoreContainers,omitempty"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
}

// PodLogStreamStatus is the status of the stream.
type PodLogStreamStatus struct {
	// ContainerStatuses is the status of each container that has run.
	ContainerStatuses []ContainerLogStreamStatus `json:"containerStatuses,omitempty"`
}

// ContainerLogStreamStatus is the status of the log of one container.
type ContainerLogStreamStatus struct {
	// Name is the name of the container.
	Name string `json:"name"`
	// Active is true while the container is running.
	Active bool `json:"active,omitempty"`
	// Terminated is true once the container has terminated.
	Terminated bool `json:"terminated,omitempty"`
}

// Cluster is a target of deployments: "default" is the session's own Kubernetes cluster, "docker" the container engine. Other clusters have
// the names that the Tiltfile declares.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the configuration of the connection.
	Spec ClusterSpec `json:"spec"`
	// Status is the state of the connection, with the cluster's properties.
	Status ClusterStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cluster) DeepCopyObject() runtime.Object { return deepCopy(c) }

// ClusterSpec is the configuration of the connection to a cluster.
type ClusterSpec struct {
	// Connection is the address of the cluster.
	Connection *ClusterConnection `json:"connection,omitempty"`
	// DefaultRegistry is the registry that the Tiltfile sets for pushing images.
	DefaultRegistry *RegistryHosting `json:"defaultRegistry,omitempty"`
}

// ClusterConnection is the address of a cluster; exactly one of the fields is set.
type ClusterConnection struct {
	// Kubernetes is set for the Kubernetes cluster.
	Kubernetes *KubernetesClusterConnection `json:"kubernetes,omitempty"`
	// Docker is set for the container engine.
	Docker *DockerClusterConnection `json:"docker,omitempty"`
}

// KubernetesClusterConnection is a context of the kubeconfig.
type KubernetesClusterConnection struct {
	// Context is the name of the context.
	Context string `json:"context,omitempty"`
	// Namespace is the namespace for objects that name none.
	Namespace string `json:"namespace,omitempty"`
}

// DockerClusterConnection is a container engine.
type DockerClusterConnection struct {
	// Host is the address of the engine, such as unix:///var/run/docker.sock.
	Host string `json:"host,omitempty"`
}

// RegistryHosting is an image registry.
type RegistryHosting struct {
	// Host is the address of the registry for this machine.
	Host string `json:"host,omitempty"`
	// HostFromContainerRuntime is the address of the registry for the cluster, where it differs from Host.
	HostFromContainerRuntime string `json:"hostFromContainerRuntime,omitempty"`
	// SingleName is the name of the one repository for all images; empty for one repository per image.
	SingleName string `json:"singleName,omitempty"`
}

// ClusterStatus is the state of the connection to a cluster, with the cluster's properties.
type ClusterStatus struct {
	// Arch is the processor architecture of the first node, such as amd64.
	Arch string `json:"arch,omitempty"`
	// Version is the version of the API server or of the engine.
	Version string `json:"version,omitempty"`
	// Error is the reason why the cluster does not respond; empty when it does.
	Error string `json:"error,omitempty"`
	// ConnectedAt is the time at which the cluster began to respond.
	ConnectedAt *metav1.MicroTime `json:"connectedAt,omitempty"`
	// Connection describes the connected cluster; absent for the container engine.
	Connection *ClusterConnectionStatus `json:"connection,omitempty"`
	// Registry is the registry that the cluster offers.
	Registry *RegistryHosting `json:"registry,omitempty"`
}

// ClusterConnectionStatus describes the connected cluster.
type ClusterConnectionStatus struct {
	// Kubernetes is set for the Kubernetes cluster.
	Kubernetes *KubernetesClusterConnectionStatus `json:"kubernetes,omitempty"`
}

// KubernetesClusterConnectionStatus describes a connected Kubernetes cluster.
type KubernetesClusterConnectionStatus struct {
	// Context is the name of the context.
	Context string `json:"context"`
	// Product is the product that runs the cluster, such as kind or minikube.
	Product string `json:"product"`
	// Namespace is the namespace for objects that name none.
	Namespace string `json:"namespace,omitempty"`
	// Cluster is the name of the cluster in the kubeconfig.
	Cluster string `json:"cluster,omitempty"`
}
