package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlanOfCommands deploys with commands, and takes them out of the Tiltfile: a plan shows the commands that run, and deploying
// it runs them. Beside a session that declares more, because of its arguments, none of its objects is deleted, and a preview says
// so.
func TestPlanOfCommands(t *testing.T) {
	t.Parallel()
	const without = "k8s_yaml('base.yaml')\n"
	const with = without + "local_resource('made', 'true', down_cmd='echo down >> log')\n" +
		"k8s_custom_deploy('chart', apply_cmd='echo apply >> log; kubectl apply -n $NS -o yaml -f app.yaml', delete_cmd='echo delete >> log; kubectl delete -n $NS -f app.yaml', deps=['app.yaml'])\n"
	const conf = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
	p := newProject(t, "-- Tiltfile --\n"+with+"-- base.yaml --\n"+fmt.Sprintf(conf, "base")+"-- app.yaml --\n"+fmt.Sprintf(conf, "app"))
	preview := func(code int, want ...string) {
		t.Helper()
		p.says(code, []string{"preview", "--exit-code", "--namespace", p.namespace}, want...)
	}
	ran := func(want string) {
		t.Helper()
		if got := slices.Sorted(strings.FieldsSeq(p.ran())); strings.Join(got, " ") != want { // neither needs the other
			t.Errorf("ran %q, want %q", got, want)
		}
	}
	p.deploys(0)
	preview(0, `\$ run  k8s_custom_deploy/chart +chart\n +runs echo apply`, `\$ run  local/made +made\n +runs true`, `: 2 to run, 1 unchanged\n`)
	p.write("app.yaml", fmt.Sprintf(conf, "app")+"data: {key: two}\n")
	preview(2, `changed since it last ran: runs echo apply`)
	ran("apply")

	p.write("Tiltfile", without)
	plan := filepath.Join(p.dir, "next.plan")
	p.says(0, []string{"preview", "-o", "plan=" + plan, "--namespace", p.namespace}, `- delete  k8s_custom_deploy/chart +chart\n +no longer declared: runs echo delete.*\n +what it has deployed: configmap/app\n`,
		`- delete  local/made`, `: 2 to delete, 1 unchanged\n`)
	p.says(0, []string{"deploy", plan, "--port", "0"})
	ran("apply delete down")
	p.absent("configmap/app")
	preview(0, `: 1 unchanged\n`)

	p.write("Tiltfile", "config.define_bool('more')\nif config.parse().get('more'):\n  k8s_yaml(blob('''"+fmt.Sprintf(conf, "more")+"'''))\n"+without)
	s := p.startAs(p.command("up", "--stream", "--port", fmt.Sprint(p.ports[3]), "--namespace", p.namespace, "--", "--more"))
	s.says(`more:configmap`)
	s.settled()
	preview(0, `· keep  configmap/more in .*\n +no longer declared; another running session of the project may need it\n`, `: 1 kept, 1 unchanged\n`)
	p.deploys(0)
	p.present([]string{"configmap/more"}, nil)
}
