package object

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/internal/client/objects/condition"
	"github.com/hone-dev/hone/internal/client/objects/output"
)

// forever is the duration of a wait with a negative timeout.
const forever = 7 * 24 * time.Hour

func newWait(g *command.Global) *cobra.Command {
	var f objectFlags
	var out output.Flags
	var until []string
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait KIND/NAME… --for=CONDITION",
		Short: "Wait for conditions on objects of the running session",
		Long: `Waits until each object meets the condition. Objects that are named may be created later; a selection covers the objects
that exist when the command starts. Files that were saved before the command count, even if the session has not noticed them
yet. A resource that fails, or that waits for one that has failed, ends the wait with the reason, unless hone or the cluster
tries again at once. So does an object that the Tiltfile decides about and that does not exist, once the Tiltfile has failed; or
once it is evaluated and does not declare the object, unless --for=create waits for that. Exit code 1 means that, or that the time is
up, or that the session has ended.

Conditions:
  condition=NAME            the condition is True; condition=NAME=VALUE: it is VALUE
  jsonpath='{PATH}'=VALUE   the field is VALUE; jsonpath='{PATH}': it exists
  create                    the object exists
  delete                    the object is gone`,
		Example: `  hone wait --for=condition=Ready uiresource/web
  hone wait --for=condition=UpToDate uiresources --all --timeout=5m
  hone wait updates/web --for=jsonpath='{.entry.current}'
  hone wait --for=create --for=condition=Ready uiresource/web
  hone wait --for=delete cmd/lint`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout < 0 {
				timeout = forever
			}
			all, err := condition.ParseAll(until)
			if err != nil {
				return err
			}
			met, err := reporter(g, &out)
			if err != nil {
				return err
			}
			s, targets, err := f.find(cmd, args)
			if err != nil {
				return err
			}
			if err := f.said(targets); err != nil {
				return err
			}
			return condition.Wait{Client: s, Settle: f.session.Settle, Timeout: timeout, Met: met}.RunAll(cmd.Context(), all, targets)
		},
	}
	f.add(c)
	f.addFiles(c)
	f.addSelectors(c)
	out.Add(c.Flags())
	c.Flags().StringArrayVar(&until, "for", nil, "condition: condition=NAME[=VALUE], jsonpath='{PATH}'[=VALUE], create, delete; may be given more than once: they are awaited one after the other, create first")
	c.Flags().BoolVar(&f.request.All, "all", false, "wait for all objects of the kinds")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait; 0 checks once, a negative value waits for a week")
	_ = c.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{"condition=Ready", "condition=UpToDate", "condition=Failed", "jsonpath=", "create", "delete"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	command.IgnoredFlags(c, []string{"all-namespaces", "local"}, nil)
	return c
}

// said refuses to select all objects of a kind without an explicit request.
func (f *objectFlags) said(targets []objects.Target) error {
	for _, t := range targets {
		selected := t.Named() || t.Labels != "" || t.Fields != ""
		if !selected && !f.request.All {
			return problem.New("no "+t.Kind.GVR.Resource+" are named",
				fmt.Sprintf("name them: hone %s %s NAME…, or select all: --all", f.request.Verb, t.Kind.GVR.Resource))
		}
	}
	return nil
}

// reporter returns a function that prints objects that meet the condition.
func reporter(g *command.Global, out *output.Flags) (func(objects.Kind, string, *unstructured.Unstructured) error, error) {
	if out.Output == "" {
		return func(k objects.Kind, name string, _ *unstructured.Unstructured) error {
			_, err := fmt.Fprintf(g.Stdout, "%s condition met\n", k.Ref(name))
			return err
		}, nil
	}
	p, err := out.Printer()
	if err != nil {
		return nil, err
	}
	return func(_ objects.Kind, _ string, u *unstructured.Unstructured) error {
		if u == nil {
			return nil
		}
		return p.PrintObj(u, g.Stdout)
	}, nil
}
