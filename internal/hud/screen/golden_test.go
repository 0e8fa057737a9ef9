package screen

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// sizes are the sizes at which every view is compared with a golden: the smallest with a table, a usual one, a large one.
var sizes = [][2]int{{60, 10}, {120, 34}, {200, 50}}

// phase keeps the time of a golden away from the moments at which ages change.
const phase = time.Second / 2

// drawing is a view in one of its states.
type drawing struct {
	name string
	// scene is the shown scene; nil for the shop.
	scene func() *hudtest.Scene
	// keys are typed one after the other, and play does more.
	keys string
	play func(d *driver)
	// options change the screen.
	options func(o *Options)
}

// after makes a drawing wait for results that are found away from the drawing.
func after(d *driver) { d.after(time.Second + phase) }

// starting is a session that has not read its Tiltfile yet, and empty is one whose Tiltfile declares nothing.
func starting() *hudtest.Scene { return hudtest.New() }

func evaluating() *hudtest.Scene {
	s := hudtest.New()
	s.At(0, state.SessionStarted{Session: state.Session{Command: state.CommandUp, Tiltfile: "/home/dev/shop/Tiltfile", Project: "shop"}}, state.TiltfileStarted{At: hudtest.Start})
	return s
}

func empty() *hudtest.Scene {
	s := hudtest.New()
	s.Open(model.Tiltfile{})
	return s
}

