package status

import (
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// waits finds out why the resource waits, or whether it is about to be updated.
func (r *Resource) waits(v store.View) {
	plan, name := buildcontrol.Decide(v, nil), r.Manifest.Name
	switch hold, held := plan.Holds[name]; {
	case r.Leaving() && slices.Contains(state.TheSession(v).Confirmation.Leaving, name):
		r.Hold = &buildcontrol.Hold{Reason: buildcontrol.HoldConfirm}
	case r.Leaving():
		r.Hold = &buildcontrol.Hold{Reason: buildcontrol.HoldTeardown}
	case held && hold.Reason != buildcontrol.HoldBuilding:
		r.Hold = &hold
	default:
		r.Starting = plan.Starts(name)
	}
}

func (r *Resource) text() string {
	u := r.Updates
	switch {
	case r.Leaving() && r.Hold.Reason == buildcontrol.HoldConfirm:
		return intent.LeavingText
	case r.Leaving():
		return leaving(r.Entry.Value.Next)
	case u.Current != nil:
		return ""
	case r.Blocker != nil:
		return r.Blocker.text(r.Hold)
	case r.Hold != nil:
		return r.Hold.String()
	case r.Starting:
		return "starting"
	case u.TakenDown != "":
		return "deleted by " + u.TakenDown + ", waits for a trigger"
	case r.Last != nil:
		return ""
	case !r.Manifest.AutoInit:
		return "not started, waits for a trigger"
	}
	return "not started"
}

// leaving says whether a resource that is being torn down comes back.
func leaving(next *state.Resource) string {
	switch {
	case next == nil:
		return "is being removed"
	case next.Enabled:
		return "is being removed, to start over"
	}
	return "is being disabled"
}

// Waiting returns why the resource waits as the API shows it; nil if it does not.
func (r *Resource) Waiting() *api.Waiting {
	if r.Hold == nil {
		return nil
	}
	w := &api.Waiting{Reason: string(r.Hold.Reason), Text: r.Text}
	for _, n := range r.Hold.On {
		w.On = append(w.On, string(n))
	}
	return w
}

// reasons are Kubernetes' reasons in words that fit into a column: a long form, and a single word.
var reasons = map[string][2]string{
	"CrashLoopBackOff":           {"crash loop", "crash"},
	"ImagePullBackOff":           {"image cannot be pulled", "pull"},
	"ErrImagePull":               {"image cannot be pulled", "pull"},
	"ErrImageNeverPull":          {"image is not on the node", "pull"},
	"InvalidImageName":           {"invalid image name", "image"},
	"OOMKilled":                  {"out of memory", "memory"},
	"CreateContainerConfigError": {"container config is wrong", "config"},
	"CreateContainerError":       {"container cannot be created", "create"},
	"RunContainerError":          {"container cannot run", "run"},
	"ContainerCannotRun":         {"container cannot run", "run"},
	"StartError":                 {"container cannot start", "start"},
	"ContainerCreating":          {"creating", "create"},
	"PodInitializing":            {"initializing", "init"},
	"Pending":                    {"pending", "pending"},
	"Running":                    {"starting", "start"},
	"Error":                      {"error", "error"},
}

// Words translates the text of a runtime, whose first word may be one of Kubernetes' reasons, and also shortens it to one word.
func Words(text string) (long, short string) {
	first, rest, _ := strings.Cut(text, " ")
	if w, ok := reasons[first]; ok {
		long, short = w[0], w[1]
		if rest != "" {
			long, short = long+" "+rest, short+" "+rest
		}
		return long, short
	}
	switch {
	case text == "completed":
		return text, "done"
	case strings.HasPrefix(text, "not ready"):
		return text, "not ready"
	case first == "running" && rest != "":
		return text, rest
	case first == "pid" && strings.HasSuffix(text, "not ready"):
		return text, "not ready"
	case first == "pid":
		return text, "up"
	case text == "rolling out":
		return text, "rollout"
	}
	return text, text
}

// Type returns the type of a resource, as scripts see it.
func Type(m model.Manifest) string {
	switch {
	case m.IsLocal():
		return "local"
	case m.IsCompose():
		return "compose"
	}
	return "k8s"
}
