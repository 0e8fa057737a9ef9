package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KubernetesApply is what a resource applies to the cluster, and what came of it.
type KubernetesApply struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is applied.
	Spec KubernetesApplySpec `json:"spec"`
	// Status is what came of it.
	Status KubernetesApplyStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (k *KubernetesApply) DeepCopyObject() runtime.Object { return deepCopy(k) }

// KubernetesApplySpec is what is applied.
type KubernetesApplySpec struct {
	// YAML is the objects as the Tiltfile declares them. What Secrets hold is not shown.
	YAML string `json:"yaml,omitempty"`
	// ImageMaps are the names of the ImageMaps whose images go into the objects.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// ApplyCmd and DeleteCmd deploy in the place of YAML.
	ApplyCmd *KubernetesApplyCmd `json:"applyCmd,omitempty"`
	// DeleteCmd deletes what ApplyCmd has deployed.
	DeleteCmd *KubernetesApplyCmd `json:"deleteCmd,omitempty"`
	// RestartOn is what makes ApplyCmd run again.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
	// DiscoveryStrategy is "default", or "selectors-only" where pods are found by selectors alone.
	DiscoveryStrategy string `json:"discoveryStrategy,omitempty"`
	// PortForwardTemplateSpec are the port forwards of the resource.
	PortForwardTemplateSpec *PortForwardTemplateSpec `json:"portForwardTemplateSpec,omitempty"`
	// Timeout bounds each request that applies an object.
	Timeout metav1.Duration `json:"timeout,omitzero"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
	// DisableSource switches the resource off.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// KubernetesApplyCmd is a command of the user that deploys or deletes.
type KubernetesApplyCmd struct {
	// Args is the argument vector, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the folder that it runs in.
	Dir string `json:"dir,omitempty"`
	// Env are additions to its environment, "K=V".
	Env []string `json:"env,omitempty"`
}

// KubernetesApplyStatus is what came of it.
type KubernetesApplyStatus struct {
	// ResultYAML identifies the objects that were applied, with their UIDs.
	ResultYAML string `json:"resultYAML,omitempty"`
	// Error is why the last try failed; empty when it did not.
	Error string `json:"error,omitempty"`
	// LastApplyStartTime and LastApplyTime are when the last successful apply began and ended.
	LastApplyStartTime metav1.MicroTime `json:"lastApplyStartTime,omitzero"`
	// LastApplyTime is when the last successful apply ended.
	LastApplyTime metav1.MicroTime `json:"lastApplyTime,omitzero"`
	// DisableStatus says whether the resource is switched off.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
	// Conditions holds JobComplete once a job of the resource is complete.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// KubernetesDiscovery is the pods of a resource.
type KubernetesDiscovery struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what pods are looked for by.
	Spec KubernetesDiscoverySpec `json:"spec"`
	// Status is what was found.
	Status KubernetesDiscoveryStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (k *KubernetesDiscovery) DeepCopyObject() runtime.Object { return deepCopy(k) }

// KubernetesDiscoverySpec is what pods are looked for by.
type KubernetesDiscoverySpec struct {
	// Watches are the applied objects whose pods are followed.
	Watches []KubernetesWatchRef `json:"watches,omitempty"`
	// ExtraSelectors claim pods by label.
	ExtraSelectors []metav1.LabelSelector `json:"extraSelectors,omitempty"`
	// PortForwardTemplateSpec are the port forwards of the resource.
	PortForwardTemplateSpec *PortForwardTemplateSpec `json:"portForwardTemplateSpec,omitempty"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
}

// KubernetesWatchRef is an applied object.
type KubernetesWatchRef struct {
	// UID is that of the object.
	UID string `json:"uid,omitempty"`
	// Namespace is that of the object; empty for one that lives in none.
	Namespace string `json:"namespace"`
	// Name is that of the object.
	Name string `json:"name,omitempty"`
}

// KubernetesDiscoveryStatus is what was found.
type KubernetesDiscoveryStatus struct {
	// MonitorStartTime is when the pods began to be followed.
	MonitorStartTime metav1.MicroTime `json:"monitorStartTime,omitzero"`
	// Pods are current ones first, newer before older.
	Pods []Pod `json:"pods,omitempty"`
}

