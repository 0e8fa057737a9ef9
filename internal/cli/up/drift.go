package up

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// driftFlags are the flags of hone drift.
type driftFlags struct {
	project  flags.Project
	output   string
	exitCode bool
}

func newDrift(g *command.Global) *cobra.Command {
	var f driftFlags
	c := &cobra.Command{
		Use:   "drift [NAME…]",
		Short: "Show what others have changed in the cluster",
		Long: fmt.Sprintf(`Shows how the objects in the cluster differ from what hone applied to them last: fields that something else has changed, with its
name and the time, and objects that were deleted. Every line says what applying the same once more would do. Nothing is
written, and nothing new is proposed: the Tiltfile is not evaluated, so it may be broken or changed.

Images that were built since, live updates, what a command of the Tiltfile applied (k8s_custom_deploy) and a Job that is gone once
its ttlSecondsAfterFinished may have removed it are no drift.

It exits with %d, or with %d if something could not be looked at. With --exit-code, it exits with %d if there is drift.`,
			command.ExitOK, command.ExitFailure, exitChanges),
		Example: "  hone drift\n  hone drift api --exit-code",
		RunE:    func(cmd *cobra.Command, args []string) error { return drift(cmd.Context(), g, f, args) },
	}
	f.project.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	command.AddDocumentFlag(c, &f.output, api.Plan{})
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, fmt.Sprintf("exit with %d if there is drift", exitChanges))
	return c
}

func drift(ctx context.Context, g *command.Global, f driftFlags, args []string) error {
	write, err := command.DocumentWriter(f.output, "drift")
	if err != nil {
		return err
	}
	log := g.Printer(g.Stderr, g.Stderr)
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Path}, log)
	if err != nil {
		return err
	}
	defer p.Close()
	var chosen []model.ManifestName
	for _, name := range args {
		chosen = append(chosen, model.ManifestName(name))
	}
	parts, err := p.Everywhere()
	if err != nil {
		return err
	}
	var unseen error // it is said already
	var steps []api.PlanStep
	var unknown []model.ObjectID
	for _, part := range parts {
		more, left, err := driftIn(ctx, g, part, chosen, log)
		if err != nil && (part == p || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			part.LeaveOut(err)
			unseen = errors.Join(unseen, err)
		}
		steps, unknown = append(steps, more...), append(unknown, left...)
	}
	if len(unknown) > 0 {
		var names []string
		for _, id := range unknown {
			names = append(names, view.PlanObject(api.PlanObject{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}))
		}
		logstore.Warnf(log, "What was applied last is not recorded for %s: left out. Their next deploy records it.", strings.Join(names, ", "))
	}
	if len(steps)+len(unknown) == 0 && write == nil {
		logstore.Infof(g.Printer(g.Stdout, g.Stderr), "Nothing to compare: hone has applied nothing for this Tiltfile.")
		return notSeen(unseen)
	}
	err = printPlan(g, write, planOf(p.Path, p.Known.Context, steps), f.exitCode)
	return cmp.Or(notSeen(unseen), err)
}

// notSeen returns the error of a command that has left clusters out, and has said so; nil if it has left out none.
func notSeen(left error) error {
	if left == nil {
		return nil
	}
	return command.AlreadyPrinted(left, command.ExitFailure)
}

// driftIn returns the drift in one cluster of a project.
func driftIn(ctx context.Context, g *command.Global, p *opened.Project, chosen []model.ManifestName, log *command.Printer) (steps []api.PlanStep, unknown []model.ObjectID, err error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer log.Await(p.Title() + " to say what has drifted")()
	secrets, err := cluster.Secrets(p.Patiently(ctx))
	if err != nil {
		return nil, nil, err
	}
	g.Secrets.Learn(secrets)
	steps, unknown, err = cluster.Drift(p.Patiently(ctx), chosen)
	return inCluster{p, cluster}.mark(steps), unknown, err
}
