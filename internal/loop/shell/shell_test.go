package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// pod is a ready pod of resource a with containers, as changed by change.
func pod(name string, age time.Duration, change func(*state.Pod), containers ...model.Container) state.PodChanged {
	p := statetest.Pod("a", name, "", "")
	p.Pod.CreatedAt = statetest.Epoch.Add(-age)
	p.Pod.Containers = nil
	for _, c := range containers {
		c.ID = name + "/" + c.Name
		if c.State == "" {
			c.State = model.ContainerRunning
		}
		if c.Init {
			p.Pod.InitContainers = append(p.Pod.InitContainers, c)
		} else {
			p.Pod.Containers = append(p.Pod.Containers, c)
		}
	}
	if change != nil {
		change(&p.Pod)
	}
	return p
}

func box(name, image string) model.Container { return model.Container{Name: name, Image: image} }

// TestContainers names the container that a shell runs in, best first.
func TestContainers(t *testing.T) {
	live, built := statetest.K8s("a", statetest.Image("a")), statetest.K8s("a", statetest.Image("a"))
	built.Images[0].LiveUpdate = model.LiveUpdate{}
	proxy, app := box("proxy", "proxy:3"), box("app", "a:1")
	waiting := box("app", "a:1")
	waiting.State = model.ContainerWaiting
	sidecar := model.Container{Name: "mesh", Image: "mesh:1", Init: true, Sidecar: true}
	setup := model.Container{Name: "setup", Image: "setup:1", Init: true}
	ended := setup
	ended.State = model.ContainerTerminated
	old := func(p *state.Pod) { p.Current = false }
	unready := func(p *state.Pod) { p.Ready = false }
	leaving := func(p *state.Pod) { p.Deleting = true }
	for _, tc := range []struct {
		name     string
		manifest model.Manifest
		pods     []store.Action
		want     string
	}{
		{"the only one", live, []store.Action{pod("p", 0, nil, app)}, "p/app"},
		{"that of live updates", live, []store.Action{pod("p", 0, nil, proxy, app)}, "p/app p/proxy"},
		{"live updates win over the annotation", live, []store.Action{pod("p", 0, func(p *state.Pod) { p.DefaultContainer = "proxy" }, proxy, app)}, "p/app p/proxy"},
		{"the annotation", built, []store.Action{pod("p", 0, func(p *state.Pod) { p.DefaultContainer = "proxy" }, app, proxy)}, "p/proxy p/app"},
		{"the image that is built", built, []store.Action{pod("p", 0, nil, proxy, app)}, "p/app p/proxy"},
		{"the first", statetest.K8s("a"), []store.Action{pod("p", 0, nil, proxy, app)}, "p/proxy p/app"},
		{"no sidecar, no init container", statetest.K8s("a"), []store.Action{pod("p", 0, nil, setup, sidecar, app)}, "p/app p/mesh p/setup"},
		{"live updates to a sidecar", live, []store.Action{pod("p", 0, nil, model.Container{Name: "mesh", Image: "a:1", Init: true, Sidecar: true}, proxy)}, "p/mesh p/proxy"},
		{"an init container that has ended", statetest.K8s("a"), []store.Action{pod("p", 0, nil, ended, app)}, "p/app"},
		{"an init container while the pod starts", statetest.K8s("a"), []store.Action{pod("p", 0, unready, setup, waiting)}, "p/setup"},
		{"the newest pod", live, []store.Action{pod("p", time.Hour, nil, app), pod("q", time.Minute, nil, app)}, "q/app p/app"},
		{"the newest that is ready", live, []store.Action{pod("p", time.Hour, nil, app), pod("q", time.Minute, nil, app), pod("r", time.Second, unready, app)}, "q/app p/app r/app"},
		{"of the newest deploy", live, []store.Action{pod("p", time.Minute, unready, app), pod("q", time.Second, old, app)}, "p/app q/app"},
		{"an old one, until the new one runs", live, []store.Action{pod("p", time.Minute, old, app), pod("q", time.Second, unready, waiting)}, "p/app"},
		{"none that is being deleted", live, []store.Action{pod("p", time.Minute, nil, app), pod("q", time.Second, leaving, app)}, "p/app"},
		{"none", live, nil, "no pod of a is running: there is none; hone describe uiresource a"},
		{"one that crashes", live, []store.Action{pod("p", time.Minute, func(p *state.Pod) { p.Status = "CrashLoopBackOff" }, waiting)},
			"no container of a is running: p is CrashLoopBackOff; hone logs a shows why; kubectl debug -n default p"},
		{"one that has ended", live, []store.Action{pod("p", time.Minute, func(p *state.Pod) { p.Phase, p.Status = "Succeeded", "Completed" }, waiting)},
			"no container of a is running: p is Completed; hone logs a shows why"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := statetest.New(statetest.Session, statetest.Loaded(tc.manifest)).Deployed("a").Then(tc.pods...).View()
			p, err := Of(v, "a")
			if got := text(p, err); !same(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// same reports whether got is want, or begins with it if it is a refusal.
func same(got, want string) bool {
	return got == want || strings.Contains(want, " is ") && strings.HasPrefix(got, want)
}

// text is a place, or a refusal with its mend.
func text(p Place, err error) string {
	if err != nil {
		return strings.ReplaceAll(problem.Text(err), "\n  ", "; ")
	}
	if p.Folder != nil {
		return fmt.Sprint(p.Folder.Dir, p.Folder.Env)
	}
	var all []string
	for _, c := range p.Containers {
		all = append(all, c.Pod+"/"+c.Name)
	}
	return strings.Join(all, " ")
}

// TestPlaces asks for resources of all kinds, by name and without one, and narrows the choice.
func TestPlaces(t *testing.T) {
	served := statetest.Local("docs")
	served.Local.Serve = model.Cmd{Argv: []string{"serve"}, Dir: "/src/docs", Env: []string{"PORT=4000"}}
	gen := statetest.Local("gen")
	gen.Local.Update.Dir = "/src/gen"
	other := pod("q", 0, nil, box("app", "b:1"))
	other.Pod.Resource = "b"
	db := statetest.Pod("db", "shop-db-1", "c1", "db")
	db.Pod.Namespace, db.Pod.Engine = "", "running"
	all := []model.Manifest{statetest.K8s("a", statetest.Image("a")), statetest.K8s("b"), statetest.Compose("db"), served, gen, statetest.K8s("off")}
	shop := statetest.New(statetest.Session, statetest.Loaded(all...), state.ResourcesSwitched{Off: []model.ManifestName{"off"}}).Deployed("a").Then(
		pod("p", 0, nil, box("proxy", "proxy:3"), box("app", "a:1")), pod("p2", time.Hour, nil, box("app", "a:1"))).View()
	more := statetest.New(statetest.Session, statetest.Loaded(all...)).Then(pod("p", 0, nil, box("app", "a:1")), other, db).View()
	alone := statetest.New(statetest.Session, statetest.Loaded(gen)).View()
	for _, tc := range []struct {
		name                     string
		view                     store.View
		resource, pod, container string
		want                     string
		why                      intent.Reason
	}{
		{"the folder of a server", shop, "docs", "", "", "/src/docs[PORT=4000]", 0},
		{"the folder of an update", shop, "gen", "", "", "/src/gen[]", 0},
		{"the Tiltfile", shop, "(Tiltfile)", "", "", "/src[]", 0},
		{"a container in a folder", shop, "gen", "", "app", "gen has no containers", intent.Impossible},
		{"a service of Compose", more, "db", "", "", "shop-db-1/main", 0},
		{"a container", shop, "a", "", "proxy", "p/proxy", 0},
		{"a pod", shop, "a", "p2", "", "p2/app", 0},
		{"a container of several pods", shop, "a", "", "app", "p/app p2/app", 0},
		{"an unknown container", shop, "a", "", "ap", `no running container of a is called "ap"; did you mean app?`, intent.Unknown},
		{"an unknown pod", shop, "a", "web-1", "", `no running pod of a is called "web-1"; there are: p, p2`, intent.Unknown},
		{"not in that pod", shop, "a", "p2", "proxy", `no running container of a is called "proxy"; there are: app`, intent.Unknown},
		{"an unknown resource", shop, "aa", "", "", `no resource is called "aa"; did you mean a?`, intent.Unknown},
		{"a disabled resource", shop, "off", "", "", `resource "off" is disabled; enable it first: hone enable off`, intent.Impossible},
		{"the only one with containers", shop, "", "", "", "p/app p/proxy p2/app", 0},
		{"several with containers", more, "", "", "", "there are several resources: name one; there are: a, b, db", intent.Invalid},
		{"the only resource", alone, "", "", "", "/src/gen[]", 0},
		{"no resource", statetest.New(statetest.Session).View(), "", "", "", "the session has no resource", intent.Impossible},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Of(tc.view, tc.resource)
			if err == nil {
				p, err = p.In(tc.pod, tc.container)
			}
			if got := text(p, err); got != tc.want && (err == nil || !strings.HasPrefix(got, tc.want)) || intent.Why(err) != tc.why {
				t.Errorf("got  %s (%d)\nwant %s (%d)", got, intent.Why(err), tc.want, tc.why)
			}
		})
	}
}
