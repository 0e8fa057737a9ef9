package up

import (
	"context"
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
	cluster, err := p.Connect(ctx)
	if err != nil {
		return err
	}
	var chosen []model.ManifestName
	for _, name := range args {
		chosen = append(chosen, model.ManifestName(name))
	}
	defer log.Await(p.Title() + " to say what has drifted")()
	secrets, err := cluster.Secrets(p.Patiently(ctx))
	if err != nil {
		return err
	}
	g.Secrets.Learn(secrets)
	steps, unknown, err := cluster.Drift(p.Patiently(ctx), chosen)
	if err != nil {
		return err
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
		return nil
	}
	return printPlan(g, write, planOf(p.Path, p.Known.Context, steps), f.exitCode)
}
