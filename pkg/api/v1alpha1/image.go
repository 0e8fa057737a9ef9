package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ImageMap is the image that stands for a reference of the Tiltfile.
type ImageMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is where the image goes.
	Spec ImageMapSpec `json:"spec"`
	// Status is the newest image.
	Status ImageMapStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *ImageMap) DeepCopyObject() runtime.Object { return deepCopy(i) }

// ImageMapSpec is where the image goes.
type ImageMapSpec struct {
	// Selector is the reference that the Tiltfile and the YAML use.
	Selector string `json:"selector"`
	// MatchInEnvVars also replaces it in environment variables.
	MatchInEnvVars bool `json:"matchInEnvVars,omitempty"`
	// OverrideCommand and OverrideArgs replace those of the containers.
	OverrideCommand *ImageMapOverrideCommand `json:"overrideCommand,omitempty"`
	// OverrideArgs replaces the arguments of the containers that run the image.
	OverrideArgs *ImageMapOverrideArgs `json:"overrideArgs,omitempty"`
}

// ImageMapOverrideCommand is a container's command.
type ImageMapOverrideCommand struct {
	// Command is the argument vector.
	Command []string `json:"command"`
}

// ImageMapOverrideArgs are a container's arguments.
type ImageMapOverrideArgs struct {
	// Args are the arguments.
	Args []string `json:"args"`
}

// ImageMapStatus is the newest image.
type ImageMapStatus struct {
	// Image is the reference that goes into objects, and ImageFromCluster the same.
	Image string `json:"image"`
	// ImageFromCluster is the reference under which the cluster pulls it, the same as Image.
	ImageFromCluster string `json:"imageFromCluster,omitempty"`
	// ImageFromLocal is the reference that the builder knows.
	ImageFromLocal string `json:"imageFromLocal,omitempty"`
	// BuildStartTime is when its build began: files changed later are not in it.
	BuildStartTime *metav1.MicroTime `json:"buildStartTime,omitempty"`
}

// DockerImage is an image that is built from a Dockerfile.
type DockerImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what the image is built from.
	Spec DockerImageSpec `json:"spec"`
	// Status is how building an image does.
	Status ImageStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *DockerImage) DeepCopyObject() runtime.Object { return deepCopy(i) }

// DockerImageSpec is what the image is built from.
type DockerImageSpec struct {
	// Ref is the reference that the Tiltfile uses.
	Ref string `json:"ref"`
	// DockerfileContents is the text of the Dockerfile.
	DockerfileContents string `json:"dockerfileContents,omitempty"`
	// Context is the absolute path of the build context.
	Context string `json:"context"`
	// Args are build arguments, "K=V", or "K" for one that is taken from the environment.
	Args []string `json:"args,omitempty"`
	// Target is the stage of the Dockerfile to build; empty for the last.
	Target string `json:"target,omitempty"`
	// SSHAgentConfig are agents and keys that the build may use, as for docker build --ssh.
	SSHAgentConfig []string `json:"sshAgentConfigs,omitempty"`
	// Secrets are files and variables that the build may read, as for docker build --secret.
	Secrets []string `json:"secrets,omitempty"`
	// Network is what commands of the build may reach, as for docker build --network.
	Network string `json:"network,omitempty"`
	// Pull asks for the newest base images, also where there are some.
	Pull bool `json:"pull,omitempty"`
	// CacheFrom are images whose layers the build may use.
	CacheFrom []string `json:"cacheFrom,omitempty"`
	// Platform is what it is built for, such as linux/amd64; empty for what the cluster runs on.
	Platform string `json:"platform,omitempty"`
	// ExtraTags are further references that the image gets.
	ExtraTags []string `json:"extraTags,omitempty"`
	// ExtraHosts are names that commands of the build know, "HOST:IP".
	ExtraHosts []string `json:"extraHosts,omitempty"`
	// ContextIgnores leave files out of the build context.
	ContextIgnores []IgnoreDef `json:"contextIgnores,omitempty"`
	// ImageMaps are the names of the ImageMaps of the images that this one is based on.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
}

// CmdImage is an image that a command builds.
type CmdImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what builds the image.
	Spec CmdImageSpec `json:"spec"`
	// Status is how building an image does.
	Status ImageStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *CmdImage) DeepCopyObject() runtime.Object { return deepCopy(i) }

// CmdImageSpec is what builds the image.
type CmdImageSpec struct {
	// Args is the argument vector of the command, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the folder that it runs in.
	Dir string `json:"dir,omitempty"`
	// Env are additions to its environment, "K=V".
	Env []string `json:"env,omitempty"`
	// Ref is the reference that the Tiltfile uses.
	Ref string `json:"ref"`
	// OutputTag is the fixed tag that the command produces.
	OutputTag string `json:"outputTag,omitempty"`
	// OutputsImageRefTo is the file that the command writes its reference to.
	OutputsImageRefTo string `json:"outputsImageRefTo,omitempty"`
	// ImageMaps are the names of the ImageMaps of the images that the command uses.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// Cluster is the name of the Cluster.
	Cluster string `json:"cluster"`
}

