package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DisableSource names the config maps that disable an object: it is disabled while a key in each of them has the value "true".
type DisableSource struct {
	// ConfigMap is a single config map that disables the object.
	ConfigMap *ConfigMapDisableSource `json:"configMap,omitempty"`
	// EveryConfigMap is a list of config maps that disable the object together: the key must be "true" in all of them.
	EveryConfigMap []ConfigMapDisableSource `json:"everyConfigMap,omitempty"`
}

// ConfigMapDisableSource is one key of a config map.
type ConfigMapDisableSource struct {
	// Name is the name of the config map.
	Name string `json:"name"`
	// Key is the key in the config map.
	Key string `json:"key"`
}

// The values of State in DisableStatus and DisableResourceStatus.
const (
	DisableStateEnabled  = "Enabled"
	DisableStateDisabled = "Disabled"
	// DisableStatePending means that the object is changing from one state to the other.
	DisableStatePending = "Pending"
)

// DisableStatus reports whether an object is disabled.
type DisableStatus struct {
	// Disabled is true for a disabled object.
	Disabled bool `json:"disabled"`
	// LastUpdateTime is the time at which the status last changed.
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Reason explains the status, for display.
	Reason string `json:"reason"`
	// State is Enabled, Disabled or Pending.
	State string `json:"state"`
}

// IgnoreDef excludes files.
type IgnoreDef struct {
	// BasePath is the folder that the patterns are relative to. Without patterns, the whole folder is excluded.
	BasePath string `json:"basePath"`
	// Patterns are patterns in the syntax of a .dockerignore file.
	Patterns []string `json:"patterns,omitempty"`
}

// RestartOnSpec lists the triggers that start or restart an object.
type RestartOnSpec struct {
	// FileWatches are the names of FileWatches. A change of their files is a trigger.
	FileWatches []string `json:"fileWatches,omitempty"`
	// UIButtons are the names of UIButtons. A click on one of them is a trigger.
	UIButtons []string `json:"uiButtons,omitempty"`
}

// StartOnSpec lists the triggers that start an object which does not start by itself.
type StartOnSpec struct {
	// StartAfter is a time: triggers up to then are ignored.
	StartAfter metav1.Time `json:"startAfter,omitzero"`
	// UIButtons are the names of UIButtons. A click on one of them is a trigger.
	UIButtons []string `json:"uiButtons"`
}
