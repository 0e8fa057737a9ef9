package up

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
)

const pruneAll = "all"

// pruneFlags are the flags that determine which objects may be deleted because the Tiltfile no longer declares them.
type pruneFlags struct {
	which   string
	nothing bool
}

func (f *pruneFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.which, "prune", "", "all: delete what the Tiltfile no longer declares even if that is six objects or more, and more than half")
	_ = c.RegisterFlagCompletionFunc("prune", cobra.FixedCompletions([]string{pruneAll}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(&f.nothing, "no-prune", false, "delete no objects that the Tiltfile no longer declares; hone gc deletes them later")
}

// value returns the choice that the flags make.
func (f *pruneFlags) value() (buildanddeploy.Prune, error) {
	switch {
	case f.which != "" && f.which != pruneAll:
		return 0, problem.New(fmt.Sprintf("unknown --prune %q", f.which), "choose --prune=all or --no-prune, or leave both out")
	case f.which != "" && f.nothing:
		return 0, problem.New("--prune and --no-prune contradict each other", "leave one of them out")
	case f.nothing:
		return buildanddeploy.PruneNothing, nil
	case f.which == pruneAll:
		return buildanddeploy.PruneAll, nil
	}
	return buildanddeploy.PruneCarefully, nil
}
