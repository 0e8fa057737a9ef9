package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Session is one run of hone, and whether it has reached its goal.
type Session struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the configuration from the command line.
	Spec SessionSpec `json:"spec"`
	// Status is the status of the session.
	Status SessionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (s *Session) DeepCopyObject() runtime.Object { return deepCopy(s) }

// The values of SessionSpec.ExitCondition.
const (
	ExitConditionManual = "manual" // "hone up": when the user ends it
	ExitConditionCI     = "ci"     // "hone ci": when all is ready, or something failed for good
)

// SessionSpec is the configuration from the command line.
type SessionSpec struct {
	// TiltfilePath is the absolute path of the Tiltfile.
	TiltfilePath string `json:"tiltfilePath"`
	// ExitCondition is manual or ci.
	ExitCondition string `json:"exitCondition"`
	// CI holds the time limits of a session whose exit condition is ci.
	CI *SessionCISpec `json:"ci,omitempty"`
}

// SessionCISpec holds the time limits of a session that ends on its own.
type SessionCISpec struct {
	// K8sGracePeriod is the time for which a pod may be failing before the failure counts.
	K8sGracePeriod *metav1.Duration `json:"k8sGracePeriod,omitempty"`
	// Timeout is the time limit of the whole session.
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// ReadinessTimeout is the time within which each resource must become ready.
	ReadinessTimeout *metav1.Duration `json:"readinessTimeout,omitempty"`
}

// SessionStatus is the status of the session.
type SessionStatus struct {
	// PID is the process id of hone.
	PID int64 `json:"pid"`
	// StartTime is the time at which the session began.
	StartTime metav1.MicroTime `json:"startTime"`
	// Targets are the targets that the session waits for: the update and the runtime of each resource, sorted by name.
	Targets []Target `json:"targets"`
	// Done is true once the session has reached its goal or has failed.
	Done bool `json:"done"`
	// Error is the reason why the session failed; empty when it succeeded or is not done.
	Error string `json:"error,omitempty"`
}

// The values of Target.Type.
const (
	TargetTypeJob    = "job"    // runs to its end
	TargetTypeServer = "server" // keeps running
)

// Target is one thing that the session waits for.
type Target struct {
	// Name is "RESOURCE:update" or "RESOURCE:runtime", and "tiltfile:update" for the Tiltfile.
	Name string `json:"name"`
	// Type is job or server.
	Type string `json:"type"`
	// Resources are the names of the resources that the target belongs to.
	Resources []string `json:"resources,omitempty"`
	// State is the current state of the target.
	State TargetState `json:"state"`
}

// TargetState is the state of a target; exactly one of the fields is set.
type TargetState struct {
	// Waiting is set until the target starts.
	Waiting *TargetStateWaiting `json:"waiting,omitempty"`
	// Active is set while the target is running.
	Active *TargetStateActive `json:"active,omitempty"`
	// Terminated is set once the target has ended.
	Terminated *TargetStateTerminated `json:"terminated,omitempty"`
	// Disabled is set while the target's resource is disabled.
	Disabled *TargetStateDisabled `json:"disabled,omitempty"`
}

// TargetStateWaiting is the state of a target that has not started.
type TargetStateWaiting struct {
	// WaitReason explains why the target waits.
	WaitReason string `json:"waitReason"`
}

// TargetStateActive is the state of a running target.
type TargetStateActive struct {
	// StartTime is the time at which the target started.
	StartTime metav1.MicroTime `json:"startTime"`
	// Ready is true for a server that is ready for use.
	Ready bool `json:"ready"`
}

// TargetStateTerminated is the state of a target that has ended.
type TargetStateTerminated struct {
	// StartTime is the time at which the target started.
	StartTime metav1.MicroTime `json:"startTime"`
	// FinishTime is the time at which the target ended.
	FinishTime metav1.MicroTime `json:"finishTime"`
	// Error is the reason why the target failed; empty when it succeeded.
	Error string `json:"error,omitempty"`
}

// TargetStateDisabled is the state of a target whose resource is disabled.
type TargetStateDisabled struct{}

// UISession is the information that a user interface shows about the session as a whole.
type UISession struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is empty.
	Spec UISessionSpec `json:"spec"`
	// Status is the status of the session.
	Status UISessionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (s *UISession) DeepCopyObject() runtime.Object { return deepCopy(s) }

// UISessionSpec is empty.
type UISessionSpec struct{}

// UISessionStatus is the status of the session.
type UISessionStatus struct {
	// RunningTiltBuild is the version of hone.
	RunningTiltBuild TiltBuild `json:"runningTiltBuild"`
	// VersionSettings reports whether the program checks for newer versions. hone never does.
	VersionSettings VersionSettings `json:"versionSettings"`
	// TiltStartTime is the time at which the session began.
	TiltStartTime metav1.Time `json:"tiltStartTime"`
	// TiltfileKey is the absolute path of the Tiltfile.
	TiltfileKey string `json:"tiltfileKey"`
	// FatalError is the reason why the session failed; empty while it is running or when it ended successfully.
	FatalError string `json:"fatalError,omitempty"`
}

// TiltBuild is a version of the program.
type TiltBuild struct {
	// Version is a version such as "0.1.0", without a "v"; empty where it is not known.
	Version string `json:"version"`
	// CommitSHA is always empty in hone; "hone version" prints the commit.
	CommitSHA string `json:"commitSHA,omitempty"`
	// Date is always empty in hone.
	Date string `json:"date,omitempty"`
	// Dev is always false in hone.
	Dev bool `json:"dev"`
}

// VersionSettings reports whether the program checks for newer versions.
type VersionSettings struct {
	// CheckUpdates is always false in hone, which does not check for newer versions.
	CheckUpdates bool `json:"checkUpdates"`
}
