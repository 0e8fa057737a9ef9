package up

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
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

If the project is in several clusters, it restores the objects in one of them, and changes nothing in the others. Each cluster has revisions
with numbers of their own: --cluster says which one is meant, unless only one has the number.

It builds nothing, and it does not need a working Tiltfile. The Tiltfile stays as it is: the next hone up or hone deploy applies what
that declares.

Local resources, services of Docker Compose, and objects that a command of the Tiltfile deploys stay as they are. A Secret gets the
values of that time only if the ledger has a key (HONE_KEY); otherwise it keeps its present values.`,
		Example: "  hone history\n  hone rollback 3\n  hone rollback 3 --cluster eu",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return rollback(cmd, g, f, args[0]) },
	}
	f.ci.add(c)
	f.ci.session.project.Begins = false
	f.ci.session.project.AddCluster(c)
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return c
}

func rollback(cmd *cobra.Command, g *command.Global, f deployFlags, revision string) error {
	number, err := revisionNumber(revision)
	if err != nil {
		return err
	}
	if !f.yes && !command.Interactive() {
		return problem.New("cannot ask whether to roll back: this is not a terminal", "add --yes").See("state")
	}
	o, err := f.ci.options(g, nil)
	if err != nil {
		return err
	}
	o.called, o.choice.Command, o.shown = "hone rollback", fmt.Sprintf("rollback %d", number), true
	p := planning{o: o, yes: f.yes}
	p.evaluate = func(ctx context.Context, p *opened.Project, log *command.Printer) (deployment, error) {
		in, named, err := revisionOf(ctx, p, number)
		if err != nil {
			return deployment{}, err
		}
		is, err := revived(ctx, p, in, number, log)
		question := fmt.Sprintf("Roll back to revision %d?", number)
		if named {
			question = fmt.Sprintf("Roll back %s to revision %d?", in.Title(), number)
		}
		return deployment{in: in.Alone(), evaluated: is, question: question}, err
	}
	return p.deploy(cmd.Context(), g)
}

// revisionOf returns the part of the project that has a revision, and whether the project is in several clusters. It takes no cluster for
// another one that does not answer, and may have the revision.
func revisionOf(ctx context.Context, p *opened.Project, number int) (part *opened.Project, several bool, err error) {
	all, err := openLedgers(ctx, p)
	if err != nil {
		return nil, false, err
	}
	if len(all.away) > 0 {
		away := opened.Names(all.away)
		return nil, false, problem.Wrap(all.left, fmt.Sprintf("it is unknown whether %s has a revision %d, too: nothing was done", words.All(away), number),
			fmt.Sprintf("name the cluster to roll back: hone rollback %d --cluster %s", number, all.open[0].Name())).See("state")
	}
	in, err := all.with(number, fmt.Sprintf("hone rollback %d", number))
	return in.Project, all.several(), err
}

// revived returns the resources of a revision of a part of a project, as if its cluster were the session's own. They keep the settings that
// the Tiltfile declares now, if it can be evaluated: how they depend on each other, and when they are ready. All other resources there wait,
// so that nothing happens to them. Other clusters are not in it.
func revived(ctx context.Context, p, in *opened.Project, number int, log *command.Printer) (*tiltfile.Evaluated, error) {
	cluster, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	then, err := cluster.Revision(ctx, number, log)
	if err != nil {
		return nil, err
	}
	now := tiltfile.Evaluate(ctx, p.Evaluation()).Result
	switch {
	case forbids(ctx, now.Err):
		return nil, command.WithCode(now.Err, command.ExitTiltfile)
	case now.Err != nil:
		logstore.Warnf(log, "The Tiltfile cannot be evaluated: the order of the resources is unknown.")
	case in.On() != "" && !declares(now.Tiltfile, in.On()):
		return nil, problem.New("the Tiltfile no longer declares "+in.Title()+": nothing is applied there",
			fmt.Sprintf("declare it: cluster('%s', context='%s'); hone down deletes the project's objects there", in.Name(), in.On())).See("clusters")
	}
	known := hereOf(now.Manifests, in.On())
	commanded, err := cluster.Commanded(ctx)
	if err != nil {
		return nil, err
	}
	known = append(known, commanded...)
	if in == p { // this machine records down commands for the whole project
		locals, err := elsewhere(ctx, p)
		if err != nil {
			return nil, err
		}
		known = append(known, locals...)
	}
	tf := now.Tiltfile
	tf.Enabled, tf.Clusters, tf.Manifests = nil, nil, asThen(then, known)
	return &tiltfile.Evaluated{Result: tiltfile.Result{Tiltfile: tf}}, nil
}

// declares reports whether a Tiltfile declares the cluster of a context.
func declares(tf model.Tiltfile, context string) bool {
	return slices.ContainsFunc(tf.Clusters, func(d model.ClusterDeclaration) bool { return d.Context == context })
}

// hereOf returns the resources that a cluster may hold, as the resources of a session whose own cluster it is.
func hereOf(manifests []model.Manifest, on string) []model.Manifest {
	out := model.DeclaredOn(manifests, on)
	for i, m := range out {
		if m.IsK8s() {
			target := *m.K8s
			target.Cluster = ""
			out[i].K8s = &target
		}
	}
	return out
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
