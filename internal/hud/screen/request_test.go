package screen

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func listOf(s string) []model.ManifestName {
	var out []model.ManifestName
	for _, n := range strings.Fields(s) {
		out = append(out, model.ManifestName(n))
	}
	return out
}

// TestRequests checks the requests that keys make of the session.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name, keys string
		want       []store.Action
		says       []string
	}{
		{"trigger", "/api<Enter>t", []store.Action{state.ResourcesTriggered{Names: listOf("api")}}, []string{"api will be updated"}},
		{"trigger a group", "jt", []store.Action{state.ResourcesTriggered{Names: listOf("api worker mailer")}}, []string{"api, worker and mailer will be updated"}},
		{"trigger what is marked", "jj  t", []store.Action{state.ResourcesTriggered{Names: listOf("api worker")}}, []string{"api and worker will be updated"}},
		{"trigger all", "*t", []store.Action{state.ResourcesTriggered{Names: listOf("api worker mailer web e2e uncategorized migrate docs seed")}}, []string{"9 resources will be updated"}},
		{"unmark", "jj  <Esc>t", []store.Action{state.ResourcesTriggered{Names: listOf("mailer")}}, nil},
		{"mark twice", "jj <Up> t", []store.Action{state.ResourcesTriggered{Names: listOf("worker")}}, nil},
		{"a disabled resource", "/loadtest<Enter>t", nil, []string{`resource "loadtest" is disabled; enable it first`}},
		{"enable", "/loadtest<Enter>d", []store.Action{state.ResourcesSwitched{On: listOf("loadtest")}}, []string{"loadtest will be enabled"}},
		{"disable asks", "/api<Enter>d", nil, []string{"disable api? Its processes are stopped, and its objects deleted", "y yes"}},
		{"disable", "/api<Enter>dy", []store.Action{state.ResourcesSwitched{Off: listOf("api")}}, []string{"api will be disabled"}},
		{"do not disable", "/api<Enter>dn", nil, nil},
		{"Enter does not confirm", "/api<Enter>d<Enter>", nil, nil},
		{"disable what is not disabled yet", "*dy", []store.Action{state.ResourcesSwitched{Off: listOf("uncategorized api worker mailer web e2e migrate docs seed")}}, nil},
		{"disable the Tiltfile", "d", nil, []string{"(Tiltfile) cannot be enabled or disabled; hone stop ends the session"}},
		{"trigger mode", "/api<Enter>m", []store.Action{state.TriggerModeChosen{Names: listOf("api"), Mode: model.TriggerManual}}, []string{"api: updated on request only (t)"}},
		{"from details", "/api<Enter><Enter>t", []store.Action{state.ResourcesTriggered{Names: listOf("api")}}, nil},
		{"marks count in the table only", "jj <Down><Enter>t", []store.Action{state.ResourcesTriggered{Names: listOf("mailer")}}, nil},
		{"a button without inputs", "/api<Enter>ulint<Enter>", []store.Action{state.ButtonClicked{Button: "lint", Inputs: map[string]string{}}}, []string{"clicked lint", "log of api"}},
		{"a button of the session", "upurge<Enter>y", []store.Action{state.ButtonClicked{Button: "purge", Inputs: map[string]string{}}}, nil},
		{"a button that asks first", "upurge<Enter>", nil, []string{"purge?", "y yes"}},
		{"a disabled button", "/api<Enter>uold<Enter>", nil, []string{"old: disabled"}},
		{"a button with inputs", "/api<Enter>useed<Enter><Ctrl-A>un<Tab><Right><Tab> <Enter><Enter>", []store.Action{
			state.ButtonClicked{Button: "seed", Inputs: map[string]string{"USER": "unjane", "SIZE": "large", "DRY": "no", "TOKEN": "t"}}}, []string{"clicked seed the database"}},
		{"inputs are confirmed", "/api<Enter>useed<Enter><Enter>", nil, []string{"Enter again runs seed the database"}},
		{"a form is cancelled", "/api<Enter>useed<Enter><Esc>", nil, nil},
		{"rebuild", "/api<Enter>T", []store.Action{state.ResourcesTriggered{Names: listOf("api"), Rebuild: true}}, []string{"api will be rebuilt from scratch"}},
		{"restart a process", "/docs<Enter>r", []store.Action{state.ResourcesRestarted{Names: listOf("docs")}}, []string{"docs will be restarted"}},
		{"restart in place where that is impossible", "/api<Enter>r", nil, []string{"restart_process() in live_update adds; replace its pods instead: hone restart --pod api"}},
		{"restart pods asks", "/api<Enter>R", nil, []string{"restart the pods of api?", "y yes"}},
		{"restart pods", "/api<Enter>Ry", []store.Action{state.ResourcesRestarted{Names: listOf("api"), Pods: true}}, nil},
		{"restart pods where there are none", "/e2e<Enter>R", nil, []string{"has no serve_cmd"}},
		{"restart those of a group that can be", "/docs<Enter><Esc>*r", []store.Action{state.ResourcesRestarted{Names: listOf("docs")}}, []string{"docs will be restarted, not 8 resources"}},
		{"adopt asks", "/api<Enter>Y", nil, []string{"take over objects of others that api declares? hone down gives them back", "y yes"}},
		{"adopt", "/api<Enter>Yy", []store.Action{state.ResourcesTriggered{Names: listOf("api"), Adopt: true}}, []string{"api takes over what it declares"}},
		{"adopt without objects", "/docs<Enter>Y", nil, []string{"docs declares no objects in a cluster"}},
		{"prune asks", "X", nil, []string{"delete all objects that the Tiltfile no longer declares?", "y yes"}},
		{"prune", "Xy", []store.Action{state.PruneAllowed{}}, []string{"what is no longer declared will be deleted"}},
		{"pause", "Z", []store.Action{state.SessionPaused{}}, []string{"paused: changes wait"}},
		{"add a port forward", "/api<Enter>padd<Enter>9000:80<Enter>", []store.Action{state.ForwardsChosen{Resource: "api", Added: []model.PortForward{{LocalPort: 9000, ContainerPort: 80}}}},
			[]string{"port 9000 will be forwarded to api"}},
		{"add a port that is taken", "/web<Enter>padd<Enter>8080<Enter>", nil, []string{`port 8080 is already forwarded to resource "api"`}},
		{"a broken port forward", "/api<Enter>padd<Enter>x<Enter>", nil, []string{"x is not a port"}},
		{"remove a port forward", "/api<Enter>p8080<Enter>remove<Enter>", []store.Action{state.ForwardsChosen{Resource: "api", Removed: []model.PortForward{{LocalPort: 8080, Name: "http"}}}},
			[]string{"port 8080 of api will be closed"}},
		{"change a port forward", "/api<Enter>p8080<Enter>change<Enter>8081<Enter>", []store.Action{state.ForwardsChosen{Resource: "api",
			Removed: []model.PortForward{{LocalPort: 8080, Name: "http"}}, Added: []model.PortForward{{LocalPort: 8081, ContainerPort: 8080, Name: "http"}}}}, nil},
		{"port forwards of a local resource", "/docs<Enter>p", nil, []string{"runs on this machine"}},
		{"arguments", "A --debug 'a b'<Enter>", []store.Action{state.TiltfileArgsSet{Args: []string{"--debug", "a b"}}}, []string{"the Tiltfile will be evaluated with these arguments"}},
		{"broken arguments", "A 'a<Enter>", nil, []string{"the arguments stay as they are"}},
		{"by name", "/api<Enter>:trigger-mode<Enter>", []store.Action{state.TriggerModeChosen{Names: listOf("api"), Mode: model.TriggerManual}}, nil},
		{"jump", "<Ctrl-P>mail<Enter>t", []store.Action{state.ResourcesTriggered{Names: listOf("mailer")}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(t *testing.T, d *driver) {
				d.press(tt.keys)
				if diff := cmp.Diff(tt.want, d.asked); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				d.shows(tt.says...)
			})
		})
	}
}

// TestOnlyShowing: a screen that must not act has no keys for it.
func TestOnlyShowing(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>tdmuA*t:trigger")
		d.shows("nothing matches")
		d.hides("will be")
	}, func(_ *driver, o *Options) { o.Ask = nil })
}

// TestEndpointsAreChosen: b opens a single endpoint at once, and asks if there are several.
func TestEndpointsAreChosen(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>b")
		d.shows("endpoints of api", "http", "wiki")
		d.press("wiki<Enter>")
		if diff := cmp.Diff([]string{"https://wiki.example/api"}, d.opened); diff != "" {
			t.Error(diff)
		}
		d.press("b")
		d.mouse(4, 32, tcell.Button1)
		d.mouse(4, 32, tcell.ButtonNone)
		if len(d.opened) != 2 {
			t.Errorf("a click opened %q", d.opened)
		}
		d.press("<Esc>/mailer<Enter>b")
		d.shows("mailer has no endpoint")
	})
}
