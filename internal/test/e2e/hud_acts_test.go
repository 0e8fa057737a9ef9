package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// acting is a project with something for each key that acts: an image, a process, a button with inputs, arguments, endpoints.
var acting = strings.Replace(web, "k8s_resource('web', port_forwards='$PORT0:80')", `k8s_resource('web', port_forwards='$PORT0:80', links=[link('http://docs.example/web', 'docs')])
config.define_string('color')
args = config.parse()
print('the color is ' + args.get('color', 'plain'))
local_resource('server', 'echo prepared', serve_cmd='echo serves; exec sleep 100000')
local_resource('other', 'echo other has run', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
v1alpha1.ui_button(name='greet', text='greet', requires_confirmation=True, inputs=[
        v1alpha1.ui_input_spec(name='NAME', text=v1alpha1.ui_text_input_spec(default_value='nobody')),
        v1alpha1.ui_input_spec(name='DRY', bool=v1alpha1.ui_bool_input_spec(true_string='--dry', false_string='--wet')),
        v1alpha1.ui_input_spec(name='SIZE', choice=v1alpha1.ui_choice_input_spec(['small', 'large'])),
        v1alpha1.ui_input_spec(name='ORIGIN', hidden=v1alpha1.ui_hidden_input_spec('screen')),
    ], location=v1alpha1.ui_component_location(component_id='server', component_type='Resource'))
v1alpha1.cmd(name='button:greet', args=['sh', '-c', 'echo "greets <$NAME> <$DRY> <$SIZE> <$ORIGIN>"'],
    start_on=v1alpha1.start_on_spec(ui_buttons=['greet']))`, 1)

// inTerminal returns the session that runs in a terminal, for its API.
func (p *project) inTerminal() *session {
	return &session{p: p, port: p.ports[3], out: &output{}, done: make(chan struct{})}
}

// browser puts a program that opens web pages into the shell of a terminal, and returns the file to which it writes the addresses.
func (term *terminal) browser() string {
	term.t.Helper()
	bin := term.t.TempDir()
	opened := filepath.Join(bin, "opened")
	script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >>%s\n", opened)
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o755); err != nil {
		term.t.Fatal(err)
	}
	term.keys("export PATH="+bin+":$PATH; clear", "Enter")
	return opened
}

