package model

import (
	"reflect"
	"strconv"
	"time"
)

// Command is a command that the Tiltfile declares on its own, beside all resources: v1alpha1.cmd. It runs on this
// machine; without StartOn it starts at once.
type Command struct {
	// Name is unique among commands.
	Name string
	Cmd  Cmd
	// Readiness is nil for a command that is ready as soon as it runs.
	Readiness *Probe
	// RestartOn stops the command and runs it again. StartOn does so too, and the command waits for the first such event
	// before it runs at all.
	RestartOn Triggers
	StartOn   *Triggers
	Disable   DisableSource
	// Log is the resource in whose log it speaks, where the Tiltfile says so; empty leaves it to the button that started
	// it, and without a button to the Tiltfile's own log.
	Log ManifestName
	Meta
}

// SameWork reports whether a run of the one will do for the other: whether command, probe and triggers are the same.
func (c Command) SameWork(o Command) bool {
	return c.Cmd.Equal(o.Cmd) && reflect.DeepEqual(c.Readiness, o.Readiness) && reflect.DeepEqual(c.RestartOn, o.RestartOn) &&
		reflect.DeepEqual(c.StartOn, o.StartOn)
}

// Triggers name what starts or restarts something.
type Triggers struct {
	FileWatches []string
	Buttons     []string
	// After leaves out what happened up to then; zero leaves out nothing.
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

// ID is the target under which changes of its files are reported.
func (f FileWatch) ID() TargetID { return TargetID{TargetFileWatch, f.Name} }

// ConfigMap is data that other declarations refer to: v1alpha1.config_map. It has nothing to do with those of a cluster.
type ConfigMap struct {
	// Name is unique among config maps.
	Name string
	Data map[string]string
	Meta
}

// DisableSource says what switches something off: config maps whose key is "true". With several, all of them must be.
// The zero value switches nothing off.
type DisableSource struct {
	Keys []ConfigMapKey
}

// Off reports whether the source switches something off, given the data of the config maps.
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
