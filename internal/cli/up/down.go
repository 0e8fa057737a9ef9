package up

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// downFlags are the flags of hone down.
type downFlags struct {
	project    flags.Project
	namespaces bool
	volumes    bool
	builders   bool
	timeout    time.Duration
	wait       bool
}

func newDown(g *command.Global) *cobra.Command {
	var f downFlags
	c := &cobra.Command{
		Use:   "down [NAME…] [-- TILTFILE ARGS]",
		Short: "Delete what up and ci have deployed",
		Long: `Deletes every object that hone applied for this Tiltfile, dependents before their dependencies, and waits until all of them
are gone, including pods; it reports what it waits for. An object that does not go delays only its dependencies. Most of the time is
the pods': a process that ignores SIGTERM takes its whole grace period, which is 30 s unless the pod says otherwise. With --wait=false
it ends as soon as the API server has accepted all deletions; the next hone down then waits for the rest.

A session of hone up that runs this project is ended first. With names it stays, and deploys them again when you trigger them.

It uses hone's own records, so it works even if the Tiltfile is broken or missing; objects that the Tiltfile declares and
that carry hone's labels are deleted too. Objects that hone did not make are never touched, and neither is a cluster that the
Tiltfile does not allow.

Local resources with a down_cmd that have run are taken down by their down command, in the same order: after what depends on them, and
before their own dependencies. This needs neither a Tiltfile nor a cluster.

Projects of Docker Compose that the Tiltfile declares are taken down by "docker compose down"; if only some services of a
project are chosen, only their containers are removed.

Clusters that the Tiltfile declares with cluster(), or that the records name, are taken down in the same order. The objects in one that does
not answer stay, and the command fails; the next hone down deletes them.

Namespaces and volumes are kept, unless --delete-namespaces or --delete-volumes is given. So are the builders of images that hone runs in the
namespace, which other projects may use, unless --builders is given: they are deleted with their caches.`,
		RunE: func(cmd *cobra.Command, args []string) error { return down(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	c.Flags().BoolVar(&f.namespaces, "delete-namespaces", false, "also delete namespaces that hone created")
	c.Flags().BoolVar(&f.builders, "builders", false, "also delete the builders of images that hone runs in the namespace, with their caches")
	c.Flags().DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long to wait for an object to be gone")
	c.Flags().BoolVar(&f.wait, "wait", true, "wait until everything is gone")
	c.Flags().BoolVar(&f.volumes, "delete-volumes", false, "also delete volume claims that hone created, and the volumes of Compose projects")
	return c
}

func down(ctx context.Context, g *command.Global, f downFlags, args []string) error {
	log := g.Printer(g.Stdout, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Path, Args: args, Subcommand: "down", Command: "down"}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	r := tiltfile.Load(ctx, p.Evaluation())
	if forbids(ctx, r.Err) {
		return command.WithCode(r.Err, command.ExitTiltfile)
	}
	tf, fault := declarations(r, log)
	if len(args) == 0 {
		if err := endSessions(ctx, p.Path, p.Known.Context, log); err != nil {
			return err
		}
	}
	locals, err := findLocals(ctx, p, tf)
	if err != nil {
		return err
	}
	steps, composed, closeEngine, err := composeSteps(ctx, p.Known, tf, f.volumes, log)
	defer closeEngine()
	tellSessions(ctx, p.Path, p.Known.Context, services(tf), log)
	rest := outside{composed: composed, steps: steps, locals: locals, failed: err != nil, tally: &tally{}}
	emptied, failed := rest.addOthers(ctx, p, tf, f, log)
	err = errors.Join(err, failed)
	needless := fault == nil && !slices.ContainsFunc(tf.Manifests, model.Manifest.IsK8s)
	if p.Known.Context == "" && (composed || len(locals.all) > 0 || needless) {
		if unknown := unheard(args, nil, locals.names, fault); unknown != nil {
			return errors.Join(err, unknown)
		}
		return errors.Join(err, rest.finish(ctx, log))
	}
	downed := clusterDown(ctx, p, tf, fault, f, rest, log)
	if downed == nil {
		downed = forgetEmptied(ctx, emptied)
	}
	err = errors.Join(err, downed, buildersDown(ctx, p, tf, f, log))
	var left *deploy.Unfinished
	if ctx.Err() != nil && errors.As(err, &left) {
		logstore.Warnf(log, "Interrupted; %s. Run hone down again to finish.", left)
	}
	return err
}

// outside is everything that is taken down besides the objects of a cluster.
type outside struct {
	// composed is set if there are projects of Compose; steps takes down their chosen services.
	composed bool
	steps    []deploy.DeleteStep
	locals   locals
	// failed is set if the container engine could not be asked.
	failed bool
	// elsewhere are the resources with objects in other clusters, and inOthers the number of the steps that take them down. tally counts the
	// outcomes in all clusters.
	elsewhere []model.ManifestName
	inOthers  int
	tally     *tally
}

// all returns the steps, followed by the steps of the given local resources.
func (o outside) all(locals []model.ManifestName, log logstore.Logger) []deploy.DeleteStep {
	return slices.Concat(o.steps, o.locals.downCommands.Steps(locals, log))
}

func (o outside) takeDown(ctx context.Context, locals []model.ManifestName, log logstore.Logger) error {
	return buildanddeploy.TakeDownBeside(ctx, o.all(locals, log), o.locals.deps, log)
}

// finish takes down everything where there is nothing in a cluster, and says how it ended.
func (o outside) finish(ctx context.Context, log logstore.Logger) error {
	err := o.takeDown(ctx, o.locals.names, log)
	if err == nil && !o.failed {
		logstore.Infof(log, "%s", o.tally.text(len(o.steps)-o.inOthers+len(o.locals.names) > 0))
	}
	return err
}

// clusterDown deletes the objects in the cluster, and everything else that is taken down. fault is the error of the Tiltfile's
// evaluation.
func clusterDown(ctx context.Context, p *opened.Project, tf model.Tiltfile, fault error, f downFlags, rest outside, log *command.Printer) error {
	locals := rest.locals
	if p.Known.Context == "" && misnamed(fault) {
		return fault
	}
	cluster, err := p.Connect(ctx)
	if err != nil {
		if rest.composed && !slices.ContainsFunc(tf.Manifests, model.Manifest.IsK8s) {
			return rest.finish(ctx, log) // a project that only uses Compose needs no cluster
		}
		if p.Known.Context == "" || ctx.Err() != nil {
			return err
		}
		return errors.Join(err, rest.takeDown(ctx, locals.apart(tf), log))
	}
	sweepReadOnly(ctx, p, log)
	cluster.Declare(model.DeclaredOn(tf.Manifests, ""), tf.Read)
	found := log.Await(p.Title() + " to say what there is to delete")
	records, err := collectRecords(ctx, inCluster{p, cluster}, tf)
	found()
	if err != nil {
		return err
	}
	if err := unheard(p.Args, records, slices.Concat(locals.names, rest.elsewhere), fault); err != nil {
		return err
	}
	if len(records) == 0 {
		return rest.finish(ctx, log)
	}
	tellSessions(ctx, p.Path, p.Known.Context, slices.Sorted(maps.Keys(records)), log)
	steps, t := rest.all(locals.names, log), rest.tally
	err = cluster.TakeDown(ctx, f.options(t), records, locals.deps, steps, log)
	if err == nil {
		logstore.Infof(log, "%s", t.text(len(steps) > rest.inOthers))
	}
	return err
}

// endLimit bounds how long a session may take to end.
const endLimit = time.Minute

// endSessions ends the sessions of hone up that run the project, in order: their servers end, and nothing deploys the objects again
// that are about to be deleted. The session that has started this process stays: it would wait for this process.
func endSessions(ctx context.Context, path, kubeContext string, log *command.Printer) error {
	living, err := flags.Registry().Of(ctx, path, kubeContext)
	if err != nil {
		logstore.Warnf(log, "Cannot determine whether a session runs this project: %v", err)
		return nil
	}
	for _, s := range living {
		if s.Command != string(state.CommandUp) || os.Getenv(flags.SessionVariable) == s.Name {
			continue
		}
		if s.Socket == "" {
			return problem.New(sessionTitle(s)+" is just starting on this project: nothing was deleted", "try again in a moment")
		}
		ended := log.Await(sessionTitle(s) + " to end")
		err := flags.End(ctx, client.Over(s), endLimit, func() { logstore.Infof(log, "Ending %s first…", sessionTitle(s)) })
		ended()
		if err != nil {
			return fmt.Errorf("end %s, which runs this project: %w", sessionTitle(s), err)
		}
	}
	return nil
}

// tellSessions notifies the sessions that run the project of the resources whose objects are about to be deleted, so that
// they do not restore them. A session that does not answer does not prevent the deletion.
func tellSessions(ctx context.Context, path, kubeContext string, resources []model.ManifestName, log *command.Printer) {
	if len(resources) == 0 {
		return
	}
	living, err := flags.Registry().Of(ctx, path, kubeContext)
	if err != nil {
		logstore.Warnf(log, "Cannot determine whether a session runs this project: %v", err)
		return
	}
	var names []string
	for _, name := range resources {
		names = append(names, string(name))
	}
	for _, s := range living {
		if s.Socket == "" {
			continue
		}
		req := api.TakenDownRequest{ManifestNames: names, By: fmt.Sprintf("hone down (pid %d)", os.Getpid())}
		told := log.Await(sessionTitle(s) + " to end its updates")
		err := client.Over(s).TakenDown(ctx, req)
		told()
		if err != nil {
			logstore.Warnf(log, "%s runs this project and could not be notified; it may deploy the deleted objects again: %v", sessionTitle(s), err)
			continue
		}
		logstore.Warnf(log, "%s runs this project. It deploys a deleted resource again when you trigger it; hone stop --session %s ends the session", sessionTitle(s), s.Name)
	}
}

func dependencies(tf model.Tiltfile) map[model.ManifestName][]model.ManifestName {
	out := map[model.ManifestName][]model.ManifestName{}
	for _, m := range tf.Manifests {
		out[m.Name] = m.ResourceDeps
	}
	return out
}

// misnamed reports whether a Tiltfile could not be evaluated because of the names on the command line.
func misnamed(err error) bool { return errors.As(err, new(*fault.ArgsError)) }

// unheard returns a problem if a name to delete is unknown to both the Tiltfile and the records of objects and of local resources, so
// that a typo does not look like a success. A Tiltfile without an error has already checked the names.
func unheard(names []string, records map[model.ManifestName][]ledger.Record, locals []model.ManifestName, fault error) error {
	if fault == nil {
		return nil
	}
	var unknown []string
	for _, n := range names {
		if name := model.ManifestName(n); len(records[name]) == 0 && !slices.Contains(locals, name) {
			unknown = append(unknown, n)
		}
	}
	switch {
	case len(unknown) == 0:
		return nil
	case misnamed(fault):
		return fault
	}
	return problem.New("there is no record of "+strings.Join(unknown, ", ")+", and the Tiltfile cannot be evaluated",
		"fix the Tiltfile; or leave out the names to delete everything that is recorded")
}

// forbids reports whether the error of an evaluation means that nothing may be deleted: the user has interrupted it, or the Tiltfile does
// not allow the cluster.
func forbids(ctx context.Context, fault error) bool {
	return errors.As(fault, new(kubecontext.Refused)) || fault != nil && ctx.Err() != nil
}

// declarations returns the declarations of a Tiltfile. If it could not be evaluated, there are none and the error is returned: the
// ledger is used then.
func declarations(r tiltfile.Result, log *command.Printer) (model.Tiltfile, error) {
	if r.Err == nil {
		return r.Tiltfile, nil
	}
	if !misnamed(r.Err) {
		logstore.Warnf(log, "The Tiltfile cannot be evaluated; using the records instead: %s", problem.Text(r.Err))
	}
	return model.Tiltfile{}, r.Err
}

// collectRecords joins the ledger's records with the objects that the Tiltfile declares, for the named resources, or for
// all.
func collectRecords(ctx context.Context, in inCluster, tf model.Tiltfile) (map[model.ManifestName][]ledger.Record, error) {
	ctx = in.Patiently(ctx)
	memory, err := in.cluster.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	records, err := memory.Resources()
	if err != nil {
		return nil, err
	}
	enabled := state.EnabledNames(tf)
	for _, m := range in.declared(tf.Manifests) {
		if !m.IsK8s() || m.CustomDeploy() != nil {
			continue
		}
		if enabled != nil && !enabled[m.Name] {
			continue
		}
		for _, o := range in.cluster.Objects(ctx, m, in.Namespace) {
			if !slices.ContainsFunc(records[m.Name], func(r ledger.Record) bool { return r.ObjectID == o.ObjectID }) {
				records[m.Name] = append(records[m.Name], o)
			}
		}
	}
	return restrict(records, tf, enabled, in.Args), nil
}

// restrict returns the records of the chosen resources: the ones that the Tiltfile enables or, if it declares none, the named ones.
// Without a choice all records stay, including the records of resources that are no longer declared.
func restrict(records map[model.ManifestName][]ledger.Record, tf model.Tiltfile, enabled map[model.ManifestName]bool, names []string) map[model.ManifestName][]ledger.Record {
	chosen := chosenOf(tf, enabled, names)
	out := map[model.ManifestName][]ledger.Record{}
	for n, list := range records {
		if chosen(n) {
			out[n] = list
		}
	}
	return out
}

// chosenOf returns which resources are chosen, as restrict describes.
func chosenOf(tf model.Tiltfile, enabled map[model.ManifestName]bool, names []string) func(model.ManifestName) bool {
	switch {
	case enabled != nil:
		return func(n model.ManifestName) bool {
			return slices.Contains(tf.Enabled, n) && (!n.Uncategorized() || len(names) == 0)
		}
	case len(tf.Manifests) == 0 && len(names) > 0:
		return func(n model.ManifestName) bool { return slices.Contains(names, string(n)) }
	}
	return func(model.ManifestName) bool { return true }
}
