package state

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Schema holds every table of hone.
var Schema = store.NewSchema()

// The tables, in the order in which they are listed and drawn.
var (
	Sessions = store.Define[Session](Schema, "sessions",
		"The one running session: its command line, and how it ends.")
	Tiltfiles = store.Define[Tiltfile](Schema, "tiltfiles",
		"The Tiltfile: its files, settings, pending changes and how its last evaluation went.")
	Resources = store.Define[Resource](Schema, "resources",
		"The resources that the Tiltfile declares, with their manifests.", store.WithFinalizers())
	Updates = store.Define[Update](Schema, "updates",
		"Per resource: changed files, the update that runs, past ones, and what they left behind.")
	Clusters = store.Define[Cluster](Schema, "clusters",
		"The clusters that the session works on, and whether they answer.")
	Engines = store.Define[Engine](Schema, "engines",
		"The container engine that builds images, and whether it answers.")
	Pods = store.Define[Pod](Schema, "pods",
		"Pods that belong to resources, with their containers, and containers that Compose runs.")
	Services = store.Define[model.Service](Schema, "services",
		"Services that resources applied, with their addresses.")
	Objects = store.Define[model.ObjectStatus](Schema, "objects",
		"Applied objects that have a status, with their health.")
	Drifts = store.Define[Drift](Schema, "drifts",
		"Per resource: the objects that others have changed in the cluster since they were applied, field by field.")
	Revisions = store.Define[api.Revision](Schema, "revisions",
		"The last revisions of the project in each cluster, as far as this session has read and written the ledger.")
	ClusterEvents = store.Define[KubeEvents](Schema, "kubeevents",
		"Per resource: the newest events of Kubernetes about its objects and pods.")
	ClusterWatches = store.Define[ClusterWatch](Schema, "clusterwatches",
		"Watches of the cluster that do not work, the resources that they are for, and how to fix them.")
	Forwards = store.Define[Forward](Schema, "forwards",
		"Port forwards and whether they have a pod to go to.")
	Synclets = store.Define[Synclet](Schema, "synclets",
		"The programs in containers that live updates go through: how they got in, and whether they answer.")
	Restarts = store.Define[Restart](Schema, "restarts",
		"Per resource: the newest restart that the user requested, and how it ended.")
	Processes = store.Define[Process](Schema, "processes",
		"Servers of local resources.")
	Watches = store.Define[Watch](Schema, "watches",
		"File watching: how much is watched, and what limits it.")
	Buttons = store.Define[Button](Schema, "buttons",
		"Buttons that the Tiltfile declares, and the newest click of each.")
	Commands = store.Define[DeclaredCommand](Schema, "commands",
		"Commands that the Tiltfile declares outside of resources, and their states.", store.WithFinalizers())
	FileWatches = store.Define[FileWatch](Schema, "filewatches",
		"File watches that the Tiltfile declares for its commands, and the newest change of each.")
	ConfigMaps = store.Define[model.ConfigMap](Schema, "configmaps",
		"Data that the Tiltfile declares, which can switch other declarations off.")
	Extensions = store.Define[model.Extension](Schema, "extensions",
		"Extensions of the Tiltfile language that are evaluated on their own, or loaded by their names.")
	ExtensionRepos = store.Define[model.ExtensionRepo](Schema, "extensionrepos",
		"Where extensions come from.")
	Events = store.Define[Event](Schema, "events",
		"What happened, the newest at the end: a bounded number of events, written as the other tables change.")
	Screens = store.Define[Screen](Schema, "screens",
		"The screens that show the session, in any terminal, and the resource that each has selected.")
	Subscribers = store.Define[Subscriber](Schema, "subscribers",
		"hone's own parts: running, or failing and about to be restarted.")
)

// Only is the id of the single entry in tables that have one.
const Only = "session"

// with returns a copy of m in which key has value.
func with[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	c := make(map[K]V, len(m)+1)
	maps.Copy(c, m)
	c[key] = value
	return c
}

// sortedKeys returns the keys of m, sorted.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// without returns a copy of m that lacks key.
func without[K comparable, V any](m map[K]V, key K) map[K]V {
	c := maps.Clone(m)
	delete(c, key)
	return c
}