// TestHUDActs uses the keys for every action of a screen on a session, and checks the effects: on the screen, in the session, in
// the cluster, at the ports.
func TestHUDActs(t *testing.T) {
	t.Parallel()
	p := newProject(t, acting)
	term := p.terminal(120, 40)
	opened := term.browser()
	p.hud(term)
	s := p.inTerminal()
	term.shows(`✔ web +ok  image .*running 1/1 +\d+ ✔`)
	term.shows(`✔ server `)
	builds := func(name string) int {
		r, err := s.resource(name)
		if err != nil || len(r.BuildHistory) == 0 {
			return 0
		}
		return r.BuildHistory[0].Serial
	}

	// Trigger, and rebuild from scratch.
	term.goes("server")
	before := builds("server")
	term.keys("t")
	term.shows(`server will be updated`)
	s.builds("server", before+1)
	term.goes("web")
	pod, before := current(t, s, "web").Name, builds("web")
	term.keys("T")
	term.shows(`web will be rebuilt from scratch`)
	s.builds("web", before+1)
	s.ready("web")
	s.becomes("web", "in another pod", func(r api.Resource) bool { return ready(r) && len(r.Pods) == 1 && r.Pods[0].Name != pod })

	// Restart a process, and a pod, which asks. A resource that cannot be restarted in place suggests another way.
	first := s.becomes("server", "serving", func(r api.Resource) bool { return ready(r) && r.Process != nil && r.Process.PID != 0 }).Process.PID
	term.goes("server")
	term.keys("r")
	term.shows(`server will be restarted`)
	s.becomes("server", "another process", func(r api.Resource) bool {
		return ready(r) && r.Process != nil && r.Process.PID != 0 && r.Process.PID != first
	})
	term.goes("web")
	term.keys("r")
	term.shows(`replace its pods instead`)
	pod = current(t, s, "web").Name
	term.keys("R")
	term.shows(`restart the pods of web\?`)
	term.keys("n")
	term.hides("restart the pods of web?")
	term.keys("R")
	term.shows(`restart the pods of web\?`)
	term.keys("y")
	s.becomes("web", "in another pod", func(r api.Resource) bool { return ready(r) && len(r.Pods) == 1 && r.Pods[0].Name != pod })

	// Disable and enable, with a question where something is lost.
	term.keys("d")
	term.shows(`disable web\?`)
	term.keys("y")
	term.shows(`○ web +disabled`)
	p.gone("apps", "v1", "deployments", "web")
	term.keys("d")
	term.shows(`✔ web +ok  .*running 1/1 +\d+ ✔`)
	s.serves(p.ports[0], "/", "one")

	// On request only: a save is pending, and can be looked at, until it is triggered.
	term.keys("m")
	term.shows(`web: updated on request only`)
	p.write("site/index.html", "two")
	term.keys("P")
	term.shows(`site/index\.html`)
	term.keys("Escape")
	term.shows(`NAME .*UPDATE`)
	if got, err := fetch(p.ports[0], "/"); got != "one" {
		t.Errorf("a resource that is updated on request serves %q, %v", got, err)
	}
	term.keys("t")
	s.serves(p.ports[0], "/", "two")
	term.keys("m")
	term.shows(`web: updated when (its )?files change`)

	// Everything pauses, and continues.
	term.keys("Z")
	term.shows(`paused`)
	p.write("site/index.html", "three")
	term.shows(`web +.*paused`)
	if got, err := fetch(p.ports[0], "/"); got != "two" {
		t.Errorf("a paused session serves %q, %v", got, err)
	}
	term.keys("Z")
	s.serves(p.ports[0], "/", "three")
	term.hides("paused")

	// Marked ones together.
	term.goes("server")
	n, m := builds("server"), builds("other")
	term.keys("Space")
	term.goes("other")
	term.keys("Space")
	term.keys("t")
	term.shows(`(server and other|other and server) will be updated`)
	s.builds("server", n+1)
	s.builds("other", m+1)
	term.keys("Escape")
	term.hides("◆")

	// A button with inputs of every kind, which asks.
	term.goes("server")
	term.keys("u")
	term.shows(`greet`)
	term.keys("Enter")
	term.shows(`NAME`)
	term.keys("C-a", "C-k", "Jane D", "Tab", "Space", "Tab", "Right", "Enter")
	term.shows(`Enter again runs greet`)
	term.keys("Enter")
	term.shows(`greets <Jane D> <--dry> <large> <screen>`)

	// Arguments of the Tiltfile.
	term.keys("A")
	term.shows(`arguments`)
	term.keys("-l", "--", "--color red")
	term.keys("Enter")
	term.shows(`the color is red`)

	// Endpoints, with a choice, and the web page.
	term.goes("web")
	term.keys("b")
	term.shows(`docs`)
	term.keys("docs", "Enter")
	browsed(t, opened, "http://docs.example/web")
	term.keys("b")
	term.shows(`docs`)
	term.keys(fmt.Sprint(p.ports[0]), "Enter")
	browsed(t, opened, fmt.Sprintf("http://localhost:%d/", p.ports[0]))
	term.keys("O")
	browsed(t, opened, fmt.Sprintf("http://127.0.0.1:%d/?ticket=", p.ports[3]))

	// Port forwards: one more, moved, removed.
	term.keys("p")
	term.shows(`add`)
	term.keys("add", "Enter")
	term.keys(fmt.Sprintf("%d:80", p.ports[1]), "Enter")
	s.serves(p.ports[1], "/", "three")
	term.keys("p")
	term.shows(fmt.Sprintf(`%d.*ready`, p.ports[1]))
	term.keys(fmt.Sprint(p.ports[1]), "Enter")
	term.shows(`change`)
	term.keys("change", "Enter")
	term.keys(fmt.Sprint(p.ports[2]), "Enter")
	s.serves(p.ports[2], "/", "three")
	closed(t, p.ports[1])
	term.keys("p")
	term.shows(fmt.Sprintf(`%d.*ready`, p.ports[2]))
	term.keys(fmt.Sprint(p.ports[2]), "Enter")
	term.shows(`remove`)
	term.keys("remove", "Enter")
	closed(t, p.ports[2])
	s.serves(p.ports[0], "/", "three")

	// A snapshot, from the palette.
	term.keys(":")
	term.shows(`commands`)
	term.keys("snapshot", "Enter")
	term.shows(`snapshot.*\.json`)

	term.quits()
}

// browsed waits until an address was opened that begins like the given one, and forgets it.
func browsed(t *testing.T, opened, want string) {
	t.Helper()
	k8stest.Eventually(t, want+" to be opened", func() error {
		got, err := os.ReadFile(opened)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(got), want) || strings.Count(string(got), "\n") != 1 {
			return fmt.Errorf("opened %q", got)
		}
		return os.Remove(opened)
	})
}

// closed waits until nothing listens at a port.
func closed(t *testing.T, port int) {
	t.Helper()
	k8stest.Eventually(t, fmt.Sprintf("port %d to be closed", port), func() error {
		if got, err := fetch(port, "/"); err == nil {
			return fmt.Errorf("it answers %q", got)
		}
		return nil
	})
}