// Pod is a pod of a resource.
type Pod struct {
	// UID is that of the pod.
	UID string `json:"uid"`
	// Name is that of the pod.
	Name string `json:"name"`
	// Namespace is that of the pod.
	Namespace string `json:"namespace"`
	// CreatedAt is when the pod was created.
	CreatedAt metav1.Time `json:"createdAt"`
	// Phase is Pending, Running, Succeeded, Failed or Unknown.
	Phase string `json:"phase"`
	// Deleting says that the pod is about to go.
	Deleting bool `json:"deleting,omitempty"`
	// Current tells pods of the newest deploy from older ones.
	Current bool `json:"current"`
	// PodTemplateSpecHash is the hash of the template that the pod was made of.
	PodTemplateSpecHash string `json:"podTemplateSpecHash,omitempty"`
	// InitContainers are those that run before the others.
	InitContainers []Container `json:"initContainers,omitempty"`
	// Containers are those of the pod.
	Containers []Container `json:"containers,omitempty"`
	// Status is the phase, or the reason for which a container waits or has ended.
	Status string `json:"status"`
	// Errors explain that.
	Errors []string `json:"errors,omitempty"`
	// Owner is what the pod belongs to directly.
	Owner *PodOwner `json:"owner,omitempty"`
}

// PodOwner is what a pod belongs to directly.
type PodOwner struct {
	// Name is that of the owner.
	Name string `json:"name"`
	// CreationTimestamp is when the owner was created.
	CreationTimestamp metav1.Time `json:"creationTimestamp,omitzero"`
}

// Container is a container of a pod.
type Container struct {
	// Name is that of the container in its pod.
	Name string `json:"name"`
	// ID is that of its newest run; empty before the first.
	ID string `json:"id"`
	// Ready says that it runs and passes its probe.
	Ready bool `json:"ready"`
	// Image is the reference of what it runs.
	Image string `json:"image"`
	// Restarts is how often it was started again.
	Restarts int32 `json:"restarts"`
	// State is the container's state.
	State ContainerState `json:"state"`
	// Ports are those that it declares.
	Ports []int32 `json:"ports,omitempty"`
}

// ContainerState is how a container does; at most one of the fields is set.
type ContainerState struct {
	// Waiting is set while the container does not run yet.
	Waiting *ContainerStateWaiting `json:"waiting,omitempty"`
	// Running is set while it runs.
	Running *ContainerStateRunning `json:"running,omitempty"`
	// Terminated is set when it has ended.
	Terminated *ContainerStateTerminated `json:"terminated,omitempty"`
}

// ContainerStateWaiting is that of a container that does not run yet.
type ContainerStateWaiting struct {
	// Reason is a word, such as ImagePullBackOff.
	Reason string `json:"reason"`
}

// ContainerStateRunning is that of a container that runs.
type ContainerStateRunning struct {
	// StartedAt is when the run began.
	StartedAt metav1.Time `json:"startedAt,omitzero"`
}

// ContainerStateTerminated is that of a container that has ended.
type ContainerStateTerminated struct {
	// StartedAt is when the run began.
	StartedAt metav1.Time `json:"startedAt,omitzero"`
	// FinishedAt is when it ended.
	FinishedAt metav1.Time `json:"finishedAt,omitzero"`
	// Reason is a word, such as OOMKilled.
	Reason string `json:"reason,omitempty"`
	// ExitCode is that of the process.
	ExitCode int32 `json:"exitCode"`
}

// PortForward is the local ports of a resource, and where they lead.
type PortForward struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is which ports lead to which pod.
	Spec PortForwardSpec `json:"spec"`
	// Status is how the ports do.
	Status PortForwardStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (p *PortForward) DeepCopyObject() runtime.Object { return deepCopy(p) }

// PortForwardSpec is which ports lead to which pod.
type PortForwardSpec struct {
	// PodName and Namespace are those of the pod that new connections go to; empty while there is none.
	PodName string `json:"podName"`
	// Namespace is that of the pod that new connections go to; empty while there is none.
	Namespace string `json:"namespace"`
	// Forwards are the ports.
	Forwards []Forward `json:"forwards"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
}

// PortForwardTemplateSpec is the ports of a resource, whatever pod they lead to.
type PortForwardTemplateSpec struct {
	// Forwards are the ports.
	Forwards []Forward `json:"forwards"`
}

// Forward is a local port that leads to a port of a pod.
type Forward struct {
	// LocalPort is the port on this machine.
	LocalPort int32 `json:"localPort"`
	// ContainerPort is 0 where it is left to the pod.
	ContainerPort int32 `json:"containerPort"`
	// Host is the local address; empty for the session's.
	Host string `json:"host,omitempty"`
	// Name is what the link is called, Path what is appended to its URL.
	Name string `json:"name,omitempty"`
	// Path is appended to the URL of the link.
	Path string `json:"path,omitempty"`
}

// PortForwardStatus is how the ports do.
type PortForwardStatus struct {
	// ForwardStatuses say it for each port that was opened, or could not be.
	ForwardStatuses []ForwardStatus `json:"forwardStatuses,omitempty"`
}

// ForwardStatus is how a port does.
type ForwardStatus struct {
	// LocalPort is the port on this machine.
	LocalPort int32 `json:"localPort"`
	// ContainerPort is the port of the pod; 0 where it is left to the pod.
	ContainerPort int32 `json:"containerPort"`
	// Addresses are what it listens on.
	Addresses []string `json:"addresses,omitempty"`
	// StartedAt is when it was opened.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// Error is why it is not ready.
	Error string `json:"error,omitempty"`
}

// PodLogStream is the log of a pod, which is read into that of a resource.
type PodLogStream struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is read.
	Spec PodLogStreamSpec `json:"spec"`
	// Status is how reading does.
	Status PodLogStreamStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (p *PodLogStream) DeepCopyObject() runtime.Object { return deepCopy(p) }

// PodLogStreamSpec is what is read.
type PodLogStreamSpec struct {
	// Pod is the name of the pod.
	Pod string `json:"pod"`
	// Namespace is that of the pod.
	Namespace string `json:"namespace"`
	// SinceTime leaves older lines out.
	SinceTime *metav1.Time `json:"sinceTime,omitempty"`
	// IgnoreContainers are not read.
	IgnoreContainers []string `json:"ignoreContainers,omitempty"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
}

