package e2e

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestConfirm runs a session that asks: it writes only changes to the cluster that the user has seen before, but updates running
// containers in place. The plan is confirmed on the screen, and from another terminal.
func TestConfirm(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_yaml('web.yaml')", "k8s_yaml(['web.yaml', 'conf.yaml'])\nk8s_resource(new_name='conf', objects=['conf'])")
	p.write("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: one}\n")
	term := p.terminal(120, 34)
	term.keys(fmt.Sprintf("%s up --confirm --namespace %s --port %d", binary, p.namespace, p.ports[3]), "Enter")
	s := p.inTerminal()

	// At first everything waits, and no object exists.
	term.shows(`◌ web +waits for you to confirm it`)
	term.shows(`2 updates wait for you +P shows what would be done`)
	p.absent("deployment/web")
	p.absent("configmap/conf")
	term.shows(`2 updates wait for you: hone confirm shows what would be done`) // in the log
	term.keys("P")
	term.shows(`^ +web +waits for you to confirm it`)
	term.shows(`\+ create +deployment/web in`)
	term.shows(`\+ create +configmap/conf in`)
	term.shows(`: 3 to create`)
	p.absent("deployment/web")
	term.keys("y")
	term.shows(`confirmed`)
	term.keys("Escape")
	term.shows(`✔ web +ok  image .*running 1/1 +\d+ ✔`)
	s.serves(p.ports[0], "/", "one")

	// A saved file runs in the container at once. One that needs an image waits.
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	pod := current(t, s, "web").Name
	p.write("conf/settings", "a=2\n")
	term.shows(`◌ web +waits for you to confirm it +settings`)

	// Another saved file does not wait for it, and a trigger does not agree to it.
	p.write("site/index.html", "three")
	s.serves(p.ports[0], "/", "three")
	p.says(0, []string{"trigger", "web", "--port", fmt.Sprint(s.port)}, `web waits for you to confirm it: hone confirm`)
	term.shows(`◌ web +waits for you to confirm it +settings`)

	// So do changes of objects, and their deletion.
	stays := p.untouched("configmap/conf")
	p.write("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: two}\n")
	term.shows(`◌ conf +waits for you to confirm it`)
	stays()
	if got := current(t, s, "web").Name; got != pod {
		t.Errorf("pod %s took the place of %s", got, pod)
	}
	p.says(0, []string{"confirm", "--yes", "--port", fmt.Sprint(s.port)}, `~ update +configmap/conf in`, `data\.key: one → two`, `goes on with web and conf|goes on with conf and web`)
	k8stest.Eventually(t, "the ConfigMap to change", func() error {
		if data, _ := p.object("", "v1", "configmaps", "conf").Object["data"].(map[string]any); data["key"] != "two" {
			return fmt.Errorf("it has %v", data)
		}
		return nil
	})
	term.shows(`✔ web +ok  image .*running 1/1 +\d+ ✔`)

	term.shows(`✔ conf`)
	p.replace("Tiltfile", "k8s_yaml(['web.yaml', 'conf.yaml'])\nk8s_resource(new_name='conf', objects=['conf'])", "k8s_yaml('web.yaml')")
	term.shows(`◌ conf +left the Tiltfile, waits for you to confirm its deletion`)
	stays = p.untouched("configmap/conf")
	term.keys("P")
	term.shows(`^ +conf +left the Tiltfile, waits for you to confirm its deletion`)
	term.shows(`- delete +configmap/conf in`)
	stays()
	term.keys("y")
	p.gone("", "v1", "configmaps", "conf")
	term.keys("Escape")
	term.hides("conf ")
	s.serves(p.ports[0], "/", "three")
	p.says(1, []string{"confirm", "--yes", "--port", fmt.Sprint(s.port)}, `nothing waits for you to confirm it`)
	term.quits()
}
