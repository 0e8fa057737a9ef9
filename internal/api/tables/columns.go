package tables

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// columns returns the columns that are shown for a table.
func columns(t store.TableInfo) []projection.Column {
	return append(slices.Clone(chosen[t.Name]),
		projection.Column{Name: "Age", Doc: "The time since the entry was created.", Value: func(o projection.Object) any { return o.(*Row).CreationTimestamp.Time }},
		projection.Column{Name: "Updated", Doc: "The time since the entry last changed.", Value: func(o projection.Object) any { return o.(*Row).Updated.Time }},
		projection.Column{Name: "Version", Doc: "How often the entry has changed.", Wide: true, Value: func(o projection.Object) any { return int64(o.(*Row).Version) }},
		projection.Column{Name: "Owner", Doc: "The component of hone that created the entry.", Wide: true, Value: func(o projection.Object) any { return o.(*Row).Owner }},
		projection.Column{Name: "Finalizers", Doc: "The components of hone that still hold the entry.", Wide: true, Value: func(o projection.Object) any { return strings.Join(o.(*Row).Finalizers, ",") }},
	)
}

// col is a column of a table with values of type T.
func col[T any](name, doc string, value func(v T) any) projection.Column {
	return projection.Column{Name: name, Doc: doc, Value: func(o projection.Object) any {
		if v, ok := o.(*Row).value.(T); ok {
			return cell(value(v))
		}
		return ""
	}}
}

// wide marks a column that is shown only where there is room.
func wide(c projection.Column) projection.Column {
	c.Wide = true
	return c
}

// cell converts a value to a form that fits into a line.
func cell(v any) any {
	switch x := v.(type) {
	case string:
		return events.OneLine(x)
	case model.ManifestName:
		return events.OneLine(string(x))
	case time.Duration:
		if x == 0 {
			return ""
		}
		return events.Took(events.Ms(x))
	}
	return v
}

// some lists the first few strings, and the number of the others.
func some[S ~string](all []S) string {
	const most = 3
	var out []string
	for _, s := range all[:min(len(all), most)] {
		out = append(out, string(s))
	}
	text := strings.Join(out, ",")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" (+%d)", more)
	}
	return text
}

// took returns how long something took; 0 if it has not ended.
func took(start, end time.Time) time.Duration {
	if start.IsZero() || end.IsZero() {
		return 0
	}
	return max(0, end.Sub(start))
}