// PodLogStreamStatus is how reading does.
type PodLogStreamStatus struct {
	// ContainerStatuses say it for each container that has run.
	ContainerStatuses []ContainerLogStreamStatus `json:"containerStatuses,omitempty"`
}

// ContainerLogStreamStatus is how reading one container does.
type ContainerLogStreamStatus struct {
	// Name is that of the container.
	Name string `json:"name"`
	// Active says that the container runs.
	Active bool `json:"active,omitempty"`
	// Terminated says that it has ended.
	Terminated bool `json:"terminated,omitempty"`
}

// Cluster is where resources are deployed to: "default" is the Kubernetes cluster, "docker" the container engine.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is how it is reached.
	Spec ClusterSpec `json:"spec"`
	// Status is what was found there.
	Status ClusterStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cluster) DeepCopyObject() runtime.Object { return deepCopy(c) }

// ClusterSpec is how it is reached.
type ClusterSpec struct {
	// Connection is how it is reached.
	Connection *ClusterConnection `json:"connection,omitempty"`
	// DefaultRegistry is where images are pushed to, as the Tiltfile says.
	DefaultRegistry *RegistryHosting `json:"defaultRegistry,omitempty"`
}

// ClusterConnection is how it is reached; exactly one of the fields is set.
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
	// Namespace is where objects go that name none.
	Namespace string `json:"namespace,omitempty"`
}

// DockerClusterConnection is a container engine.
type DockerClusterConnection struct {
	// Host is the address of the engine, such as unix:///var/run/docker.sock.
	Host string `json:"host,omitempty"`
}

// RegistryHosting is a registry of images.
type RegistryHosting struct {
	// Host is how this machine reaches it.
	Host string `json:"host,omitempty"`
	// HostFromContainerRuntime is how the cluster does, where that differs.
	HostFromContainerRuntime string `json:"hostFromContainerRuntime,omitempty"`
	// SingleName puts every image into one repository.
	SingleName string `json:"singleName,omitempty"`
}

// ClusterStatus is what was found there.
type ClusterStatus struct {
	// Arch is the processor of the first node, such as amd64.
	Arch string `json:"arch,omitempty"`
	// Version is that of the API server, or of the engine.
	Version string `json:"version,omitempty"`
	// Error is why it does not answer; empty when it does.
	Error string `json:"error,omitempty"`
	// ConnectedAt is since when it has answered.
	ConnectedAt *metav1.MicroTime `json:"connectedAt,omitempty"`
	// Connection is what it was found to be; absent for the container engine.
	Connection *ClusterConnectionStatus `json:"connection,omitempty"`
	// Registry is the one that the cluster offers.
	Registry *RegistryHosting `json:"registry,omitempty"`
}

// ClusterConnectionStatus is what it was found to be.
type ClusterConnectionStatus struct {
	// Kubernetes is set for the Kubernetes cluster.
	Kubernetes *KubernetesClusterConnectionStatus `json:"kubernetes,omitempty"`
}

// KubernetesClusterConnectionStatus is what a Kubernetes cluster was found to be.
type KubernetesClusterConnectionStatus struct {
	// Context is the name of the context.
	Context string `json:"context"`
	// Product is what the cluster is made by, such as kind or minikube.
	Product string `json:"product"`
	// Namespace is where objects go that name none.
	Namespace string `json:"namespace,omitempty"`
	// Cluster is the name of the cluster in the kubeconfig.
	Cluster string `json:"cluster,omitempty"`
}
