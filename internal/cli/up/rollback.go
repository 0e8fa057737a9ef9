package up

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

func newRollback(g *command.Global) *cobra.Command {
	var f deployFlags
	c := &cobra.Command{
		Use:   "rollback REVISION",
		Short: "Restore the objects of an earlier revision",
		Long: `Shows what would change, asks, and applies the objects as they were in an earlier revision: with the images and the settings of that
time. It deletes objects that came later. The result is a new revision; hone history lists them.

It builds nothing, and it does not need a working Tiltfile. The Tiltfile stays as it is: the next hone up or hone deploy applies what
that declares.

Local resources, services of Docker Compose, and objects that a command of the Tiltfile deploys stay as they are. A Secret gets the
values of that time only if the ledger has a key (HONE_KEY); otherwise it keeps its present values.`,
		Example: "  hone history\n  hone rollback 3",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return rollback(cmd, g, f, args[0]) },
	}
	f.ci.add(c)
	f.ci.session.project.Begins = false
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func rollback(cmd *cobra.Command, g *command.Global, f deployFlags, revision string) error {
	number, err := strconv.Atoi(revision)
	if err != nil {
		return problem.New(fmt.Sprintf("%q is not the number of a revision", revision), "choose one that hone history shows")
	}
	if !f.yes && !command.Interactive() {
		return problem.New("cannot ask whether to roll back: this is not a terminal", "add --yes").See("state")
	}
	o, err := f.ci.options(g, nil)
	if err != nil {
		return err
	}
	o.called, o.choice.Command, o.shown = "hone rollback", fmt.Sprintf("rollback %d", number), true
	p := planning{o: o, yes: f.yes, question: fmt.Sprintf("Roll back to revision %d?", number)}
	p.evaluate = func(ctx context.Context, p *opened.Project, log *command.Printer) (*tiltfile.Evaluated, error) {
		return revived(ctx, p, number, log)
	}
	return p.deploy(cmd.Context(), g)
}

// revived returns the resources of a revision. They keep the settings that the Tiltfile declares now, if it can be evaluated: how they
// depend on each other, and when they are ready. All other resources wait, so that nothing happens to them.
func revived(ctx context.Context, p *opened.Project, number int, log *command.Printer) (*tiltfile.Evaluated, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	then, err := cluster.Revision(ctx, number, log)
	if err != nil {
		return nil, err
	}
	now := tiltfile.Evaluate(ctx, p.Evaluation()).Result
	if now.Err != nil {
		logstore.Warnf(log, "The Tiltfile cannot be evaluated: the order of the resources is unknown.")
	}
	others, err := elsewhere(ctx, p)
	if err != nil {
		return nil, err
	}
	commanded, err := cluster.Commanded(ctx)
	if err != nil {
		return nil, err
	}
	tf := now.Tiltfile
	tf.Enabled, tf.Manifests = nil, asThen(then, slices.Concat(now.Manifests, commanded, others))
	return &tiltfile.Evaluated{Result: tiltfile.Result{Tiltfile: tf}}, nil
}

// elsewhere returns the local resources with a recorded down command.
func elsewhere(ctx context.Context, p *opened.Project) (out []model.Manifest, err error) {
	downs, err := p.DownCommands(ctx)
	if err != nil {
		return nil, err
	}
	recorded, _, err := downs.Recorded()
	for name, down := range recorded {
		out = append(out, model.Manifest{Name: name, Local: &model.LocalTarget{Down: down}})
	}
	return out, err
}

// asThen returns the resources of a revision with the settings of those that are known now, and the known ones that have no objects of
// their own, waiting.
func asThen(then, known []model.Manifest) []model.Manifest {
	byName := map[model.ManifestName]model.Manifest{}
	for _, m := range slices.Backward(known) { // the first one of a name counts
		byName[m.Name] = m
	}
	restored := map[model.ManifestName]bool{}
	for _, m := range then {
		restored[m.Name] = true
	}
	var out []model.Manifest
	for _, m := range then {
		if now, ok := byName[m.Name]; ok && now.IsK8s() && now.CustomDeploy() == nil {
			objects := m.K8s.Objects
			target := *now.K8s
			target.Objects, target.ImageLocators = objects, nil
			m = now
			m.Images, m.K8s, m.AutoInit, m.TriggerMode = nil, &target, true, model.TriggerAuto
		}
		m.ResourceDeps = slices.DeleteFunc(slices.Clone(m.ResourceDeps), func(name model.ManifestName) bool { return !restored[name] }) // the others wait
		out = append(out, m)
	}
	for _, m := range known {
		ownObjects := m.IsK8s() && m.CustomDeploy() == nil
		if ownObjects || restored[m.Name] {
			continue
		}
		restored[m.Name] = true
		m.AutoInit = false
		out = append(out, m)
	}
	return out
}
