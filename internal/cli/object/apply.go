package object

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/change"
)

func newApply(g *command.Global) *cobra.Command {
	var f objectFlags
	var w writeFlags
	var prune pruningFlags
	c := &cobra.Command{
		Use:   "apply -f PATH",
		Short: "Create or update objects of the running session from files",
		Long: `Creates objects that do not exist, and updates those that do. From objects that apply created, it also removes fields that
are no longer in the file. With --prune it deletes objects that apply created and that the files no longer contain.`,
		Example: "  hone apply -f watches.yaml\n  hone apply -f objects/ -R --prune -l tier=web\n  generate | hone apply -f -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := prune.check(f.request.Labels); err != nil {
				return err
			}
			writer, targets, err := eachOfFiles(g, &f, &w, cmd, func(ctx context.Context, c *change.Writer, u *unstructured.Unstructured) error {
				return c.Apply(ctx, u)
			})
			if err != nil || !prune.wanted {
				return err
			}
			return prune.run(cmd.Context(), writer, targets, f.request.Labels)
		},
	}
	f.add(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	f.addFiles(c)
	c.Flags().StringVarP(&f.request.Labels, "selector", "l", "", "use only objects with these labels: app=web,tier!=db")
	w.add(c)
	prune.add(c)
	command.IgnoredFlags(c, []string{"force", "overwrite", "openapi-patch", "server-side", "force-conflicts"}, []string{"kustomize", "field-manager", "cascade", "grace-period"})
	return c
}

// pruningFlags select the objects that apply deletes.
type pruningFlags struct {
	wanted, all bool
	kinds       []string
	deletion    change.Deletion
}

func (p *pruningFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&p.wanted, "prune", false, "delete objects that apply created and that the files no longer contain: those that --selector matches, or all with --all")
	c.Flags().BoolVar(&p.all, "all", false, "with --prune, consider all objects")
	c.Flags().StringArrayVar(&p.kinds, "prune-allowlist", nil, "with --prune, delete only objects of this kind: tilt.dev/v1alpha1/Cmd; may be given more than once")
	c.Flags().BoolVar(&p.deletion.Wait, "wait", false, "with --prune, wait until the objects are gone")
	c.Flags().DurationVar(&p.deletion.Timeout, "timeout", time.Minute, "how long --wait waits for each object")
}

// check refuses to select all objects unless --all was given.
func (p *pruningFlags) check(labels string) error {
	switch {
	case p.wanted && labels == "" && !p.all:
		return problem.New("--prune needs to know which objects it may delete", "select them by labels: --prune -l tier=web, or all of them: --prune --all")
	case !p.wanted && (p.all || len(p.kinds) > 0):
		return problem.New("--all and --prune-allowlist are about --prune", "add --prune, or leave them out")
	}
	return nil
}

func (p *pruningFlags) run(ctx context.Context, w *change.Writer, targets []objects.Target, labels string) error {
	pruning := change.Pruning{Labels: labels, Deletion: p.deletion}
	for _, text := range p.kinds {
		parts := strings.Split(text, "/")
		if len(parts) != 3 {
			return problem.New(fmt.Sprintf("%q names no kind", text), "write: --prune-allowlist GROUP/VERSION/KIND, for example tilt.dev/v1alpha1/Cmd")
		}
		k, err := w.Client.KindOf(schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]})
		if err != nil {
			return err
		}
		pruning.Kinds = append(pruning.Kinds, k)
	}
	return w.Prune(ctx, targets, pruning)
}

// fromFiles calls do for each object of files.
func fromFiles(g *command.Global, f *objectFlags, w *writeFlags, cmd *cobra.Command, do func(context.Context, *change.Writer, *unstructured.Unstructured) error) error {
	_, _, err := eachOfFiles(g, f, w, cmd, do)
	return err
}

// eachOfFiles works like fromFiles, and also returns the writer and the objects.
func eachOfFiles(g *command.Global, f *objectFlags, w *writeFlags, cmd *cobra.Command, do func(context.Context, *change.Writer, *unstructured.Unstructured) error) (*change.Writer, []objects.Target, error) {
	if len(f.request.Files) == 0 {
		return nil, nil, problem.New("there is nothing to "+cmd.Name(), "name a file: hone "+cmd.Name()+" -f PATH")
	}
	writer, targets, err := w.find(g, f, cmd, nil)
	if err != nil {
		return nil, nil, err
	}
	return writer, targets, each(cmd.Context(), targets, func(t objects.Target) error {
		var errs []error
		for _, u := range t.Files {
			errs = append(errs, do(cmd.Context(), writer, u))
		}
		return errors.Join(errs...)
	})
}
