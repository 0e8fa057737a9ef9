package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// callsTilt is a project with an extension that calls tilt wherever a Tiltfile can run a command. Each call adds a line to the
// file calls: its place, and the name of the program that answers.
const callsTilt = `
-- Tiltfile --
load('./ext/Tiltfile', 'calls')
calls('shop')
-- ext/Tiltfile --
def calls(name):
    def call(place):
        return 'echo ' + place + ' $(tilt version | cut -d" " -f1) >> ' + os.path.abspath('calls')
    local(call('local'))
    local_resource(name, call('cmd'), serve_cmd=call('serve') + '; echo serves; exec sleep infinity', down_cmd=call('down'))
    local_resource(name + '-names', 'tilt get uiresource ' + name + ' -o name && tilt trigger ' + name + '-manual',
        resource_deps=[name], auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
    local_resource(name + '-manual', 'echo triggered by the extension', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
    k8s_custom_deploy(name + '-settings', deps=[],
        apply_cmd=call('apply') + '; kubectl apply -o yaml -f settings.yaml', delete_cmd=call('delete') + '; kubectl delete -f settings.yaml')
-- settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
`

// calls returns the places whose commands have called tilt since the last time, in order.
func (p *project) calls() string {
	p.t.Helper()
	path := filepath.Join(p.dir, "calls")
	b, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		p.t.Fatal(err)
	}
	var places []string
	for line := range strings.Lines(string(b)) {
		place, by, _ := strings.Cut(strings.TrimSpace(line), " ")
		if by != "hone" {
			p.t.Errorf("%s: %q answered to the name tilt", place, by)
		}
		places = append(places, place)
	}
	return strings.Join(places, " ")
}

// TestCommandsThatCallTilt finds hone under the name tilt in every command of a Tiltfile, whichever command of hone runs it.
func TestCommandsThatCallTilt(t *testing.T) {
	t.Parallel()
	p := newProject(t, callsTilt)
	for _, verb := range []string{"tiltfile", "preview"} {
		if out, code := p.run(verb); code != 0 {
			t.Fatalf("%s: code %d\n%s", verb, code, out)
		}
		if got := p.calls(); got != "local" {
			t.Errorf("%s ran %s", verb, got)
		}
	}
	s := p.up()
	s.ready("shop", "shop-settings")
	s.says(`│ serves$`)
	if got := strings.Fields(p.calls()); len(got) != 4 {
		t.Errorf("up ran %s", got)
	}
	if out, code := p.run("trigger", "shop-names"); code != 0 {
		t.Fatalf("trigger: code %d\n%s", code, out)
	}
	s.says(`uiresource.tilt.dev/shop$`)
	s.says(`triggered by the extension$`)
	s.becomes("shop-manual", "ok", ready)
	s.stop()
	if out, code := p.run("down"); code != 0 {
		t.Fatalf("down: code %d\n%s", code, out)
	}
	if got := p.calls(); got != "local delete down" && got != "local down delete" {
		t.Errorf("down ran %s", got)
	}
}