// chosen are the columns of each table that stand between the name and the columns that all tables share.
var chosen = map[string][]projection.Column{
	state.Sessions.Name(): {
		col("Command", "The command of the session: up or ci.", func(s state.Session) any { return string(s.Command) }),
		col("Tiltfile", "The path of the Tiltfile.", func(s state.Session) any { return s.Tiltfile }),
		col("Args", "The Tiltfile's arguments.", func(s state.Session) any { return strings.Join(s.Args, " ") }),
		col("URL", "The address of the session's API.", func(s state.Session) any { return s.URL }),
		col("PID", "The process ID.", func(s state.Session) any { return s.PID }),
		col("Paused", "Whether the user has paused it.", func(s state.Session) any { return s.Paused() }),
		col("Turn", "Who else deploys the project now, which updates wait for.", func(s state.Session) any {
			var by []string
			for _, t := range s.DeployLocks {
				by = append(by, t.By)
			}
			return strings.Join(by, ", ")
		}),
		col("Ended", "How the session ended.", func(s state.Session) any {
			if s.Ended == nil {
				return ""
			}
			return cmp.Or(s.Ended.Failure, "well")
		}),
	},
	state.Tiltfiles.Name(): {
		col("Status", "pending, in_progress, ok or error.", func(t state.Tiltfile) any {
			return string(status.OfTiltfile(t).Update)
		}),
		col("Waits", "What the evaluation waits for.", func(t state.Tiltfile) any { return t.Awaits.What }),
		col("Resources", "How many resources it declares.", func(t state.Tiltfile) any { return len(t.Result.Manifests) }),
		col("Runs", "How often the Tiltfile was evaluated.", func(t state.Tiltfile) any { return t.Runs }),
		col("Took", "How long the last evaluation took.", func(t state.Tiltfile) any { return took(t.StartedAt, t.FinishedAt) }),
		col("Warnings", "The number of warnings.", func(t state.Tiltfile) any { return len(t.Warnings) }),
		col("Error", "The error of the last evaluation.", func(t state.Tiltfile) any { return t.Err }),
	},
	state.Resources.Name(): {
		col("Type", "k8s, local or compose.", func(r state.Resource) any { return string(r.Manifest.DeployID().Type) }),
		{Name: "Cluster", Doc: "The cluster that it is deployed to.", Shown: func(v store.View) bool { return len(state.DeclaredClusters(v)) > 0 },
			Value: func(o projection.Object) any { return o.(*Row).cluster }},
		col("Enabled", "Whether the resource is enabled.", func(r state.Resource) any { return r.Enabled }),
		col("Trigger", "Whether changes update it automatically.", func(r state.Resource) any { return r.Manifest.TriggerMode.String() }),
		col("Needs", "The resources that must be ready first.", func(r state.Resource) any { return some(r.Manifest.ResourceDeps) }),
		col("Labels", "The labels of the resource.", func(r state.Resource) any { return some(r.Manifest.Labels) }),
		col("Images", "The images that it needs.", func(r state.Resource) any {
			var refs []string
			for _, im := range r.Manifest.Images {
				refs = append(refs, im.Ref)
			}
			return some(refs)
		}),
	},
	state.Updates.Name(): {
		{Name: "Status", Doc: "none, pending, in_progress, ok, error or not_applicable.", Value: func(o projection.Object) any { return o.(*Row).status }},
		wide(col("Activity", "What a running update does.", func(u state.Update) any {
			if u.Current == nil {
				return ""
			}
			return u.Current.Activity()
		})),
		col("Reason", "The reason for the update.", newest(func(b state.Build) any { return b.Because() })),
		col("Mode", "The mode of the update.", newest(func(b state.Build) any { return b.Mode })),
		col("Took", "How long the update took.", newest(func(b state.Build) any { return took(b.StartedAt, b.FinishedAt) })),
		col("Updates", "The number of updates so far.", func(u state.Update) any { return u.Serial }),
		col("Changed", "The number of files that have changed since.", func(u state.Update) any {
			n := 0
			for _, c := range u.Changes {
				n += c.Len()
			}
			return n
		}),
		col("Error", "Why the last update failed.", newest(func(b state.Build) any { return b.Err })),
		wide(col("Files", "The changed files that the update includes.", newest(func(b state.Build) any { return some(b.Files) }))),
	},
	state.Clusters.Name(): {
		col("Connected", "Whether it responds.", func(c state.Cluster) any { return c.Connected }),
		col("Context", "The kubeconfig context.", func(c state.Cluster) any { return c.Context }),
		col("Namespace", "The namespace of objects that specify none.", func(c state.Cluster) any { return c.Namespace }),
		col("Product", "The product that runs the cluster.", func(c state.Cluster) any { return string(c.Product) }),
		col("Version", "The version of the API server.", func(c state.Cluster) any { return c.Version }),
		col("Error", "Why it does not respond.", func(c state.Cluster) any { return c.Err }),
		wide(col("Server", "The address of the API server.", func(c state.Cluster) any { return c.Server })),
	},
	state.ClusterWatches.Name(): {
		col("Resources", "The resources that need the watch.", func(w state.ClusterWatch) any { return some(w.Resources) }),
		col("Blinds", "Whether their status is unknown without the watch.", func(w state.ClusterWatch) any { return w.Blinds }),
		col("Problem", "Why the watch fails.", func(w state.ClusterWatch) any { return w.Problem.Summary }),
		wide(col("Mend", "How to fix the problem.", func(w state.ClusterWatch) any { return w.Problem.Mend })),
	},
	state.Engines.Name(): {
		col("Connected", "Whether it responds.", func(e state.Engine) any { return e.Connected }),
		col("Version", "Its version.", func(e state.Engine) any { return e.Version }),
		col("Platform", "The platform that it builds for.", func(e state.Engine) any { return e.Platform }),
		col("Host", "The address of the engine.", func(e state.Engine) any { return e.Host }),
		col("Error", "Why it does not respond.", func(e state.Engine) any { return e.Err }),
	},
	state.Pods.Name(): {
		col("Resource", "The resource that it belongs to.", func(p state.Pod) any { return p.Resource }),
		col("Pod", "Its namespace and name.", func(p state.Pod) any { return joined(p.Namespace, p.Pod.Name) }),
		col("Ready", "How many of its containers are ready.", func(p state.Pod) any {
			ready := 0
			for _, c := range p.Containers {
				if c.Ready {
					ready++
				}
			}
			return fmt.Sprintf("%d/%d", ready, len(p.Containers))
		}),
		col("Status", "Its status.", func(p state.Pod) any { return p.Status }),
		col("Restarts", "How often its containers were restarted.", func(p state.Pod) any { return p.Restarts() }),
		col("Current", "Whether it belongs to the newest deploy.", func(p state.Pod) any { return p.Current }),
		wide(col("Node", "The node that it runs on.", func(p state.Pod) any { return p.NodeName })),
		wide(col("Message", "Kubernetes' explanation of the status.", func(p state.Pod) any { return p.Message })),
	},
	state.Services.Name(): {
		col("Resource", "The resource that it belongs to.", func(s model.Service) any { return s.Resource }),
		col("Service", "Its namespace and name.", func(s model.Service) any { return joined(s.Namespace, s.Name) }),
		col("URL", "The address on this machine.", func(s model.Service) any { return s.URL }),
	},
	state.Objects.Name(): {
		col("Resource", "The resource that it belongs to.", func(o model.ObjectStatus) any { return o.Resource }),
		col("Object", "Its kind, namespace and name.", func(o model.ObjectStatus) any { return o.Kind + " " + joined(o.Namespace, o.Name) }),
		col("Health", "Its status.", func(o model.ObjectStatus) any { return o.Health }),
		col("Message", "Why.", func(o model.ObjectStatus) any { return o.Message }),
	},
	state.Drifts.Name(): {
		col("Objects", "The objects that differ.", func(d state.Drift) any {
			var names []string
			for _, o := range d.Objects {
				names = append(names, strings.ToLower(o.Object.Kind)+"/"+o.Object.Name)
			}
			return some(names)
		}),
		col("What", "changed, deleted, or made again.", func(d state.Drift) any { return strings.Join(d.What(), ",") }),
		col("Fields", "How many fields differ.", func(d state.Drift) any { return len(d.Fields()) }),
		col("By", "The field managers that have changed them.", func(d state.Drift) any { return some(d.Managers()) }),
	},
	state.ClusterEvents.Name(): {
		col("Events", "How many events are kept.", func(k state.KubeEvents) any { return len(k.List) }),
		col("Warnings", "How many of them are warnings.", func(k state.KubeEvents) any {
			n := 0
			for _, e := range k.List {
				if e.Warning {
					n++
				}
			}
			return n
		}),
		col("Newest", "When the newest event happened.", func(k state.KubeEvents) any {
			if len(k.List) == 0 {
				return ""
			}
			return k.List[0].LastSeen
		}),
		col("Reason", "Kubernetes' word for the newest event.", func(k state.KubeEvents) any {
			if len(k.List) == 0 {
				return ""
			}
			return k.List[0].Reason
		}),
		wide(col("Message", "The message of the newest event.", func(k state.KubeEvents) any {
			if len(k.List) == 0 {
				return ""
			}
			return k.List[0].Message
		})),
	},
	state.Forwards.Name(): {
		col("Resource", "The resource that it belongs to.", func(f state.Forward) any { return f.Resource }),
		col("URL", "The address to open.", func(f state.Forward) any { return f.URL }),
		col("State", "waiting, ready or failed.", func(f state.Forward) any { return string(f.State) }),
		col("Pod", "The pod that new connections go to.", func(f state.Forward) any { return f.Pod }),
		col("Error", "Why it is not ready.", func(f state.Forward) any { return f.Err }),
	},
	state.Restarts.Name(): {
		col("Pods", "Whether pods are replaced, rather than processes restarted.", func(r state.Restart) any { return r.Pods }),
		col("Restarts", "How often the user has restarted it.", func(r state.Restart) any { return r.Serial }),
		col("Status", "running, ok or error.", func(r state.Restart) any {
			switch {
			case r.Running():
				return "running"
			case r.Err != "":
				return "error"
			}
			return "ok"
		}),
		col("Done", "What was restarted.", func(r state.Restart) any { return some(r.Done) }),
		col("Error", "Why it failed.", func(r state.Restart) any { return r.Err }),
	},
	state.Revisions.Name(): {
		col("Began", "When it began, by the clock of the machine that applied it.", func(r api.Revision) any { return r.Began }),
		col("Command", "The command that made it.", func(r api.Revision) any { return r.Command }),
		col("By", "The user and the machine.", func(r api.Revision) any { return r.By }),
		col("Commit", "The commit of the working tree.", func(r api.Revision) any { return r.Commit }),
		col("Objects", "How many objects are recorded.", func(r api.Revision) any { return r.Objects }),
		col("Created", "How many it has created.", func(r api.Revision) any { return r.Created }),
		col("Changed", "How many it has changed.", func(r api.Revision) any { return r.Changed }),
		col("Deleted", "How many it has deleted.", func(r api.Revision) any { return r.Deleted }),
		col("Result", "applying, succeeded, failed or cancelled.", func(r api.Revision) any { return string(r.Phase) }),
		wide(col("Cluster", "The context of a cluster that the Tiltfile declares.", func(r api.Revision) any { return r.Cluster })),
		wide(col("Forgotten", "How many stay in the cluster and are no longer the project's.", func(r api.Revision) any { return r.Forgotten })),
		wide(col("Failures", "The resources whose last update has failed.", func(r api.Revision) any { return r.Failures })),
	},
	state.Screens.Name(): {
		col("At", "The resource that its user has selected.", func(s state.Screen) any { return string(s.At) }),
	},
	state.Synclets.Name(): {
		col("Resource", "The resource that it belongs to.", func(s state.Synclet) any { return s.Resource }),
		col("Pod", "The pod that it runs in.", func(s state.Synclet) any { return joined(s.Namespace, s.Pod) }),
		col("Container", "The container that it runs in.", func(s state.Synclet) any { return s.Container }),
		col("State", "starting, ready, broken or failed.", func(s state.Synclet) any { return s.State }),
		col("Way", "How it was put into the container.", func(s state.Synclet) any { return s.Way }),
		col("Process", "The state of the process that it runs, if any.", func(s state.Synclet) any {
			switch {
			case !s.Supervised:
				return ""
			case s.Running:
				return "running"
			}
			return fmt.Sprintf("exit code %d", s.ExitCode)
		}),
		col("Error", "Why it is not ready.", func(s state.Synclet) any { return s.Err }),
		wide(col("Passed", "Why faster ways could not be used.", func(s state.Synclet) any { return s.Passed })),
	},
	state.Processes.Name(): {
		col("State", "starting, running, stopping, failed or stopped.", func(p state.Process) any { return string(p.State) }),
		col("Ready", "Whether it can be used.", func(p state.Process) any { return p.Ready }),
		col("PID", "The process ID.", func(p state.Process) any { return orNone(p.PID) }),
		col("Message", "Why it is not ready, or has failed.", func(p state.Process) any { return cmp.Or(p.Err, p.Detail) }),
		col("Started", "When it was started.", func(p state.Process) any { return p.StartedAt }),
	},
	state.Watches.Name(): {
		col("Problem", "Why files cannot be watched properly.", func(w state.Watch) any { return w.Problem }),
	},
	state.Buttons.Name(): {
		col("Text", "The text on the button.", func(b state.Button) any { return b.Text }),
		col("Component", "Where the button is shown.", func(b state.Button) any { return joined(string(b.Place.Type), b.Place.Component) }),
		col("Inputs", "The inputs of the button.", func(b state.Button) any {
			var names []string
			for _, in := range b.Inputs {
				names = append(names, in.Name)
			}
			return some(names)
		}),
		col("Disabled", "Whether it cannot be clicked.", func(b state.Button) any { return b.Disabled }),
		col("Clicks", "How often it was clicked.", func(b state.Button) any { return b.Clicks }),
		col("Clicked", "When it was last clicked.", func(b state.Button) any { return b.Click.At }),
	},
	state.Commands.Name(): {
		col("State", "The state of the newest run.", func(c state.DeclaredCommand) any { return string(c.State) }),
		col("Ready", "Whether it can be used.", func(c state.DeclaredCommand) any { return c.Ready }),
		col("PID", "The process ID.", func(c state.DeclaredCommand) any { return orNone(c.PID) }),
		col("Runs", "How often it has run.", func(c state.DeclaredCommand) any { return c.Runs }),
		col("Command", "The command line.", func(c state.DeclaredCommand) any { return strings.Join(c.Cmd.Argv, " ") }),
		col("Error", "How the newest run failed.", func(c state.DeclaredCommand) any { return c.Err }),
	},
	state.FileWatches.Name(): {
		col("Changes", "The number of changes.", func(w state.FileWatch) any { return w.Changes }),
		col("Changed", "When something last changed.", func(w state.FileWatch) any { return w.ChangedAt }),
		col("Files", "The files that last changed.", func(w state.FileWatch) any {
			var names []string
			for _, f := range w.Files {
				names = append(names, filepath.Base(f))
			}
			return some(names)
		}),
	},
	state.ConfigMaps.Name(): {
		col("Keys", "The keys of the config map.", func(m model.ConfigMap) any { return some(slices.Sorted(maps.Keys(m.Data))) }),
	},
	state.Extensions.Name(): {
		col("Repo", "The repository of the extension.", func(e model.Extension) any { return e.Repo }),
		col("Path", "The path in the repository.", func(e model.Extension) any { return e.Path }),
		col("Args", "The arguments of the extension.", func(e model.Extension) any { return strings.Join(e.Args, " ") }),
	},
	state.ExtensionRepos.Name(): {
		col("URL", "The address of the repository.", func(r model.ExtensionRepo) any { return r.URL }),
		col("Ref", "The branch, tag or commit.", func(r model.ExtensionRepo) any { return r.Ref }),
	},
	state.Events.Name(): {
		col("Type", "The type of the event.", func(e state.Event) any { return string(e.Type) }),
		col("Resource", "The resource of the event.", func(e state.Event) any { return e.Resource }),
		{Name: "What", Doc: "What happened.", Value: func(o projection.Object) any {
			r := o.(*Row)
			e, ok := r.value.(state.Event)
			if !ok {
				return ""
			}
			return cell(events.Words(events.Of(&store.Entry[state.Event]{Meta: store.Meta{ID: r.ID, Created: r.CreationTimestamp.Time}, Value: e}, "")))
		}},
	},
	state.Subscribers.Name(): {
		col("State", "running, backing off, or done.", func(s state.Subscriber) any { return string(s.State) }),
		col("Crashes", "How often it failed.", func(s state.Subscriber) any { return s.Crashes }),
		col("Error", "Why it last failed.", func(s state.Subscriber) any { return s.Err }),
	},
}

// joined returns "namespace/name", or only one of them if the other is empty.
func joined(namespace, name string) string {
	if namespace == "" || name == "" {
		return namespace + name
	}
	return namespace + "/" + name
}

// orNone returns "" for zero.
func orNone(n int) any {
	if n == 0 {
		return ""
	}
	return n
}

// newest returns a function that returns a value of the running update, else of the last one, else "".
func newest(of func(b state.Build) any) func(u state.Update) any {
	return func(u state.Update) any {
		if u.Current != nil {
			return of(*u.Current)
		}
		if len(u.Builds) > 0 {
			return of(u.Builds[0])
		}
		return ""
	}
}
