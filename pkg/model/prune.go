package model

import "time"

// DockerPruneSettings determine which of hone's old images are removed from the engine, and when.
type DockerPruneSettings struct {
	Disable bool
	// MaxAge is the age from which images are removed.
	MaxAge time.Duration
	// NumBuilds, if not 0, is the number of builds after which to prune. Otherwise Interval is the time between two prunings.
	NumBuilds int
	Interval  time.Duration
	// KeepRecent is the number of newest tags of each image that are always kept.
	KeepRecent int
}

// DefaultDockerPruneSettings are the settings for a Tiltfile without any, the same as in Tilt.
var DefaultDockerPruneSettings = DockerPruneSettings{MaxAge: 6 * time.Hour, Interval: time.Hour, KeepRecent: 2}