// silent is the shop while the cluster does not answer.
func silent() *hudtest.Scene {
	s := hudtest.Shop()
	at := 40*time.Minute + 58*time.Second
	s.At(at, state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev", Namespace: "default"}, Err: "dial tcp 10.0.0.1:6443: i/o timeout", Heard: hudtest.Start.Add(at - 3*time.Second)})
	return s
}

// several is a session on two clusters, one of which does not answer.
func several() *hudtest.Scene {
	s := hudtest.Several()
	at := 40*time.Minute + 58*time.Second
	s.At(at, state.ClusterReported{On: hudtest.Eu, Cluster: model.Cluster{Context: hudtest.Eu, Namespace: "shop"}, Err: "dial tcp 10.8.0.1:6443: i/o timeout", Heard: hudtest.Start.Add(at - 3*time.Second)})
	return s
}

func paused() *hudtest.Scene {
	s := hudtest.Shop()
	s.At(40*time.Minute+58*time.Second, state.SessionPaused{})
	return s
}

// asking is a session that asks, in which an update waits for the user, and so does a deletion.
func asking() *hudtest.Scene {
	s := hudtest.Asking()
	s.At(40*time.Minute+50*time.Second, statetest.Change("web", "/home/dev/shop/web/index.html"))
	s.At(40*time.Minute+51*time.Second, state.LeavingHeld{Names: []model.ManifestName{"cart"}})
	return s
}

// planned lets the session make a plan.
func planned(o *Options) {
	at := hudtest.ShopTime.Add(-2 * time.Minute)
	plan := api.Plan{Context: "kind-dev", Evaluation: 1, Steps: []api.PlanStep{
		{Object: api.PlanObject{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}, Resource: "web", Action: api.ActionUpdate, Fields: []api.FieldChange{
			{Path: "spec.replicas", Class: api.ChangeWanted, From: 2, To: 3},
			{Path: "spec.template.spec.containers[name=main].env[name=A].value", Class: api.ChangeDrift, From: "theirs", To: "mine", Manager: "kubectl-set", At: &at},
		}},
		{Object: api.PlanObject{Kind: "ConfigMap", Namespace: "default", Name: "seen"}, Resource: "web", Action: api.ActionUnchanged},
		{Object: api.PlanObject{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "cart"}, Resource: "cart", Action: api.ActionDelete, Reason: "no longer declared"},
	}, Summary: map[api.PlanAction]int{api.ActionUpdate: 1, api.ActionDelete: 1, api.ActionUnchanged: 1}}
	o.Plan = func(context.Context) (view.Plan, error) {
		return view.Plan{Lines: view.PlanLines(plan), Summary: view.PlanSummary(plan), Runs: plan.Evaluation}, nil
	}
}

// compared lets the screen read revisions.
func compared(o *Options) {
	plan := api.Plan{Steps: []api.PlanStep{
		{Object: api.PlanObject{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "mailer"}, Resource: "mailer", Action: api.ActionUpdate, Fields: []api.FieldChange{
			{Path: "spec.replicas", Class: api.ChangeWanted, From: 1, To: 2},
		}},
		{Object: api.PlanObject{Kind: "Secret", Namespace: "default", Name: "keys"}, Resource: "worker", Action: api.ActionUpdate, Fields: []api.FieldChange{
			{Path: "data.token", Class: api.ChangeWanted, Masked: true},
		}},
	}}
	o.Revision = func(_ context.Context, of view.RevisionRef) ([]view.Line, error) {
		if of.Number != 12 {
			return nil, errors.New("another revision was asked for")
		}
		return view.RevisionLines(plan), nil
	}
}

func broken() *hudtest.Scene {
	s := hudtest.Shop()
	at := 40*time.Minute + 57*time.Second
	s.At(at, state.TiltfileStarted{At: hudtest.Start.Add(at), Span: "tiltfile:2"})
	s.At(at+time.Second, state.TiltfileLoaded{Err: "/home/dev/shop/Tiltfile:7:1: undefined: k8s_yml\ndid you mean k8s_yaml?", At: hudtest.Start.Add(at + time.Second)})
	return s
}

// revisedTwice is a session on two clusters, each of which has revisions with the same numbers.
func revisedTwice() *hudtest.Scene {
	s := hudtest.Several()
	s.At(41*time.Minute, state.RevisionsKnown{Revisions: []api.Revision{
		{Number: 11, RevisionOrigin: api.RevisionOrigin{Command: "up", By: "dev@laptop"}, Phase: api.RevisionSucceeded, Objects: 9},
		{Number: 12, RevisionOrigin: api.RevisionOrigin{Command: "rollback 11", By: "dev@laptop"}, Phase: api.RevisionSucceeded, Objects: 9},
		{Number: 12, Cluster: hudtest.Eu, RevisionOrigin: api.RevisionOrigin{Command: "up", By: "dev@laptop"}, Phase: api.RevisionFailed, Failures: "web", Objects: 2},
	}})
	return s
}

// drawings are all views in all of their states.
var drawings = []drawing{
	{name: "main"},
	{name: "main-starting", scene: starting},
	{name: "main-evaluating", scene: evaluating},
	{name: "main-empty", scene: empty},
	{name: "main-failing", scene: hudtest.Trouble},
	{name: "main-failing-by-status", scene: hudtest.Trouble, keys: ">", play: func(d *driver) { d.after(messageTime + time.Second) }},
	{name: "main-story", scene: hudtest.Story},
	{name: "main-unknown", scene: silent},
	{name: "main-clusters", scene: hudtest.Several},
	{name: "main-clusters-away", scene: several},
	{name: "main-paused", scene: paused},
	{name: "main-drift", scene: hudtest.Drifted},
	{name: "main-drift-restore", scene: hudtest.Drifted, keys: "/api<Enter>U"},
	{name: "main-drift-cannot-accept", scene: hudtest.Drifted, keys: "/web<Enter>K"},
	{name: "main-tiltfile-failed", scene: broken},
	{name: "main-alerts-first", keys: ">", play: func(d *driver) { d.after(5*time.Second + phase) }},
	{name: "main-by-name", keys: ">>", play: func(d *driver) { d.after(messageTime + phase) }},
	{name: "main-by-change", keys: ">>>", play: func(d *driver) { d.after(messageTime + phase) }},
	{name: "main-folded", keys: "j<Left>"},
	{name: "main-filtered", keys: "/is:failing<Enter>"},
	{name: "main-nothing-matches", keys: "/zzz<Enter>"},
	{name: "main-notices", play: func(d *driver) {
		d.notices(view.Notice{Text: "cluster does not answer", Cause: "dial tcp 10.0.0.1:6443: i/o timeout", Mend: "check the network or start the cluster", Tone: view.Bad})
	}},
	{name: "main-message", keys: "<Tab>o"},
	{name: "main-read-only", options: func(o *Options) { o.ReadOnly, o.Ask, o.Leave = true, nil, "shop" }},
	{name: "main-attached", options: func(o *Options) { o.Leave = "shop" }},
	{name: "main-far", play: func(d *driver) { d.box("dev@box") }, options: func(o *Options) { o.Leave = "shop" }},
	{name: "main-far-long", scene: hudtest.Several, play: func(d *driver) { d.box("developer@build-17.eu-west.example.com:2222") }, options: func(o *Options) { o.Leave = "shop" }},
	{name: "main-far-read-only", play: func(d *driver) { d.box("dev@box") }, options: func(o *Options) { o.ReadOnly, o.Ask, o.Leave = true, nil, "shop" }},
	{name: "main-far-starting", scene: starting, play: func(d *driver) { d.box("box") }, options: func(o *Options) { o.Leave = "shop" }},
	{name: "main-past", options: func(o *Options) { o.Past, o.Ask = true, nil }},
	{name: "main-stopping", keys: "<Ctrl-C>"},
	{name: "main-beside-others", options: func(o *Options) {
		o.Beside = Beside{Others: func() []model.ManifestName { return []model.ManifestName{"web"} }, Moved: func(model.ManifestName) {}}
	}},
	{name: "marked", keys: "jj  "},
	{name: "log-focus", keys: "<Tab>kk"},
	{name: "log-one", keys: "jjja"},
	{name: "log-group", keys: "ja"},
	{name: "log-empty", scene: empty, keys: "a"},
	{name: "log-build", keys: "2", play: after},
	{name: "log-runtime", keys: "3", play: after},
	{name: "log-warnings", keys: "L", play: after},
	{name: "log-errors", keys: "LL", play: after},
	{name: "log-details", keys: "LLL", play: after},
	{name: "log-filter", keys: "<Tab>/level:warn /declared|host/<Enter>", play: after},
	{name: "log-nothing-matches", keys: "<Tab>/zzz<Enter>", play: after},
	{name: "log-find", keys: "fchanged<Enter>", play: after},
	{name: "log-not-found", keys: "fzzz<Enter>", play: after},
	{name: "log-zoomed", keys: "<Tab>z"},
	{name: "table-zoomed", keys: "z"},
	{name: "log-full", keys: "x"},
	{name: "log-short", keys: "xx"},
	{name: "log-below", options: func(o *Options) { o.Layout.Side = int(sideBelow) }},
	{name: "log-beside", options: func(o *Options) { o.Layout.Side = int(sideBeside) }},
	{name: "log-selecting", keys: "<Tab>kvkk"},
	{name: "log-cut", keys: "<Tab>W", play: jsonLines},
	{name: "log-without-time", keys: "<Tab>i", play: after},
	{name: "log-time-ago", keys: "<Tab>ii", play: after},
	{name: "log-json", play: jsonLines},
	{name: "log-json-columns", keys: "J", play: jsonLines},
	{name: "log-json-raw", keys: "JJ", play: jsonLines},
	{name: "log-repeats", keys: "F", play: jsonLines},
	{name: "log-line-opened", keys: "<Tab>", play: func(d *driver) { jsonLines(d); d.press("kk<Enter>"); after(d) }},
	{name: "log-marked-line", keys: "<Tab>k ", play: after},
	{name: "prompt", keys: "<Tab>/level:loud"},
	{name: "prompt-filter", keys: "/wor"},
	{name: "prompt-find", keys: "f/timeout|refused/"},
	{name: "prompt-save", keys: "s"},
	{name: "prompt-file", keys: "/api<Enter>ww"},
	{name: "prompt-arguments", keys: "A"},
	{name: "forward-choices", keys: "/api<Enter>p<End><Enter>"},
	{name: "card", keys: "e"},
	{name: "card-of-what-is-waited-for", scene: hudtest.Trouble, keys: "/last<Enter>e"},
	{name: "card-of-a-chain", scene: hudtest.Chain, keys: "e", play: after},
	{name: "main-chain", scene: hudtest.Chain},
	{name: "card-tiltfile", scene: broken, keys: "e"},
	{name: "card-gone", play: func(d *driver) { d.press("e"); d.cards(manyRows(5)); d.after(phase) }},
	{name: "details-updates", keys: "jj<Enter>"},
	{name: "details-updates-unfolded", scene: hudtest.Story, keys: "/worker<Enter><Enter>", play: func(d *driver) { d.press("jj<Enter>") }},
	{name: "details-clusters", scene: several, keys: "/web<Enter><Enter>"},
	{name: "details-pods", keys: "jj<Enter>2"},
	{name: "details-events", scene: hudtest.Story, keys: "/worker<Enter><Enter>3"},
	{name: "details-objects-drift", scene: hudtest.Drifted, keys: "/api<Enter><Enter>4"},
	{name: "details-objects", scene: hudtest.Story, keys: "/worker<Enter><Enter>4"},
	{name: "details-definition", scene: hudtest.Story, keys: "/worker<Enter><Enter>5"},
	{name: "details-graph", keys: "jj<Enter>6"},
	{name: "details-tiltfile", keys: "<Enter>"},
	{name: "details-tiltfile-files", keys: "<Enter>2"},
	{name: "details-tiltfile-warnings", scene: hudtest.Story, keys: "<Enter>3"},
	{name: "details-tiltfile-arguments", keys: "<Enter>4"},
	{name: "details-tiltfile-failed", scene: broken, keys: "<Enter>"},
	{name: "details-disabled", keys: "/loadtest<Enter><Enter>"},
	{name: "details-local", keys: "/docs<Enter><Enter>2"},
	{name: "details-gone", play: func(d *driver) {
		d.cards(manyRows(3))
		d.press("<Enter>")
		d.after(phase)
	}},
	{name: "why", keys: "/e2e<Enter>w"},
	{name: "why-failing", keys: "/mailer<Enter>w"},
	{name: "why-well", keys: "/api<Enter>w"},
	{name: "why-file", scene: hudtest.Story, keys: "/worker<Enter>wwworker/src/job.go<Enter>"},
	{name: "why-file-that-falls-back", scene: hudtest.Story, keys: "/worker<Enter>wwworker/go.mod<Enter>"},
	{name: "why-file-of-nobody", keys: "/api<Enter>wwREADME.md<Enter>"},
	{name: "help", keys: "?"},
	{name: "palette", keys: ":log"},
	{name: "palette-nothing", keys: ":zzz"},
	{name: "jump", keys: "<Ctrl-P>"},
	{name: "endpoints", keys: "/api<Enter>b"},
	{name: "buttons", keys: "/api<Enter>u"},
	{name: "form", keys: "/api<Enter>useed<Enter><Tab><Right>"},
	{name: "forwards", keys: "/api<Enter>p"},
	{name: "pending", keys: "P"},
	{name: "pending-paused", scene: paused, keys: "P"},
	{name: "pending-plan", scene: asking, keys: "P", options: planned},
	{name: "revisions", keys: "B"},
	{name: "revisions-clusters", keys: "B", scene: revisedTwice},
	{name: "revision-elsewhere", keys: "Bjjjjjjjjjjjj<Enter>", play: after, scene: revisedTwice, options: compared},
	{name: "revision", keys: "Bj<Enter>", play: after, options: compared},
	{name: "confirm", keys: "/api<Enter>d"},
	{name: "notices", play: func(d *driver) {
		d.notices(view.Notice{Text: "cluster does not answer", Summary: "the cluster kind-dev does not answer", Cause: "dial tcp 10.0.0.1:6443: i/o timeout", Mend: "check the network or start the cluster", Tone: view.Bad})
		d.press("!")
	}},
	{name: "object", scene: hudtest.Story, keys: "/worker<Enter><Enter>4<Enter>", play: after, options: func(o *Options) {
		o.Object = func(_ context.Context, o model.AppliedObject) (string, error) {
			return "apiVersion: v1\nkind: " + o.Kind + "\nmetadata:\n  name: " + o.Name + "\n", nil
		}
	}},
}

// causesOfCards are the resources of hudtest.Trouble that have a card of their own.
var causesOfCards = []string{"compile", "deploy", "chart", "crash", "memory", "exit-0", "command", "liveness", "pull", "secret", "quota", "room", "probe", "port", "serve"}

// jsonLines writes lines with fields, long ones and repeated ones.
func jsonLines(d *driver) {
	for i := range 3 {
		d.write("api", fmt.Sprintf(`{"time":"2026-11-20T12:40:5%dZ","level":"warn","msg":"slow answer","ms":%d,"path":"/v1/carts/%d","caller":"cart/store.go:41"}`, i, 800+i, i))
	}
	for range 40 {
		d.write("api", "GET /healthz 200")
	}
	d.write("web", "a line that is long: "+strings.Repeat("and goes on ", 20))
	after(d)
}

// TestViewsAtSizes draws every view in every state at every size, with -short at one. A layer, a tab, an aspect of a card, a status or a mode that no drawing shows
// fails the test.
func TestViewsAtSizes(t *testing.T) {
	all := drawings
	for _, name := range causesOfCards {
		all = append(all, drawing{name: "card-" + name, scene: hudtest.Trouble, keys: "/" + name + "<Enter>e"})
	}
	shown := map[string]bool{}
	for i, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			sizes := sizes
			if testing.Short() {
				n := i % len(sizes)
				sizes = sizes[n : n+1]
			}
			for _, size := range sizes {
				name := fmt.Sprintf("views/%s-%dx%d", tt.name, size[0], size[1])
				playAt(t, newTerminal("UTF-8", size[0], size[1]), tt.snapshot(t), func(t *testing.T, d *driver) {
					if d.silent {
						hudtest.TroubleLogs(d.logs)
						d.after(phase)
					}
					d.press(tt.keys)
					if tt.play != nil {
						tt.play(d)
					}
					d.after(2 * frameTime) // text that is read away from the drawing has arrived
					d.golden(name)
					for i, l := range strings.Split(d.text(), "\n") {
						if n := runesWidth([]rune(l)); n > size[0] {
							t.Errorf("line %d is %d columns wide", i, n)
						}
					}
				}, func(d *driver, o *Options) {
					d.silent = tt.trouble()
					o.drew = func(u *ui) {
						for _, s := range states(u) {
							shown[s] = true
						}
					}
					if tt.options != nil {
						tt.options(o)
					}
				})
			}
		})
	}
	files, err := filepath.Glob("testdata/views/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, _ := strings.CutSuffix(filepath.Base(f), ".txt")
		name = name[:strings.LastIndex(name, "-")]
		if !strings.HasPrefix(name, "beside") && !slices.ContainsFunc(all, func(d drawing) bool { return d.name == name }) {
			t.Errorf("nothing draws %s", f)
		}
	}
	for _, want := range statesThatExist(t) {
		if !shown[want] {
			t.Errorf("no drawing shows %s", want)
		}
	}
}