// ImageStatus is how building an image does; at most one of Waiting, Building and Completed is set.
type ImageStatus struct {
	// Ref is the newest image, as the builder knows it.
	Ref string `json:"ref,omitempty"`
	// Waiting is set before the first build.
	Waiting *ImageStateWaiting `json:"waiting,omitempty"`
	// Building is set while the image is built.
	Building *ImageStateBuilding `json:"building,omitempty"`
	// Completed is set when the last build has ended.
	Completed *ImageStateCompleted `json:"completed,omitempty"`
}

// ImageStateWaiting is that of an image that was not built yet.
type ImageStateWaiting struct {
	// Reason is a word: waiting-for-update.
	Reason string `json:"reason"`
}

// ImageStateBuilding is that of an image whose resource is being updated.
type ImageStateBuilding struct {
	// Reason is why it is built, for people: "files changed".
	Reason string `json:"reason,omitempty"`
	// StartedAt is when the update began.
	StartedAt metav1.MicroTime `json:"startedAt"`
}

// ImageStateCompleted is that of an image whose resource was updated.
type ImageStateCompleted struct {
	// Reason is why it was built, for people: "files changed".
	Reason string `json:"reason,omitempty"`
	// Error is why that failed; empty when it did not.
	Error string `json:"error,omitempty"`
	// StartedAt is when the update began.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// FinishedAt is when it ended.
	FinishedAt metav1.MicroTime `json:"finishedAt"`
}

// LiveUpdate says how changed files reach running containers of a resource, and how that does. It is called
// RESOURCE:IMAGE.
type LiveUpdate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the steps.
	Spec LiveUpdateSpec `json:"spec"`
	// Status is how the containers do.
	Status LiveUpdateStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (l *LiveUpdate) DeepCopyObject() runtime.Object { return deepCopy(l) }

// LiveUpdateSpec is the steps.
type LiveUpdateSpec struct {
	// Selector says which containers.
	Selector LiveUpdateSelector `json:"selector"`
	// Sources are where changes come from.
	Sources []LiveUpdateSource `json:"sources,omitempty"`
	// StopPaths are absolute local paths: a change below one of them needs a new image.
	StopPaths []string `json:"stopPaths,omitempty"`
	// Syncs copy files.
	Syncs []LiveUpdateSync `json:"syncs,omitempty"`
	// Execs run commands in the container.
	Execs []LiveUpdateExec `json:"execs,omitempty"`
	// Restart is always or none: whether the container is restarted afterwards.
	Restart string `json:"restart,omitempty"`
}

// The values of LiveUpdateSpec.Restart.
const (
	LiveUpdateRestartAlways = "always"
	LiveUpdateRestartNone   = "none"
)

// LiveUpdateSelector says which containers.
type LiveUpdateSelector struct {
	// Kubernetes chooses containers of pods.
	Kubernetes *LiveUpdateKubernetesSelector `json:"kubernetes,omitempty"`
}

// LiveUpdateKubernetesSelector chooses containers of the pods of a resource.
type LiveUpdateKubernetesSelector struct {
	// ApplyName and DiscoveryName are the names of the resource's KubernetesApply and KubernetesDiscovery.
	ApplyName string `json:"applyName,omitempty"`
	// DiscoveryName is the name of the resource's KubernetesDiscovery.
	DiscoveryName string `json:"discoveryName"`
	// ImageMapName is that of the image which the containers run, Image its reference, ContainerName the name of the
	// container; one of them counts.
	ImageMapName string `json:"imageMapName,omitempty"`
	// Image is the reference of the image that the containers run.
	Image string `json:"image,omitempty"`
	// ContainerName is the name of the container.
	ContainerName string `json:"containerName,omitempty"`
}

// LiveUpdateSource is where changes come from.
type LiveUpdateSource struct {
	// FileWatch is the name of the FileWatch whose changes count.
	FileWatch string `json:"fileWatch,omitempty"`
	// ImageMap is the name of the ImageMap of the image that the files belong to: changes that its image holds already
	// do not count.
	ImageMap string `json:"imageMap,omitempty"`
}

// LiveUpdateSync copies what changed below a local path to a path in the container.
type LiveUpdateSync struct {
	// LocalPath is the absolute path of a file or folder on this machine.
	LocalPath string `json:"localPath"`
	// ContainerPath is the absolute path in the container.
	ContainerPath string `json:"containerPath"`
}

// LiveUpdateExec runs a command in the container.
type LiveUpdateExec struct {
	// Args is the argument vector.
	Args []string `json:"args"`
	// TriggerPaths, where there are some, are absolute local paths: without a change below one of them the command does not
	// run.
	TriggerPaths []string `json:"triggerPaths,omitempty"`
	// EchoOff keeps the command itself out of the log.
	EchoOff bool `json:"echoOff,omitempty"`
}

