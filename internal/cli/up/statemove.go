package up

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/ledger"
)

// lossyFlag is the flag that allows the loss of values in recorded commands.
const lossyFlag = "without-secrets"

func addWithoutSecrets(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, lossyFlag, false, "allow that arguments and variables of recorded commands are lost which this machine cannot decrypt")
}

func newStateMove(g *command.Global) *cobra.Command {
	var f flags.Project
	var lossy bool
	c := &cobra.Command{
		Use:   "move URL",
		Short: "Move the ledger to another place",
		Long: fmt.Sprintf(`Moves the ledger of the project with its history to the storage at URL, or to the folder of this machine where ledgers are by default:
"%s". hone docs state lists the storages. It copies everything, reads the copy, and then removes the original: if it is interrupted, one
of the two places has everything, and the same command finishes the move.

Afterwards the Tiltfile, --ledger or %s has to name the new place.

A project in several clusters has a ledger in each, and all of them move, unless --cluster chooses one: the place that the Tiltfile names is
for all. It moves none if a cluster does not answer.

It refuses to move while a session runs or another machine works on the project, and to a place that has a ledger of the project. Without
%s, values in recorded commands can be moved only by the machine that recorded them.`, opened.DefaultPlace, command.LedgerVariable, ledger.KeyVariable),
		Example: "  hone state move kube://shop-tools\n  hone state move --ledger kube://shop-tools " + opened.DefaultPlace,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedgers(cmd.Context(), g, &f, func(ctx context.Context, _ *opened.Project, in ledgers) error {
				return moveLedgers(ctx, g, in, args[0], lossy)
			})
		},
	}
	f.Add(c)
	f.AddCluster(c)
	addWithoutSecrets(c, &lossy)
	return c
}

func moveLedgers(ctx context.Context, g *command.Global, in ledgers, url string, lossy bool) error {
	if len(in.away) > 0 {
		return problem.Wrap(in.left, "nothing was moved: the ledgers of the project belong in one place, and "+words.All(opened.Names(in.away))+" does not answer",
			"try again when it does; or move the others one by one: hone state move --cluster "+in.open[0].Name()+" "+url).See("state")
	}
	for _, one := range in.open {
		guarded, release, err := one.alone(ctx, "state move")
		if err != nil {
			return err
		}
		defer release()
		ctx = guarded
	}
	log := g.Printer(g.Stdout, g.Stderr)
	moved := false
	for i, one := range in.open {
		optional := moved || i < len(in.open)-1
		place, err := one.move(ctx, url, lossy, optional)
		if err != nil {
			return err
		}
		if place == "" {
			continue
		}
		moved = true
		of := ""
		if in.several() {
			of = " of " + one.Title()
		}
		logstore.Infof(log, "Moved the ledger%s to %s.", of, place)
	}
	if url == opened.DefaultPlace {
		logstore.Infof(log, "From now on, hone finds it if nothing names another place: remove ledger_settings(url=…) from the Tiltfile, and unset %s.", command.LedgerVariable)
		return nil
	}
	logstore.Infof(log, "From now on, name it: ledger_settings(url='%s') in the Tiltfile, --ledger, or %s.", url, command.LedgerVariable)
	return nil
}

// move moves a ledger, and returns where it is now. If it is optional, and in neither place, there is nothing to move.
func (in ledgerIn) move(ctx context.Context, url string, lossy, optional bool) (place string, err error) {
	to, closePlace, err := in.LedgerIn(ctx, url, in.ledger.Key())
	if err != nil {
		return "", err
	}
	defer func() { _ = closePlace() }()
	if to.Place() == in.ledger.Place() {
		return "", problem.New("the ledger is in "+in.ledger.Place()+" already", "name the place where it was before: --ledger URL").See("state")
	}
	if optional {
		here, err := in.ledger.Exists(ctx)
		if err != nil {
			return "", err
		}
		there, err := to.Exists(ctx)
		if err != nil || !here && !there {
			return "", err
		}
	}
	return to.Place(), in.ledger.MoveTo(ctx, to, lossy)
}

// alone makes sure that nothing else works on the project: no session of this machine, and no holder of a lease. The context ends when that
// is no longer sure, and release ends it.
func (in ledgerIn) alone(ctx context.Context, name string) (alone context.Context, release func(), err error) {
	living, err := flags.Registry().Of(ctx, in.Path, in.Home())
	if err != nil {
		return nil, nil, err
	}
	for _, s := range living {
		return nil, nil, problem.New(sessionTitle(s)+" works on this project, and would go on with the ledger as it is", "end it first: hone stop --session "+s.Name)
	}
	holders, err := in.ledger.Holders(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(holders) > 0 {
		var names []string
		for _, h := range holders {
			names = append(names, h.String())
		}
		return nil, nil, problem.New("the project is being changed by "+strings.Join(names, " and "), "wait until that has ended; hone state unlock removes the lease of an operation that no longer runs").See("state")
	}
	lease, err := in.ledger.Lease(ctx, in.Namespace, ledger.Here(name), func(ledger.Holder) {})
	if err != nil {
		return nil, nil, err
	}
	guarded, cancel := lease.Guard(ctx)
	return guarded, func() { cancel(); lease.Release() }, nil
}