// trouble reports whether a drawing shows hudtest.Trouble, which has logs of its own.
func (dr drawing) trouble() bool {
	return strings.HasPrefix(dr.name, "main-failing") || strings.HasPrefix(dr.name, "card-")
}

func (dr drawing) snapshot(t *testing.T) store.View {
	if dr.scene == nil {
		return shop(t)
	}
	return dr.scene().View(t.Context())
}

// states names the states that a screen is in.
func states(u *ui) []string {
	out := []string{fmt.Sprintf("layer %T", u.top())}
	add := func(what string, n any) { out = append(out, fmt.Sprintf("%s %d", what, n)) }
	switch l := u.top().(type) {
	case *detailsView:
		if l.tab < len(l.content.Tabs) {
			add("tab", l.content.Tabs[l.tab].Kind)
		}
	case *cardView:
		if c := u.card(); c != nil {
			add("aspect", c.Aspect)
			add("log part", c.Part)
		}
	}
	add("focus", slices.Index(focuses, u.main.focus))
	add("scope", u.main.scope)
	add("log size", u.main.size)
	add("side", u.main.side)
	add("source", u.log.source)
	add("level", u.log.level)
	add("time", u.log.shape.time)
	add("fields", u.log.shape.fields)
	add("order", u.table.order)
	for _, r := range u.frame.View.Rows {
		out = append(out, "status "+string(r.Status))
		for _, p := range r.Ports {
			out = append(out, "port "+string(p.State))
		}
	}
	return out
}

