package state

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Engine is the one entry of table engines: the container engine that builds images.
type Engine struct {
	Contact
	Version string
	Host    string
	// Platform is the platform that it builds for, "linux/amd64".
	Platform string
	// Builder is the name of the builder that builds images in its place; empty for its own.
	Builder string
	// Starting is set while the builder does not answer because it starts.
	Starting bool
}

// Title names for people that which has to answer: "container engine", "builder tcp://build:1234".
func (e Engine) Title() string {
	if e.Builder == "" {
		return "container engine"
	}
	return "builder " + e.Builder
}

// EngineReported reports whether the container engine answers.
type EngineReported struct {
	Connected bool
	Version   string
	Host      string
	Platform  string
	Builder   string
	Starting  bool
	Err       string
	// Problem is Err in structured form; empty if unknown.
	Problem Problem
	// Heard is the time at which an engine that no longer answers last did; zero if that is unknown.
	Heard time.Time
}

func init() {
	store.On(Engines, func(d *store.Draft[Engine], a EngineReported) {
		was := d.Value(Only)
		next := Engine{Contact: was.reported(a.Connected, a.Err, a.Problem, a.Heard, d.Now()), Version: a.Version, Host: a.Host, Platform: a.Platform, Builder: a.Builder, Starting: a.Starting}
		if d.Ref(Only) == nil || was != next {
			d.Put(Only, next)
		}
	})
	// A build that cannot reach the engine notices the outage before EngineMonitor does, which then checks at once.
	store.On(Engines, func(d *store.Draft[Engine], a BuildCompleted) {
		if a.EngineErr == "" {
			return
		}
		d.Update(Only, func(e Engine) Engine {
			e.Contact = e.missed(a.EngineErr, d.Now())
			return e
		})
	})
}

// TheEngine returns the container engine in v.
func TheEngine(v store.View) Engine { return Engines.In(v).Value(Only) }

// ArchOf returns the architecture that the containers of a manifest run on: its cluster's, or for a service of Compose the
// engine's. It is empty if that is unknown.
func ArchOf(v store.View, m model.Manifest) string {
	if !m.IsCompose() {
		return ClusterOf(v, m).Cluster.Arch
	}
	_, arch, _ := strings.Cut(TheEngine(v).Platform, "/")
	return arch
}
