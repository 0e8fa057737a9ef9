package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Tiltfile is the evaluation of the Tiltfile. Its name is (Tiltfile).
type Tiltfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is evaluated, and when.
	Spec TiltfileSpec `json:"spec"`
	// Status is how the evaluation does.
	Status TiltfileStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (t *Tiltfile) DeepCopyObject() runtime.Object { return deepCopy(t) }

// TiltfileSpec is what is evaluated, and when.
type TiltfileSpec struct {
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// Args are its arguments. Setting them evaluates it again.
	Args []string `json:"args,omitempty"`
	// RestartOn is what makes it be evaluated again.
	RestartOn *RestartOnSpec `json:"restartOn,omitempty"`
}

// TiltfileStatus is how the evaluation does; at most one of the fields is set.
type TiltfileStatus struct {
	// Waiting is set while something asks for an evaluation that has not begun.
	Waiting *TiltfileStateWaiting `json:"waiting,omitempty"`
	// Running is set while the evaluation runs.
	Running *TiltfileStateRunning `json:"running,omitempty"`
	// Terminated is set when the last one has ended.
	Terminated *TiltfileStateTerminated `json:"terminated,omitempty"`
}

// TiltfileStateWaiting is that of an evaluation that is about to begin.
type TiltfileStateWaiting struct {
	// Reason is why it is going to be evaluated, for people.
	Reason string `json:"reason,omitempty"`
}

// TiltfileStateRunning is that of an evaluation that runs.
type TiltfileStateRunning struct {
	// Reasons is left out by hone.
	Reasons []string `json:"reasons,omitempty"`
	// StartedAt is when it began.
	StartedAt metav1.MicroTime `json:"startedAt"`
}

// TiltfileStateTerminated is that of the last evaluation.
type TiltfileStateTerminated struct {
	// Reasons is left out by hone.
	Reasons []string `json:"reasons,omitempty"`
	// StartedAt is when it began.
	StartedAt metav1.MicroTime `json:"startedAt"`
	// FinishedAt is when it ended.
	FinishedAt metav1.MicroTime `json:"finishedAt"`
	// Error is why it failed; empty when it did not.
	Error string `json:"error,omitempty"`
	// WarningCount is how many warnings it had.
	WarningCount int32 `json:"warningCount"`
}

// Extension names one extension of a repository of extensions.
type Extension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is where an extension comes from.
	Spec ExtensionSpec `json:"spec"`
	// Status is the observed state.
	Status ExtensionStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (e *Extension) DeepCopyObject() runtime.Object { return deepCopy(e) }

// ExtensionSpec is where an extension comes from.
type ExtensionSpec struct {
	// RepoName is the name of an ExtensionRepo.
	RepoName string `json:"repoName"`
	// RepoPath is the folder of the extension's Tiltfile inside the repository.
	RepoPath string `json:"repoPath"`
	// Args are the arguments of that Tiltfile.
	Args []string `json:"args,omitempty"`
}

// ExtensionStatus is how an extension that is evaluated on its own does.
type ExtensionStatus struct {
	// Error is why it was left out; empty when it was not.
	Error string `json:"error,omitempty"`
}

// ExtensionRepo says where a set of extensions comes from.
type ExtensionRepo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is where a set of extensions comes from.
	Spec ExtensionRepoSpec `json:"spec"`
	// Status is empty.
	Status ExtensionRepoStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (e *ExtensionRepo) DeepCopyObject() runtime.Object { return deepCopy(e) }

// ExtensionRepoSpec is where a set of extensions comes from.
type ExtensionRepoSpec struct {
	// URL starts with https://, http:// or file://.
	URL string `json:"url"`
	// Ref is the branch, tag or commit; empty for the newest.
	Ref string `json:"ref,omitempty"`
	// LoadHost, when set, is the first part of the ext:// paths that lead here.
	LoadHost string `json:"loadHost,omitempty"`
	// GitSubpath is the folder inside the repository that holds the extensions.
	GitSubpath string `json:"gitSubpath,omitempty"`
}

// ExtensionRepoStatus is empty: what went wrong with a repository stands in the log of the Tiltfile that loads from it.
type ExtensionRepoStatus struct{}
