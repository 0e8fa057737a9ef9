package model

import (
	"reflect"
	"strconv"
	"time"
)

// Command is a command that the Tiltfile declares outside of any resource: v1alpha1.cmd. It runs on this machine. Without
// StartOn it starts at once.
type Command struct {
	// Name is unique among commands.
	Name string
	Cmd  Cmd
	// Readiness is nil for a command that is ready as soon as it runs.
	Readiness *Probe
	// RestartOn triggers stop the command and run it again. StartOn triggers do the same, and the command does not run before
	// the first of them.
	RestartOn Triggers
	StartOn   *Triggers
	Disable   DisableSource
	// Log is the resource whose log receives the output, where the Tiltfile sets one. If it is empty, the button that started
	// the command determines the log; without a button, it is the Tiltfile's own log.
	Log ManifestName
	Meta
}

// SameWork reports whether a run of c is as good as a run of o: whether command, probe and triggers are the same.
func (c Command) SameWork(o Command) bool {
	type work struct {
		readiness        any
		restarts, starts any
	}
	return c.Cmd.Equal(o.Cmd) && reflect.DeepEqual(work{c.Readiness, c.RestartOn, c.StartOn}, work{o.Readiness, o.RestartOn, o.StartOn})
}

// Triggers are the events that start or restart a command.
type Triggers struct {
	FileWatches []string
	Buttons     []string
	// After is a time: events up to then are ignored. The zero time ignores none.
	After time.Time
}

// FileWatch is a set of files whose change restarts commands: v1alpha1.file_watch.
type FileWatch struct {
	// Name is unique among file watches.
	Name    string
	Watch   WatchSpec
	Disable DisableSource
	Meta
}

// ID returns the target under which changes of its files are reported.
func (f FileWatch) ID() TargetID { return TargetID{TargetFileWatch, f.Name} }

// ConfigMap is data that other declarations refer to: v1alpha1.config_map. It is unrelated to the ConfigMaps of a cluster.
type ConfigMap struct {
	// Name is unique among config maps.
	Name string
	Data map[string]string
	Meta
}

// DisableSource names the config maps that disable an object: it is disabled while a key in each of them is "true". The zero value
// never disables.
type DisableSource struct {
	Keys []ConfigMapKey
}

// Off reports whether the source disables its object, given the data of the config maps.
func (d DisableSource) Off(data func(configMap, key string) string) bool {
	for _, k := range d.Keys {
		if off, err := strconv.ParseBool(data(k.ConfigMap, k.Key)); err != nil || !off {
			return false
		}
	}
	return len(d.Keys) > 0
}

// ConfigMapKey is one key of a config map.
type ConfigMapKey struct {
	ConfigMap string
	Key       string
}