// LiveUpdateStatus is how the containers do.
type LiveUpdateStatus struct {
	// Failed is why running containers are not updated before the next image.
	Failed *LiveUpdateStateFailed `json:"failed,omitempty"`
	// Containers are those that can be updated now.
	Containers []LiveUpdateContainerStatus `json:"containers,omitempty"`
}

// LiveUpdateStateFailed is why running containers are not updated.
type LiveUpdateStateFailed struct {
	// Reason is a word.
	Reason string `json:"reason"`
	// Message says it to people.
	Message string `json:"message,omitempty"`
}

// LiveUpdateContainerStatus is how one container does.
type LiveUpdateContainerStatus struct {
	// ContainerName is the name of the container.
	ContainerName string `json:"containerName"`
	// ContainerID is the id of its current run.
	ContainerID string `json:"containerID"`
	// PodName is the name of its pod.
	PodName string `json:"podName"`
	// Namespace is that of the pod.
	Namespace string `json:"namespace"`
	// LastFileTimeSynced is up to when changes have been copied.
	LastFileTimeSynced metav1.MicroTime `json:"lastFileTimeSynced,omitzero"`
	// LastExecError is what a command of the last update said that failed.
	LastExecError string `json:"lastExecError,omitempty"`
	// Waiting is set while changes have not been copied yet.
	Waiting *LiveUpdateContainerStateWaiting `json:"waiting,omitempty"`
}

// LiveUpdateContainerStateWaiting says why changes have not been copied yet.
type LiveUpdateContainerStateWaiting struct {
	// Reason is a word.
	Reason string `json:"reason"`
}

// DockerComposeService is a service of Docker Compose.
type DockerComposeService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is which service.
	Spec DockerComposeServiceSpec `json:"spec"`
	// Status is how the service does.
	Status DockerComposeServiceStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (d *DockerComposeService) DeepCopyObject() runtime.Object { return deepCopy(d) }

// DockerComposeServiceSpec is which service.
type DockerComposeServiceSpec struct {
	// Service is the name of the service in the Compose files.
	Service string `json:"service"`
	// Project is what the service is part of.
	Project DockerComposeProject `json:"project"`
	// ImageMaps are the names of the ImageMaps whose images the service runs.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// DisableSource switches the service off.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// DockerComposeProject is a set of Compose files.
type DockerComposeProject struct {
	// ConfigPaths are the absolute paths of the files.
	ConfigPaths []string `json:"configPaths,omitempty"`
	// ProjectPath is the absolute path of the project's folder.
	ProjectPath string `json:"projectPath,omitempty"`
	// Name is the name of the project.
	Name string `json:"name,omitempty"`
	// Profiles are those that are active.
	Profiles []string `json:"profiles,omitempty"`
}

// DockerComposeServiceStatus is how the service does.
type DockerComposeServiceStatus struct {
	// LastApplyStartTime and LastApplyFinishTime are those of the last update, LastApplyError why it failed.
	LastApplyStartTime metav1.MicroTime `json:"lastApplyStartTime,omitzero"`
	// LastApplyFinishTime is when the last update ended.
	LastApplyFinishTime metav1.MicroTime `json:"lastApplyFinishTime,omitzero"`
	// LastApplyError is why it failed; empty when it did not.
	LastApplyError string `json:"lastApplyError,omitempty"`
	// ContainerID is the engine's id of the service's container, of the newest one where there are several.
	ContainerID string `json:"containerID,omitempty"`
	// ContainerName is what the engine calls that container.
	ContainerName string `json:"containerName,omitempty"`
	// ContainerState is its state; nothing while there is no container.
	ContainerState *DockerContainerState `json:"containerState,omitempty"`
	// PortBindings are the ports that the service publishes.
	PortBindings []DockerPortBinding `json:"portBindings,omitempty"`
	// DisableStatus says whether the service is switched off.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// DockerContainerState is how a container does.
type DockerContainerState struct {
	// Status is the engine's word: created, running, paused, restarting, removing, exited or dead.
	Status string `json:"status,omitempty"`
	// Error is why the engine could not start it; empty when it could.
	Error string `json:"error,omitempty"`
	// ExitCode is that of its last run that has ended.
	ExitCode int32 `json:"exitCode,omitempty"`
	// StartedAt is when its newest run began.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// FinishedAt is when its last run ended; nothing before the first end.
	FinishedAt metav1.MicroTime `json:"finishedAt,omitzero"`
	// HealthStatus is what its health check says: starting, healthy or unhealthy.
	HealthStatus string `json:"healthStatus,omitempty"`
}

// DockerPortBinding is a port of a container that is published on this machine.
type DockerPortBinding struct {
	// ContainerPort is the port in the container.
	ContainerPort int32 `json:"containerPort,omitempty"`
	// HostPort is the port on this machine.
	HostPort int32 `json:"hostPort,omitempty"`
	// HostIP is the address that it listens on; empty for all.
	HostIP string `json:"hostIP,omitempty"`
}
