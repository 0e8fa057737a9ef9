package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ImageMap is the image that stands for a reference of the Tiltfile.
type ImageMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ImageMapSpec   `json:"spec"`
	Status            ImageMapStatus `json:"status"`
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
	OverrideArgs    *ImageMapOverrideArgs    `json:"overrideArgs,omitempty"`
}

// ImageMapOverrideCommand is a container's command.
type ImageMapOverrideCommand struct {
	Command []string `json:"command"`
}

// ImageMapOverrideArgs are a container's arguments.
type ImageMapOverrideArgs struct {
	Args []string `json:"args"`
}

// ImageMapStatus is the newest image.
type ImageMapStatus struct {
	// Image is the reference that goes into objects, and ImageFromCluster the same.
	Image            string `json:"image"`
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
	Spec              DockerImageSpec `json:"spec"`
	Status            ImageStatus     `json:"status"`
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
	Args           []string    `json:"args,omitempty"`
	Target         string      `json:"target,omitempty"`
	SSHAgentConfig []string    `json:"sshAgentConfigs,omitempty"`
	Secrets        []string    `json:"secrets,omitempty"`
	Network        string      `json:"network,omitempty"`
	Pull           bool        `json:"pull,omitempty"`
	CacheFrom      []string    `json:"cacheFrom,omitempty"`
	Platform       string      `json:"platform,omitempty"`
	ExtraTags      []string    `json:"extraTags,omitempty"`
	ExtraHosts     []string    `json:"extraHosts,omitempty"`
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
	Spec              CmdImageSpec `json:"spec"`
	Status            ImageStatus  `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (i *CmdImage) DeepCopyObject() runtime.Object { return deepCopy(i) }

// CmdImageSpec is what builds the image.
type CmdImageSpec struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir,omitempty"`
	Env  []string `json:"env,omitempty"`
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
	Ref       string               `json:"ref,omitempty"`
	Waiting   *ImageStateWaiting   `json:"waiting,omitempty"`
	Building  *ImageStateBuilding  `json:"building,omitempty"`
	Completed *ImageStateCompleted `json:"completed,omitempty"`
}

// ImageStateWaiting is that of an image that was not built yet.
type ImageStateWaiting struct {
	Reason string `json:"reason"`
}

// ImageStateBuilding is that of an image whose resource is being updated.
type ImageStateBuilding struct {
	Reason    string           `json:"reason,omitempty"`
	StartedAt metav1.MicroTime `json:"startedAt"`
}

// ImageStateCompleted is that of an image whose resource was updated.
type ImageStateCompleted struct {
	Reason string `json:"reason,omitempty"`
	// Error is why that failed; empty when it did not.
	Error      string           `json:"error,omitempty"`
	StartedAt  metav1.MicroTime `json:"startedAt"`
	FinishedAt metav1.MicroTime `json:"finishedAt"`
}

// LiveUpdate says how changed files reach running containers of a resource, and how that does. It is called
// RESOURCE:IMAGE.
type LiveUpdate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              LiveUpdateSpec   `json:"spec"`
	Status            LiveUpdateStatus `json:"status"`
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
	Kubernetes *LiveUpdateKubernetesSelector `json:"kubernetes,omitempty"`
}

// LiveUpdateKubernetesSelector chooses containers of the pods of a resource.
type LiveUpdateKubernetesSelector struct {
	// ApplyName and DiscoveryName are the names of the resource's KubernetesApply and KubernetesDiscovery.
	ApplyName     string `json:"applyName,omitempty"`
	DiscoveryName string `json:"discoveryName"`
	// ImageMapName is that of the image which the containers run, Image its reference, ContainerName the name of the
	// container; one of them counts.
	ImageMapName  string `json:"imageMapName,omitempty"`
	Image         string `json:"image,omitempty"`
	ContainerName string `json:"containerName,omitempty"`
}

// LiveUpdateSource is where changes come from.
type LiveUpdateSource struct {
	FileWatch string `json:"fileWatch,omitempty"`
	ImageMap  string `json:"imageMap,omitempty"`
}

// LiveUpdateSync copies what changed below a local path to a path in the container.
type LiveUpdateSync struct {
	LocalPath     string `json:"localPath"`
	ContainerPath string `json:"containerPath"`
}

// LiveUpdateExec runs a command in the container.
type LiveUpdateExec struct {
	Args []string `json:"args"`
	// TriggerPaths, where there are some, are absolute local paths: without a change below one of them the command does not
	// run.
	TriggerPaths []string `json:"triggerPaths,omitempty"`
	EchoOff      bool     `json:"echoOff,omitempty"`
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
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// LiveUpdateContainerStatus is how one container does.
type LiveUpdateContainerStatus struct {
	ContainerName string `json:"containerName"`
	ContainerID   string `json:"containerID"`
	PodName       string `json:"podName"`
	Namespace     string `json:"namespace"`
	// LastFileTimeSynced is up to when changes have been copied.
	LastFileTimeSynced metav1.MicroTime `json:"lastFileTimeSynced,omitzero"`
	// LastExecError is what a command of the last update said that failed.
	LastExecError string `json:"lastExecError,omitempty"`
	// Waiting is set while changes have not been copied yet.
	Waiting *LiveUpdateContainerStateWaiting `json:"waiting,omitempty"`
}

// LiveUpdateContainerStateWaiting says why changes have not been copied yet.
type LiveUpdateContainerStateWaiting struct {
	Reason string `json:"reason"`
}

// DockerComposeService is a service of Docker Compose.
type DockerComposeService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              DockerComposeServiceSpec   `json:"spec"`
	Status            DockerComposeServiceStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (d *DockerComposeService) DeepCopyObject() runtime.Object { return deepCopy(d) }

// DockerComposeServiceSpec is which service.
type DockerComposeServiceSpec struct {
	Service string               `json:"service"`
	Project DockerComposeProject `json:"project"`
	// ImageMaps are the names of the ImageMaps whose images the service runs.
	ImageMaps []string `json:"imageMaps,omitempty"`
	// DisableSource switches the service off.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// DockerComposeProject is a set of Compose files.
type DockerComposeProject struct {
	ConfigPaths []string `json:"configPaths,omitempty"`
	ProjectPath string   `json:"projectPath,omitempty"`
	Name        string   `json:"name,omitempty"`
	Profiles    []string `json:"profiles,omitempty"`
}

// DockerComposeServiceStatus is how the service does.
type DockerComposeServiceStatus struct {
	// LastApplyStartTime and LastApplyFinishTime are those of the last update, LastApplyError why it failed.
	LastApplyStartTime  metav1.MicroTime `json:"lastApplyStartTime,omitzero"`
	LastApplyFinishTime metav1.MicroTime `json:"lastApplyFinishTime,omitzero"`
	LastApplyError      string           `json:"lastApplyError,omitempty"`
	// PortBindings are the ports that the service publishes.
	PortBindings []DockerPortBinding `json:"portBindings,omitempty"`
	// DisableStatus says whether the service is switched off.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// DockerPortBinding is a port of a container that is published on this machine.
type DockerPortBinding struct {
	ContainerPort int32  `json:"containerPort,omitempty"`
	HostPort      int32  `json:"hostPort,omitempty"`
	HostIP        string `json:"hostIP,omitempty"`
}
