package e2e

import (
	"strings"
	"testing"
)

// TestTwoMachines deploys one folder from two machines, which have states of their own: the second one is refused with the name of
// the first, and deletes none of its objects, until it uses the same name or takes over.
func TestTwoMachines(t *testing.T) {
	t.Parallel()
	one := newProject(t, configTiltfile)
	two := *one
	two.state = t.TempDir()
	ci := []string{"ci", "--namespace", one.namespace, "--port", "0"}
	one.says(0, ci)
	stays := one.untouched("configmap/conf")
	holder := one.object("", "v1", "configmaps", "conf").GetAnnotations()["hone.dev/holder"]
	if !strings.Contains(holder, "@") {
		t.Fatalf("held by %q", holder)
	}

	two.replace("conf.yaml", "key: mine", "key: ours")
	two.says(1, ci, "this project was deployed by "+holder, "HONE_HOLDER="+holder)
	two.says(1, []string{"preview", "--namespace", one.namespace}, "this project was deployed by "+holder)
	two.says(0, []string{"down", "--namespace", one.namespace}, "it was deployed by "+holder)
	stays()

	two.env = []string{"HONE_HOLDER=" + holder}
	two.says(0, ci)
	two.env = nil
	two.says(0, append(ci, "--adopt"), "was deployed by "+holder+". It is taken over, as you allow")
	one.says(1, ci, "this project was deployed by ")
	one.says(0, []string{"down", "--namespace", one.namespace}, "it was deployed by ")
	two.says(0, []string{"down", "--namespace", one.namespace}, "deleted conf")
	one.gone("", "v1", "configmaps", "conf")
}
