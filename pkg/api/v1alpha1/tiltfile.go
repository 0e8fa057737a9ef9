package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Tiltfile is the evaluation of the Tiltfile. Its name is (Tiltfile).
type Tiltfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the Tiltfile and the triggers of its evaluation.
	Spec TiltfileSpec `json:"spec"`
	// Status is the status of the evaluation.
	Status TiltfileStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (t *Tiltfile) DeepCopyObject() runtime.Object { return deepCopy(t) }

// TiltfileSpec is the Tiltfile and the triggers of its evaluation.
type TiltfileSpec struct {
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// Args are the arguments of the Tiltfile. Setting them evaluates the Tiltfile again.
	Args []string `json:"args,omitempty"`
	// RestartOn lists the triggers of another evaluation.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
}

// TiltfileStatus is the status of the evaluation; at most one of the fields is set.
type TiltfileStatus struct {
	// Waiting is set while a requested evaluation has not begun.
	Waiting *TiltfileStateWaiting `json:"waiting,omitempty"`
	// Running is set while the evaluation is running.
	Running *TiltfileStateRunning `json:"running,omitempty"`
	// Terminated is set once the last evaluation has ended.
	Terminated *TiltfileStateTerminated `json:"terminated,omitempty"`
}

// TiltfileStateWaiting is the state of an evaluation that has not begun.
type TiltfileStateWaiting struct {
	// Reason explains why the Tiltfile will be evaluated, for display.
	Reason string `json:"reason,omitempty"`
}

// TiltfileStateRunning is the state of a running evaluation.
type TiltfileStateRunning struct {
	// Reasons is always empty in hone.
	Reasons []string `json:"reasons,omitempty"`
	// StartedAt is the time at which the evaluation began.
	StartedAt metav1.MicroTime `json:"startedAt"`
}

// TiltfileStateTerminated is the state of an evaluation that has ended.
type TiltfileStateTerminated struct {
	// Reasons is always empty in hone.
	Reasons []string `json:"reasons,omitempty"`
	// StartedAt is the time at which the evaluation began.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// FinishedAt is the time at which the evaluation ended.
	FinishedAt metav1.MicroTime `json:"finishedAt"`
	// Error is the reason why the evaluation failed; empty when it succeeded.
	Error string `json:"error,omitempty"`
	// WarningCount is the number of warnings.
	WarningCount int32 `json:"warningCount"`
}

// Extension is one extension from an extension repository.
type Extension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the source of the extension.
	Spec ExtensionSpec `json:"spec"`
	// Status is the observed state.
	Status ExtensionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (e *Extension) DeepCopyObject() runtime.Object { return deepCopy(e) }

// ExtensionSpec is the source of the extension.
type ExtensionSpec struct {
	// RepoName is the name of an ExtensionRepo.
	RepoName string `json:"repoName"`
	// RepoPath is the path in the repository of the folder that contains the extension's Tiltfile.
	RepoPath string `json:"repoPath"`
	// Args are the arguments of the extension's Tiltfile.
	Args []string `json:"args,omitempty"`
}

// ExtensionStatus is the status of an extension.
type ExtensionStatus struct {
	// Error is the reason why the extension was left out; empty when it was evaluated.
	Error string `json:"error,omitempty"`
}

// ExtensionRepo is a repository of extensions.
type ExtensionRepo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is the address of the repository.
	Spec ExtensionRepoSpec `json:"spec"`
	// Status is empty.
	Status ExtensionRepoStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (e *ExtensionRepo) DeepCopyObject() runtime.Object { return deepCopy(e) }

// ExtensionRepoSpec is the address of the repository.
type ExtensionRepoSpec struct {
	// URL starts with https://, http:// or file://.
	URL string `json:"url"`
	// Ref is the branch, tag or commit; empty for the newest commit.
	Ref string `json:"ref,omitempty"`
	// LoadHost, if set, is the first part of ext:// paths that refer to this repository.
	LoadHost string `json:"loadHost,omitempty"`
	// GitSubpath is the folder in the repository that contains the extensions.
	GitSubpath string `json:"gitSubpath,omitempty"`
}

// ExtensionRepoStatus is empty: problems with a repository are reported in the log of the Tiltfile that loads from it.
type ExtensionRepoStatus struct{}
