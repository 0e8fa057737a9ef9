package e2e

import (
	"strings"
	"testing"
)

// TestDownOfAnUnknownName passes unknown names to down, which reports that and deletes nothing. It deletes recorded
// resources by name, even if the Tiltfile no longer declares them, or is broken.
func TestDownOfAnUnknownName(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing)
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	refused := func(name, want string) {
		t.Helper()
		out, code := p.run("down", "--namespace", p.namespace, name)
		if code != 1 || !strings.Contains(out, want) || strings.Contains(out, "Nothing to delete") {
			t.Errorf("down %s: exit code %d\n%s", name, code, out)
		}
		p.object("apps", "v1", "deployments", "app")
	}
	refused("nope", "nope")
	p.replace("Tiltfile", "k8s_yaml('app.yaml')", "local_resource('other', 'true')")
	refused("appp", "appp")
	p.write("Tiltfile", "fail('boom')\n")
	refused("nope", "there is no record of nope")
	if out, code := p.run("down", "--namespace", p.namespace, "app"); code != 0 {
		t.Errorf("down of what is recorded: exit code %d\n%s", code, out)
	}
	p.gone("apps", "v1", "deployments", "app")
	refused = func(name, want string) {
		t.Helper()
		if out, code := p.run("down", "--namespace", p.namespace, name); code != 1 || !strings.Contains(out, want) {
			t.Errorf("down %s: exit code %d\n%s", name, code, out)
		}
	}
	refused("app", "there is no record of app")
}
