package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cmd is a command on this machine: a command that the Tiltfile declares outside of any resource, a command that a client
// created, or the update or server of a local resource. The last two are named RESOURCE:update and RESOURCE:serve.
type Cmd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the command and its triggers.
	Spec CmdSpec `json:"spec"`
	// Status is the status of the command.
	Status CmdStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cmd) DeepCopyObject() runtime.Object { return deepCopy(c) }

// CmdSpec is a command and its triggers.
type CmdSpec struct {
	// Args is the argument vector, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the command's working folder; empty for the folder of the Tiltfile.
	Dir string `json:"dir,omitempty"`
	// Env are additional environment variables, "K=V".
	Env []string `json:"env,omitempty"`
	// ReadinessProbe checks whether the command is ready. Without a probe, the command is ready as soon as it runs.
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`
	// RestartOn lists the triggers that stop the command and run it again.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
	// StartOn lists the triggers that start or restart the command. With StartOn, the command does not run until the first trigger.
	StartOn *StartOnSpec `json:"startOn,omitempty"`
	// DisableSource names the config maps that disable the command.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// Probe checks periodically whether a command is ready.
type Probe struct {
	Handler `json:",inline"`
	// InitialDelaySeconds is the time between the start of the command and the first check.
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`
	// TimeoutSeconds is the longest time that a check may take.
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// PeriodSeconds is the time between checks.
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`
	// SuccessThreshold is the number of consecutive successes after which the command is ready.
	SuccessThreshold int32 `json:"successThreshold,omitempty"`
	// FailureThreshold is the number of consecutive failures after which the command is not ready.
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// Handler is the check of a probe; exactly one of the fields is set.
type Handler struct {
	// Exec checks by running a command.
	Exec *ExecAction `json:"exec,omitempty"`
	// HTTPGet checks by an HTTP request.
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`
	// TCPSocket checks by opening a connection.
	TCPSocket *TCPSocketAction `json:"tcpSocket,omitempty"`
}

// ExecAction runs a command. The exit code 0 is a success.
type ExecAction struct {
	// Command is the argument vector, without a shell.
	Command []string `json:"command,omitempty"`
}

// HTTPGetAction makes an HTTP request. A status from 200 to 399 is a success.
type HTTPGetAction struct {
	// Path is the path of the URL.
	Path string `json:"path,omitempty"`
	// Port is the port to connect to.
	Port int32 `json:"port"`
	// Host is the host to connect to; empty for this machine.
	Host string `json:"host,omitempty"`
	// Scheme is http or https; empty for http.
	Scheme string `json:"scheme,omitempty"`
	// HTTPHeaders are additional headers of the request.
	HTTPHeaders []HTTPHeader `json:"httpHeaders,omitempty"`
}

// HTTPHeader is a header of a request.
type HTTPHeader struct {
	// Name is the name of the header.
	Name string `json:"name"`
	// Value is the value of the header.
	Value string `json:"value"`
}

// TCPSocketAction opens a connection. Connecting is a success.
type TCPSocketAction struct {
	// Port is the port to connect to.
	Port int32 `json:"port"`
	// Host is the host to connect to; empty for this machine.
	Host string `json:"host,omitempty"`
}

// CmdStatus is the status of a command; at most one of Waiting, Running and Terminated is set.
type CmdStatus struct {
	// Waiting is set until the first run.
	Waiting *CmdStateWaiting `json:"waiting,omitempty"`
	// Running is set while the command is running.
	Running *CmdStateRunning `json:"running,omitempty"`
	// Terminated is set once the command has ended.
	Terminated *CmdStateTerminated `json:"terminated,omitempty"`
	// Ready is true while the command is running and passes its probe.
	Ready bool `json:"ready,omitempty"`
	// DisableStatus reports whether the command is disabled.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// CmdStateWaiting is the state of a command that has not started yet.
type CmdStateWaiting struct {
	// Reason explains why the command waits, for display; empty if it only waits for its turn.
	Reason string `json:"reason,omitempty"`
}

// CmdStateRunning is the state of a running command.
type CmdStateRunning struct {
	// PID is the process id; 0 where it is not known, for example for the update of a resource.
	PID int32 `json:"pid"`
	// StartedAt is the time at which the command was started.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
}

// CmdStateTerminated is the state of a command that has ended.
type CmdStateTerminated struct {
	// PID is always 0 in hone: the process no longer exists.
	PID int32 `json:"pid,omitempty"`
	// ExitCode is the exit code of the process, or -1 if it could not be started. For the update of a resource, it is 0, or 1
	// when the update failed.
	ExitCode int32 `json:"exitCode"`
	// StartedAt is the time at which the command was started.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// FinishedAt is the time at which the command ended; absent where it is unknown, for example for a server.
	FinishedAt metav1.MicroTime `json:"finishedAt,omitzero"`
	// Reason explains why the command failed; empty when it succeeded.
	Reason string `json:"reason,omitempty"`
}

// FileWatch is a set of files that is watched for changes: a set that the Tiltfile declares for its commands, a set that a
// client created, or the files that a target of a resource depends on. The last is named after the target.
type FileWatch struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec selects the watched files.
	Spec FileWatchSpec `json:"spec"`
	// Status lists the changed files.
	Status FileWatchStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (w *FileWatch) DeepCopyObject() runtime.Object { return deepCopy(w) }

// FileWatchSpec selects the watched files.
type FileWatchSpec struct {
	// WatchedPaths are absolute paths of files and folders. A folder includes everything below it.
	WatchedPaths []string `json:"watchedPaths"`
	// Ignores exclude files.
	Ignores []IgnoreDef `json:"ignores,omitempty"`
	// DisableSource names the config maps that disable the watch.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// FileWatchStatus lists the changed files.
type FileWatchStatus struct {
	// MonitorStartTime is the time at which watching the files began.
	MonitorStartTime metav1.MicroTime `json:"monitorStartTime,omitzero"`
	// LastEventTime is the time at which the newest change happened.
	LastEventTime metav1.MicroTime `json:"lastEventTime,omitzero"`
	// FileEvents are the newest changes: the last change of a declared watch, or the changes that the target of a resource
	// does not include yet.
	FileEvents []FileEvent `json:"fileEvents,omitempty"`
	// Error is the reason why the files cannot be watched.
	Error string `json:"error,omitempty"`
	// DisableStatus reports whether the watch is disabled.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// FileEvent is a set of files that changed together.
type FileEvent struct {
	// Time is the time at which the session observed the changes.
	Time metav1.MicroTime `json:"time"`
	// SeenFiles are the absolute paths of the files.
	SeenFiles []string `json:"seenFiles"`
}
