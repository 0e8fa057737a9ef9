package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ImageMap maps an image reference of the Tiltfile to the image that was built for it.
type ImageMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec defines the injection of the image into objects.
	Spec ImageMapSpec `json:"spec"`
	// Status is the newest image.
	Status ImageMapStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *ImageMap) DeepCopyObject() runtime.Object { return deepCopy(i) }

// ImageMapSpec defines the injection of the image into objects.
type ImageMapSpec struct {
	// Selector is the reference that the Tiltfile and the YAML use.
	Selector string `json:"selector"`
	// MatchInEnvVars also replaces the reference in environment variables.
	MatchInEnvVars bool `json:"matchInEnvVars,omitempty"`
	// OverrideCommand replaces the command of the containers that run the image.
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
	// Image is the reference that is injected into objects.
	Image string `json:"image"`
	// ImageFromCluster is the reference under which the cluster pulls the image; the same as Image.
	ImageFromCluster string `json:"imageFromCluster,omitempty"`
	// ImageFromLocal is the reference that the builder uses.
	ImageFromLocal string `json:"imageFromLocal,omitempty"`
	// BuildStartTime is the time at which the build of the image began. The image does not include later file changes.
	BuildStartTime *metav1.MicroTime `json:"buildStartTime,omitempty"`
}

// DockerImage is an image that is built from a Dockerfile.
type DockerImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec holds the inputs of the build.
	Spec DockerImageSpec `json:"spec"`
	// Status is the status of the build.
	Status ImageStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *DockerImage) DeepCopyObject() runtime.Object { return deepCopy(i) }

// DockerImageSpec holds the inputs of the build of an image.
type DockerImageSpec struct {
	// Ref is the reference that the Tiltfile uses.
	Ref string `json:"ref"`
	// DockerfileContents is the text of the Dockerfile.
	DockerfileContents string `json:"dockerfileContents,omitempty"`
	// Context is the absolute path of the build context.
	Context string `json:"context"`
	// Args are build arguments, "K=V", or "K" for a value from the environment.
	Args []string `json:"args,omitempty"`
	// Target is the stage of the Dockerfile to build; empty for the last.
	Target string `json:"target,omitempty"`
	// SSHAgentConfig are agents and keys that the build may use, as for docker build --ssh.
	SSHAgentConfig []string `json:"sshAgentConfigs,omitempty"`
	// Secrets are files and variables that the build may read, as for docker build --secret.
	Secrets []string `json:"secrets,omitempty"`
	// Network is the network mode for commands of the build, as for docker build --network.
	Network string `json:"network,omitempty"`
	// Pull pulls the newest base images even if they exist locally.
	Pull bool `json:"pull,omitempty"`
	// CacheFrom are caches whose results the build may reuse: references of images, or as for docker buildx build --cache-from.
	CacheFrom []string `json:"cacheFrom,omitempty"`
	// CacheTo are caches that the build writes its results to, as for docker buildx build --cache-to.
	CacheTo []string `json:"cacheTo,omitempty"`
	// Platform is the platform that the image is built for, such as linux/amd64; empty for the platform of the cluster.
	Platform string `json:"platform,omitempty"`
	// ExtraTags are additional references for the image.
	ExtraTags []string `json:"extraTags,omitempty"`
	// ExtraHosts are additional host names for commands of the build, "HOST:IP".
	ExtraHosts []string `json:"extraHosts,omitempty"`
	// ContextIgnores exclude files from the build context.
	ContextIgnores []IgnoreDef `json:"contextIgnores,omitempty"`
	// ImageMaps are the names of the ImageMaps of this image's base images.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
}

// CmdImage is an image that a command builds.
type CmdImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the command that builds the image.
	Spec CmdImageSpec `json:"spec"`
	// Status is the status of the build.
	Status ImageStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *CmdImage) DeepCopyObject() runtime.Object { return deepCopy(i) }

// CmdImageSpec is the command that builds an image.
type CmdImageSpec struct {
	// Args is the argument vector of the command, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the command's working folder.
	Dir string `json:"dir,omitempty"`
	// Env are additional environment variables, "K=V".
	Env []string `json:"env,omitempty"`
	// Ref is the reference that the Tiltfile uses.
	Ref string `json:"ref"`
	// OutputTag is the fixed tag that the command produces.
	OutputTag string `json:"outputTag,omitempty"`
	// OutputsImageRefTo is the file that the command writes the reference of the image to.
	OutputsImageRefTo string `json:"outputsImageRefTo,omitempty"`
	// ImageMaps are the names of the ImageMaps of the images that the command uses.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// Cluster is the name of the Cluster object.
	Cluster string `json:"cluster"`
}

