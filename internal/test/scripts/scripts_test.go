package scripts

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestCluster runs scripts/cluster with a home of its own. The programs in bin come first: they record their calls.
func TestCluster(t *testing.T) {
	script, err := filepath.Abs("../../../scripts/cluster")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			bin := filepath.Join(env.WorkDir, "bin")
			env.Vars = append(env.Vars, "CLUSTER="+script, "CALLS="+filepath.Join(env.WorkDir, "calls"), "HOME="+env.WorkDir,
				"HONE_CLUSTER_DIR="+filepath.Join(env.WorkDir, "state"), "PATH="+bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return nil
		},
	})
}