var focuses = []focus{{}, {inLog: true}, {alone: true}, {inLog: true, alone: true}}

// statesThatExist names the states that a screen can be in: the types of layers, and the values of enumerations.
func statesThatExist(t *testing.T) []string {
	var out []string
	for _, e := range []struct {
		what string
		n    int
	}{
		{"tab", int(view.TabArguments) + 1}, {"aspect", int(view.AspectStuck) + 1}, {"log part", int(view.ErrorsOfLastStep) + 1}, {"focus", len(focuses)}, {"scope", int(selectedLog) + 1},
		{"log size", int(logSizes)}, {"side", int(sides)}, {"source", int(runtimeLog) + 1}, {"level", len(levels)}, {"time", int(timeModes)}, {"fields", int(fieldModes)},
		{"order", len(view.Orders())},
	} {
		for i := range e.n {
			out = append(out, fmt.Sprintf("%s %d", e.what, i))
		}
	}
	for s := range glyphs {
		out = append(out, "status "+string(s))
	}
	for _, s := range []status.PortState{status.PortWaiting, status.PortReady, status.PortFailed, status.PortUnknown} {
		out = append(out, "port "+string(s))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "covers" && fn.Recv != nil {
				if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
					out = append(out, fmt.Sprintf("layer *screen.%s", star.X))
				}
			}
		}
	}
	return out
}

// notices replaces the notices of the view.
func (d *driver) notices(notices ...view.Notice) {
	d.amend(func(v *view.View) { v.Notices = notices })
}

// box makes the session one of another machine.
func (d *driver) box(name string) { d.amend(func(v *view.View) { v.Header.Box = name }) }

// amend changes all views from now on.
func (d *driver) amend(change func(*view.View)) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		change(&f.View)
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second + phase)
}
