package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Session is the run of hone, and whether it has reached its end.
type Session struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what was asked for on the command line.
	Spec SessionSpec `json:"spec"`
	// Status is how the session does.
	Status SessionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (s *Session) DeepCopyObject() runtime.Object { return deepCopy(s) }

// The values of SessionSpec.ExitCondition.
const (
	ExitConditionManual = "manual" // "hone up": when the user ends it
	ExitConditionCI     = "ci"     // "hone ci": when all is ready, or something failed for good
)

// SessionSpec is what was asked for on the command line.
type SessionSpec struct {
	// TiltfilePath is the absolute path of the Tiltfile.
	TiltfilePath string `json:"tiltfilePath"`
	// ExitCondition is manual or ci.
	ExitCondition string `json:"exitCondition"`
	// CI bounds a session whose exit condition is ci.
	CI *SessionCISpec `json:"ci,omitempty"`
}

// SessionCISpec bounds a session that ends by itself.
type SessionCISpec struct {
	// K8sGracePeriod is for how long a pod may be failing before it counts.
	K8sGracePeriod *metav1.Duration `json:"k8sGracePeriod,omitempty"`
	// Timeout is how long the whole may take.
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// ReadinessTimeout is how long one resource may take to get ready.
	ReadinessTimeout *metav1.Duration `json:"readinessTimeout,omitempty"`
}

// SessionStatus is how the session does.
type SessionStatus struct {
	// PID is the process id of hone.
	PID int64 `json:"pid"`
	// StartTime is when the session began.
	StartTime metav1.MicroTime `json:"startTime"`
	// Targets are the parts that the session waits for: each resource's update and its runtime, in the order of their names.
	Targets []Target `json:"targets"`
	// Done says that the session has reached its end.
	Done bool `json:"done"`
	// Error is why it failed; empty when it did not, or is not done.
	Error string `json:"error,omitempty"`
}

// The values of Target.Type.
const (
	TargetTypeJob    = "job"    // runs to its end
	TargetTypeServer = "server" // keeps running
)

// Target is one thing that the session waits for.
type Target struct {
	// Name is "RESOURCE:update" or "RESOURCE:runtime"; that of the Tiltfile is "tiltfile:update".
	Name string `json:"name"`
	// Type is job or server.
	Type string `json:"type"`
	// Resources are the names of the resources that it belongs to.
	Resources []string `json:"resources,omitempty"`
	// State is its current state.
	State TargetState `json:"state"`
}

// TargetState is how a target does; exactly one of the fields is set.
type TargetState struct {
	// Waiting is set before it begins.
	Waiting *TargetStateWaiting `json:"waiting,omitempty"`
	// Active is set while it runs.
	Active *TargetStateActive `json:"active,omitempty"`
	// Terminated is set when it has ended.
	Terminated *TargetStateTerminated `json:"terminated,omitempty"`
	// Disabled is set while its resource is switched off.
	Disabled *TargetStateDisabled `json:"disabled,omitempty"`
}

// TargetStateWaiting is that of a target that has not begun.
type TargetStateWaiting struct {
	// WaitReason is why.
	WaitReason string `json:"waitReason"`
}

// TargetStateActive is that of a target that runs.
type TargetStateActive struct {
	// StartTime is when it began.
	StartTime metav1.MicroTime `json:"startTime"`
	// Ready says that a server can be used.
	Ready bool `json:"ready"`
}

// TargetStateTerminated is that of a target that has ended.
type TargetStateTerminated struct {
	// StartTime is when it began.
	StartTime metav1.MicroTime `json:"startTime"`
	// FinishTime is when it ended.
	FinishTime metav1.MicroTime `json:"finishTime"`
	// Error is why it failed; empty when it did not.
	Error string `json:"error,omitempty"`
}

// TargetStateDisabled is that of a target whose resource is switched off.
type TargetStateDisabled struct{}

// UISession is what a user interface shows about the session as a whole.
type UISession struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is empty.
	Spec UISessionSpec `json:"spec"`
	// Status is how the session does.
	Status UISessionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (s *UISession) DeepCopyObject() runtime.Object { return deepCopy(s) }

// UISessionSpec is empty.
type UISessionSpec struct{}

// UISessionStatus is how the session does.
type UISessionStatus struct {
	// RunningTiltBuild is the version of hone.
	RunningTiltBuild TiltBuild `json:"runningTiltBuild"`
	// VersionSettings says whether newer versions are looked for, which hone never does.
	VersionSettings VersionSettings `json:"versionSettings"`
	// TiltStartTime is when the session began.
	TiltStartTime metav1.Time `json:"tiltStartTime"`
	// TiltfileKey is the absolute path of the Tiltfile.
	TiltfileKey string `json:"tiltfileKey"`
	// FatalError is why the session ended, empty while it goes on or has ended well.
	FatalError string `json:"fatalError,omitempty"`
}

// TiltBuild is a version of the program.
type TiltBuild struct {
	// Version is like "0.1.0", without a "v"; empty where it is not known.
	Version string `json:"version"`
	// CommitSHA is left out by hone: hone version prints it.
	CommitSHA string `json:"commitSHA,omitempty"`
	// Date is left out by hone.
	Date string `json:"date,omitempty"`
	// Dev is false in hone.
	Dev bool `json:"dev"`
}

// VersionSettings says whether newer versions are looked for.
type VersionSettings struct {
	// CheckUpdates is false in hone, which looks for no newer version.
	CheckUpdates bool `json:"checkUpdates"`
}
