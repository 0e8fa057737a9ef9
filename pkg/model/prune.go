package model

import "time"

// DockerPruneSettings say which of hone's old images and containers are removed from the engine, and when.
type DockerPruneSettings struct {
	Disable bool
	// MaxAge keeps what is younger.
	MaxAge time.Duration
	// NumBuilds, when not 0, prunes after so many builds, else Interval has passed between two prunings.
	NumBuilds int
	Interval  time.Duration
	// KeepRecent is how many of the newest tags of each image always stay.
	KeepRecent int
}

// DefaultDockerPruneSettings are the settings of a Tiltfile that has none, as in Tilt.
var DefaultDockerPruneSettings = DockerPruneSettings{MaxAge: 6 * time.Hour, Interval: time.Hour, KeepRecent: 2}
