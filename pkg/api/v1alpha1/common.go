package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DisableSource says what switches an object off: config maps whose key is "true".
type DisableSource struct {
	// ConfigMap is the one that does.
	ConfigMap *ConfigMapDisableSource `json:"configMap,omitempty"`
	// EveryConfigMap are several that do together: all of them must say so.
	EveryConfigMap []ConfigMapDisableSource `json:"everyConfigMap,omitempty"`
}

// ConfigMapDisableSource is one key of a config map.
type ConfigMapDisableSource struct {
	// Name is that of the config map.
	Name string `json:"name"`
	// Key is the key in it whose value counts.
	Key string `json:"key"`
}

// The values of DisableState.
const (
	DisableStateEnabled  = "Enabled"
	DisableStateDisabled = "Disabled"
	// DisableStatePending means that the object is on its way from one to the other.
	DisableStatePending = "Pending"
)

// DisableStatus says whether an object is switched off.
type DisableStatus struct {
	// Disabled is that in one word.
	Disabled bool `json:"disabled"`
	// LastUpdateTime is when it last changed.
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Reason says it to people.
	Reason string `json:"reason"`
	// State is Enabled, Disabled or Pending.
	State string `json:"state"`
}

// IgnoreDef leaves files out.
type IgnoreDef struct {
	// BasePath is the folder that the patterns start from; without patterns all that is in it is left out.
	BasePath string `json:"basePath"`
	// Patterns are those of a .dockerignore file.
	Patterns []string `json:"patterns,omitempty"`
}

// RestartOnSpec says what starts or restarts something.
type RestartOnSpec struct {
	// FileWatches are the names of FileWatches whose changes do.
	FileWatches []string `json:"fileWatches,omitempty"`
	// UIButtons are the names of UIButtons whose clicks do.
	UIButtons []string `json:"uiButtons,omitempty"`
}

// StartOnSpec says what starts something that otherwise does not run.
type StartOnSpec struct {
	// StartAfter leaves out what happened up to then.
	StartAfter metav1.Time `json:"startAfter,omitzero"`
	// UIButtons are the names of UIButtons whose clicks do.
	UIButtons []string `json:"uiButtons"`
}
