package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cmd is a command on this machine: one that the Tiltfile declares on its own, one that was created from outside, or the
// update and the server of a local resource, which are called RESOURCE:update and RESOURCE:serve.
type Cmd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what runs, and when.
	Spec CmdSpec `json:"spec"`
	// Status is how the command does.
	Status CmdStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (c *Cmd) DeepCopyObject() runtime.Object { return deepCopy(c) }

// CmdSpec is what runs, and when.
type CmdSpec struct {
	// Args is the argument vector, without a shell.
	Args []string `json:"args"`
	// Dir is the absolute path of the folder that it runs in; empty for the Tiltfile's.
	Dir string `json:"dir,omitempty"`
	// Env are additions to the environment, "K=V".
	Env []string `json:"env,omitempty"`
	// ReadinessProbe asks whether the command is ready; without one it is as soon as it runs.
	ReadinessProbe *Probe `json:"readinessProbe,omitempty"`
	// RestartOn stops the command and runs it again.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
	// StartOn does so too, and the command does not run before.
	StartOn *StartOnSpec `json:"startOn,omitempty"`
	// DisableSource switches the command off.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// Probe asks regularly whether a command is ready.
type Probe struct {
	Handler `json:",inline"`
	// InitialDelaySeconds is how long after the start the first question is asked.
	InitialDelaySeconds int32 `json:"initialDelaySeconds,omitempty"`
	// TimeoutSeconds is how long an answer may take.
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
	// PeriodSeconds is the time from one question to the next.
	PeriodSeconds int32 `json:"periodSeconds,omitempty"`
	// SuccessThreshold is how many yeses in a row make the command ready.
	SuccessThreshold int32 `json:"successThreshold,omitempty"`
	// FailureThreshold is how many noes in a row make it not ready.
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
}

// Handler is how a probe asks; exactly one of the fields is set.
type Handler struct {
	// Exec asks by a command.
	Exec *ExecAction `json:"exec,omitempty"`
	// HTTPGet asks by a request.
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`
	// TCPSocket asks by a connection.
	TCPSocket *TCPSocketAction `json:"tcpSocket,omitempty"`
}

// ExecAction runs a command; its exit code 0 is a yes.
type ExecAction struct {
	// Command is the argument vector, without a shell.
	Command []string `json:"command,omitempty"`
}

// HTTPGetAction makes a request; a status from 200 to 399 is a yes.
type HTTPGetAction struct {
	// Path is that of the URL.
	Path string `json:"path,omitempty"`
	// Port is the port to ask.
	Port int32 `json:"port"`
	// Host is the host to ask; empty for this machine.
	Host string `json:"host,omitempty"`
	// Scheme is http or https; empty for http.
	Scheme string `json:"scheme,omitempty"`
	// HTTPHeaders are sent along.
	HTTPHeaders []HTTPHeader `json:"httpHeaders,omitempty"`
}

// HTTPHeader is a header of a request.
type HTTPHeader struct {
	// Name is that of the header.
	Name string `json:"name"`
	// Value is what it says.
	Value string `json:"value"`
}

// TCPSocketAction opens a connection; that it can is a yes.
type TCPSocketAction struct {
	// Port is the port to connect to.
	Port int32 `json:"port"`
	// Host is the host to connect to; empty for this machine.
	Host string `json:"host,omitempty"`
}

// CmdStatus is how the command does; at most one of Waiting, Running and Terminated is set.
type CmdStatus struct {
	// Waiting is set before the first run.
	Waiting *CmdStateWaiting `json:"waiting,omitempty"`
	// Running is set while the command runs.
	Running *CmdStateRunning `json:"running,omitempty"`
	// Terminated is set when it has ended.
	Terminated *CmdStateTerminated `json:"terminated,omitempty"`
	// Ready says that the command runs and passes its probe.
	Ready bool `json:"ready,omitempty"`
	// DisableStatus says whether the command is switched off.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// CmdStateWaiting is that of a command that does not run yet.
type CmdStateWaiting struct {
	// Reason is why, for people; empty where nothing but its turn is waited for.
	Reason string `json:"reason,omitempty"`
}

// CmdStateRunning is that of a command that runs.
type CmdStateRunning struct {
	// PID is the process id; 0 where it is not known, as of the update of a resource.
	PID int32 `json:"pid"`
	// StartedAt is when it was started.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
}

// CmdStateTerminated is that of a command that has ended.
type CmdStateTerminated struct {
	// PID is left out by hone: there is no such process any more.
	PID int32 `json:"pid,omitempty"`
	// ExitCode is that of the process, -1 of one that could not be started; of the update of a resource 0, or 1 when it
	// failed.
	ExitCode int32 `json:"exitCode"`
	// StartedAt is when it was started.
	StartedAt metav1.MicroTime `json:"startedAt,omitzero"`
	// FinishedAt is when it ended; empty where that is not known, as of a server.
	FinishedAt metav1.MicroTime `json:"finishedAt,omitzero"`
	// Reason is why it failed; empty when it did not.
	Reason string `json:"reason,omitempty"`
}

// FileWatch is a set of files whose changes are followed: one that the Tiltfile declares for its commands, one that was
// created from outside, or the files that a part of a resource depends on, which is called after that part.
type FileWatch struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is which files.
	Spec FileWatchSpec `json:"spec"`
	// Status is what changed.
	Status FileWatchStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (w *FileWatch) DeepCopyObject() runtime.Object { return deepCopy(w) }

// FileWatchSpec is which files.
type FileWatchSpec struct {
	// WatchedPaths are absolute paths of files, and of folders with all that is below them.
	WatchedPaths []string `json:"watchedPaths"`
	// Ignores leave files out.
	Ignores []IgnoreDef `json:"ignores,omitempty"`
	// DisableSource switches the watch off.
	DisableSource *DisableSource `json:"disableSource,omitempty"`
}

// FileWatchStatus is what changed.
type FileWatchStatus struct {
	// MonitorStartTime is when the files began to be followed.
	MonitorStartTime metav1.MicroTime `json:"monitorStartTime,omitzero"`
	// LastEventTime is when the newest change happened.
	LastEventTime metav1.MicroTime `json:"lastEventTime,omitzero"`
	// FileEvents are the newest changes: of a declared watch the last one, of a part of a resource those that its result
	// does not hold yet.
	FileEvents []FileEvent `json:"fileEvents,omitempty"`
	// Error is what keeps the files from being followed.
	Error string `json:"error,omitempty"`
	// DisableStatus says whether the watch is switched off.
	DisableStatus *DisableStatus `json:"disableStatus,omitempty"`
}

// FileEvent is a set of files that changed together.
type FileEvent struct {
	// Time is when the session learnt of them.
	Time metav1.MicroTime `json:"time"`
	// SeenFiles are the absolute paths.
	SeenFiles []string `json:"seenFiles"`
}