// ImageStatus is the status of an image build; at most one of Waiting, Building and Completed is set.
type ImageStatus struct {
	// Ref is the builder's reference of the newest image.
	Ref string `json:"ref,omitempty"`
	// Waiting is set until the first build.
	Waiting *ImageStateWaiting `json:"waiting,omitempty"`
	// Building is set while the image is being built.
	Building *ImageStateBuilding `json:"building,omitempty"`
	// Completed is set once the last build has ended.
	Completed *ImageStateCompleted `json:"completed,omitempty"`
}

// ImageStateWaiting is the state of an image that was not built yet.
type ImageStateWaiting struct {
	// Reason is a single word: waiting-for-update.
	Reason string `json:"reason"`
}

// ImageStateBuilding is the state of an image whose resource is being updated.
type ImageStateBuilding struct {
	// Reason explains why the image is built, for display, such as "files changed".
	Reason string `json:"reason,omitempty"`
	// StartedAt is the time at which the update began.
	StartedAt metav1.MicroTime `json:"startedAt"`
}

// ImageStateCompleted is the state of an image whose resource was updated.
type ImageStateCompleted struct {
	// Reason explains why the image was built, for display, such as "files changed".
	Reason string `json:"reason,omitempty"`
	// Error is the reason why the update failed; empty when it succeeded.
	Error string `json:"error,omitempty"`
	// StartedAt is the time at which the update began.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// FinishedAt is the time at which the update ended.
	FinishedAt metav1.MicroTime `json:"finishedAt"`
}

// LiveUpdate describes how changed files reach the running containers of a resource, and the status of these containers. Its
// name is RESOURCE:IMAGE.
type LiveUpdate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the steps of the live update.
	Spec LiveUpdateSpec `json:"spec"`
	// Status is the status of the containers.
	Status LiveUpdateStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (l *LiveUpdate) DeepCopyObject() runtime.Object { return deepCopy(l) }

// LiveUpdateSpec is the steps of a live update.
type LiveUpdateSpec struct {
	// Selector selects the containers.
	Selector LiveUpdateSelector `json:"selector"`
	// Sources are the sources of file changes.
	Sources []LiveUpdateSource `json:"sources,omitempty"`
	// StopPaths are absolute local paths: a change below one of them needs a new image.
	StopPaths []string `json:"stopPaths,omitempty"`
	// Syncs copy files.
	Syncs []LiveUpdateSync `json:"syncs,omitempty"`
	// Execs run commands in the container.
	Execs []LiveUpdateExec `json:"execs,omitempty"`
	// Restart is always or none: whether the container is restarted after the other steps.
	Restart string `json:"restart,omitempty"`
}

// The values of LiveUpdateSpec.Restart.
const (
	LiveUpdateRestartAlways = "always"
	LiveUpdateRestartNone   = "none"
)

// LiveUpdateSelector selects containers.
type LiveUpdateSelector struct {
	// Kubernetes selects containers of pods.
	Kubernetes *LiveUpdateKubernetesSelector `json:"kubernetes,omitempty"`
}

// LiveUpdateKubernetesSelector selects containers in the pods of a resource.
type LiveUpdateKubernetesSelector struct {
	// ApplyName is the name of the resource's KubernetesApply.
	ApplyName string `json:"applyName,omitempty"`
	// DiscoveryName is the name of the resource's KubernetesDiscovery.
	DiscoveryName string `json:"discoveryName"`
	// ImageMapName is the name of the ImageMap of the image that the containers run. The containers are selected by one of
	// ImageMapName, Image and ContainerName.
	ImageMapName string `json:"imageMapName,omitempty"`
	// Image is the reference of the image that the containers run.
	Image string `json:"image,omitempty"`
	// ContainerName is the name of the container.
	ContainerName string `json:"containerName,omitempty"`
}

// LiveUpdateSource is a source of file changes.
type LiveUpdateSource struct {
	// FileWatch is the name of the FileWatch that reports the changes.
	FileWatch string `json:"fileWatch,omitempty"`
	// ImageMap is the name of the ImageMap of the image that the files belong to. Changes that the image already contains are
	// ignored.
	ImageMap string `json:"imageMap,omitempty"`
}

// LiveUpdateSync copies changed files below a local path to a path in the container.
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
	// TriggerPaths are absolute local paths: the command runs only if a file below one of them changed. Empty means that it
	// always runs.
	TriggerPaths []string `json:"triggerPaths,omitempty"`
	// EchoOff keeps the command line out of the log.
	EchoOff bool `json:"echoOff,omitempty"`
}

