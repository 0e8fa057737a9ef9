package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// declaring returns a Tiltfile that declares a ConfigMap of each name, in a resource of that name, and one that is in none.
func declaring(value string, names ...string) string {
	var b strings.Builder
	for _, name := range append([]string{"loose"}, names...) {
		fmt.Fprintf(&b, "k8s_yaml(blob('''\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: %s}\n'''))\n", name, value)
	}
	for _, name := range names {
		fmt.Fprintf(&b, "k8s_resource(new_name='r%[1]s', objects=['%[1]s:configmap'])\n", name)
	}
	return b.String()
}

// TestPlanOfNames deploys one of several resources, with a plan, without one and with ci, when the Tiltfile no longer declares
// another one: a choice of resources changes only the objects that its preview shows. The next operation on all deletes the rest.
func TestPlanOfNames(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+declaring("one", "a", "b", "c")+"local_resource('made', 'true', down_cmd='touch taken-down')\n")
	in := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	values := func(want string) {
		t.Helper()
		var got []string
		for _, name := range []string{"loose", "a", "b", "c"} {
			if u := p.live("configmap/" + name); u != nil {
				got = append(got, fmt.Sprint(name, "=", u.Object["data"].(map[string]any)["key"]))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("the cluster has %s, want %s", s, want)
		}
	}
	takenDown := func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "taken-down"))
		return err == nil
	}
	p.says(0, in("ci", "--port", "0"))
	values("loose=one a=one b=one c=one")

	p.write("Tiltfile", declaring("two", "a", "b"))
	plan := filepath.Join(p.dir, "next.plan")
	p.says(0, in("preview", "ra", "-o", "plan="+plan), `~ update  configmap/loose in `, `~ update  configmap/a in `, `: 2 to update\n`)
	p.says(0, []string{"deploy", plan, "--port", "0"}, `: 2 to update\n`)
	values("loose=two a=two b=one c=one")

	p.write("Tiltfile", declaring("three", "a", "b"))
	p.says(0, in("deploy", "ra", "--yes", "--port", "0"), `: 2 to update\n`)
	values("loose=three a=three b=one c=one")
	p.write("Tiltfile", declaring("four", "a", "b"))
	p.says(0, in("ci", "ra", "--port", "0"))
	values("loose=four a=four b=one c=one")
	if takenDown() {
		t.Error("a choice of resources has run the down command of another one")
	}

	p.says(0, in("preview", "-o", "plan="+plan), `- delete  configmap/c in `, `- delete  local/made`, `: 1 to update, 2 to delete, 2 unchanged\n`)
	p.says(0, []string{"deploy", plan, "--port", "0"})
	values("loose=four a=four b=four")
	if !takenDown() {
		t.Error("the down command did not run")
	}
}
