package screen

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestShell: S runs a shell in the only container, or in the folder, of the resource that the view shows, and asks where there are
// several. The screen is there again afterwards, and says why a shell has failed.
func TestShell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scene := hudtest.Shop()
		web := hudtest.Pod("web", 14*time.Second, true)
		web.Containers = append(web.Containers, model.Container{Name: "proxy", ID: "c-proxy", State: model.ContainerRunning})
		web.InitContainers = []model.Container{{Name: "mesh", ID: "c-mesh", Init: true, Sidecar: true, State: model.ContainerRunning}}
		scene.At(41*time.Minute, state.PodChanged{Pod: web})
		var ran [][3]string
		var fails error
		var term simulated
		d := start(t, scene.View(t.Context()), newTerminal("UTF-8", 120, 34), func(d *driver, o *Options) {
			term = d.term
			o.Programs.Shell = func(_ context.Context, resource, pod, container string) error {
				if !term.lent.Load() {
					t.Error("the screen has kept the terminal")
				}
				ran = append(ran, [3]string{resource, pod, container})
				return fails
			}
		})
		runs := func(keys string, want ...[3]string) {
			t.Helper()
			ran = nil
			d.press(keys)
			d.after(time.Second)
			if diff := cmp.Diff(want, ran); diff != "" {
				t.Errorf("%s (-want +got):\n%s", keys, diff)
			}
			if term.lent.Load() {
				t.Errorf("%s: the terminal was not taken back", keys)
			}
		}
		api := [3]string{"api", "api-7c9d-x2v1", "main"}
		runs("/api<Enter>S", api)
		d.shows("NAME", "? keys")
		runs("<Enter>S", api) // from the details
		runs("<Esc>:shell<Enter>", api)
		runs("<Esc>/docs<Enter>S", [3]string{"docs", "", ""})
		runs("<Esc>g<Esc>S", [3]string{"(Tiltfile)", "", ""})
		runs("/web<Enter>S")
		d.shows("shell of web", "main", "proxy", "mesh", "sidecar", "3 of 3")
		runs("<Enter>", [3]string{"web", "web-7c9d-x2v1", "main"})
		runs("Smesh<Enter>", [3]string{"web", "web-7c9d-x2v1", "mesh"})
		runs("S<Esc>")
		runs("<Esc>/mailer<Enter>S")
		d.shows("no container of mailer is running: mailer-7c9d-x2v1 is CrashLoopBackOff; hone logs mailer shows why")
		runs("eS") // from the card
		d.shows("no container of mailer is running")
		runs("<Esc><Esc>/loadtest<Enter>S")
		d.shows(`resource "loadtest" is disabled; enable it first`)
		fails = problem.New("container main of pod api has no shell", "kubectl debug")
		runs("<Esc>/api<Enter>S", api)
		d.shows("container main of pod api has no shell; kubectl debug", "NAME")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestNoShellHere: without a terminal to give away, the key names the command to run; a screen that only shows has no such key.
func TestNoShellHere(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>S")
		d.shows("a shell cannot be used here; run: hone shell api")
	})
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>S:shell")
		d.shows("nothing matches")
	}, func(_ *driver, o *Options) {
		o.Ask = nil
		o.Programs.Shell = func(context.Context, string, string, string) error {
			t.Error("a shell was run")
			return nil
		}
	})
}