// LiveUpdateStatus is the status of the containers.
type LiveUpdateStatus struct {
	// Failed is the reason why running containers are not updated until the next image is deployed.
	Failed *LiveUpdateStateFailed `json:"failed,omitempty"`
	// Containers are the containers that can be updated now.
	Containers []LiveUpdateContainerStatus `json:"containers,omitempty"`
}

// LiveUpdateStateFailed is the reason why running containers are not updated.
type LiveUpdateStateFailed struct {
	// Reason is a single word.
	Reason string `json:"reason"`
	// Message explains the reason, for display.
	Message string `json:"message,omitempty"`
}

// LiveUpdateContainerStatus is the status of one container.
type LiveUpdateContainerStatus struct {
	// ContainerName is the name of the container.
	ContainerName string `json:"containerName"`
	// ContainerID is the id of the container's current run.
	ContainerID string `json:"containerID"`
	// PodName is the name of the container's pod.
	PodName string `json:"podName"`
	// Namespace is the namespace of the pod.
	Namespace string `json:"namespace"`
	// LastFileTimeSynced is the time up to which changes have been copied.
	LastFileTimeSynced metav1.MicroTime `json:"lastFileTimeSynced,omitzero"`
	// LastExecError is the error of a command that failed in the last update.
	LastExecError string `json:"lastExecError,omitempty"`
	// Waiting is set while changes wait to be copied.
	Waiting *LiveUpdateContainerStateWaiting `json:"waiting,omitempty"`
}

// LiveUpdateContainerStateWaiting is the reason why changes wait to be copied.
type LiveUpdateContainerStateWaiting struct {
	// Reason is a single word.
	Reason string `json:"reason"`
}

// DockerComposeService is a service that Docker Compose runs.
type DockerComposeService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec identifies the service.
	Spec DockerComposeServiceSpec `json:"spec"`
	// Status is the status of the service.
	Status DockerComposeServiceStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (d *DockerComposeService) DeepCopyObject() runtime.Object { return deepCopy(d) }

// DockerComposeServiceSpec identifies the service.
type DockerComposeServiceSpec struct {
	// Service is the name of the service in the Compose files.
	Service string `json:"service"`
	// Project is the project that the service is part of.
	Project DockerComposeProject `json:"project"`
	// ImageMaps are the names of the ImageMaps whose images the service runs.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// DisableSource names the config maps that disable the service.
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
	// Profiles are the active profiles.
	Profiles []string `json:"profiles,omitempty"`
}

// DockerComposeServiceStatus is the status of the service.
type DockerComposeServiceStatus struct {
	// LastApplyStartTime is the time at which the last update began.
	LastApplyStartTime metav1.MicroTime `json:"lastApplyStartTime,omitzero"`
	// LastApplyFinishTime is the time at which the last update ended.
	LastApplyFinishTime metav1.MicroTime `json:"lastApplyFinishTime,omitzero"`
	// LastApplyError is the reason why the last update failed; empty when it succeeded.
	LastApplyError string `json:"lastApplyError,omitempty"`
	// ContainerID is the engine's id of the service's container; of the newest one if there are several.
	ContainerID string `json:"containerID,omitempty"`
	// ContainerName is the engine's name of that container.
	ContainerName string `json:"containerName,omitempty"`
	// ContainerState is the state of that container; absent while there is none.
	ContainerState *DockerContainerState `json:"containerState,omitempty"`
	// PortBindings are the ports that the service publishes.
	PortBindings []DockerPortBinding `json:"portBindings,omitempty"`
	// DisableStatus reports whether the service is disabled.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// DockerContainerState is the state of a container.
type DockerContainerState struct {
	// Status is the state that the engine reports: created, running, paused, restarting, removing, exited or dead.
	Status string `json:"status,omitempty"`
	// Error is the reason why the engine could not start the container; empty when it could.
	Error string `json:"error,omitempty"`
	// ExitCode is the exit code of the last run that has ended.
	ExitCode int32 `json:"exitCode,omitempty"`
	// StartedAt is the time at which the newest run began.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// FinishedAt is the time at which the last run ended; absent until a run has ended.
	FinishedAt metav1.MicroTime `json:"finishedAt,omitzero"`
	// HealthStatus is the result of the health check: starting, healthy or unhealthy.
	HealthStatus string `json:"healthStatus,omitempty"`
}

// DockerPortBinding is a port of a container that is published on this machine.
type DockerPortBinding struct {
	// ContainerPort is the port in the container.
	ContainerPort int32 `json:"containerPort,omitempty"`
	// HostPort is the port on this machine.
	HostPort int32 `json:"hostPort,omitempty"`
	// HostIP is the address that the port is bound to; empty for all addresses.
	HostIP string `json:"hostIP,omitempty"`
}
