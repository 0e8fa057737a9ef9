package session

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/pkg/api"
)

func newKubeconfig(g *command.Global) *cobra.Command {
	var f flags.Session
	var readOnly bool
	var output string
	var lasts time.Duration
	c := &cobra.Command{
		Use:   "kubeconfig --read-only",
		Short: "Print a kubeconfig that can read the session's namespaces, and nothing more",
		Long: `Prints a kubeconfig for a program that may look into the cluster and change nothing, such as a coding agent. It is bound to a
ServiceAccount of its own with the role view, in the namespaces that hold objects of the session's resources. That role reads everything
but Secrets and roles. It is about the session's own cluster: clusters that the Tiltfile declares are not in it. The account is deleted when the session ends, with hone down, or if the session was killed, when the next one
starts. The token in the kubeconfig ends after the time of --for, which the cluster may shorten; 10 minutes are the least.`,
		Example: "  hone kubeconfig --read-only > agent.kubeconfig\n  KUBECONFIG=agent.kubeconfig kubectl get pods",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := command.DocumentWriter(output, "kubeconfig --read-only")
			switch {
			case err != nil:
				return err
			case !readOnly:
				return problem.New("a kubeconfig that can write is the one that you have already", "for one that can only read: hone kubeconfig --read-only")
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			k, err := session.Kubeconfig(cmd.Context(), api.KubeconfigRequest{ForMs: api.Milliseconds(lasts.Milliseconds())})
			switch {
			case err != nil:
				return err
			case write != nil:
				return write(g.Stdout, k)
			}
			fmt.Fprint(g.Stdout, k.Kubeconfig)
			fmt.Fprintf(g.Stderr, "It reads %s, until %s.\n", words.All(k.Namespaces), k.ExpiresAt.Local().Format(time.DateTime))
			return nil
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&readOnly, "read-only", false, "print a kubeconfig that can only read")
	c.Flags().DurationVar(&lasts, "for", tokenLife.Duration(), "life of its token, from 10m to 720h")
	command.AddDocumentFlag(c, &output, api.Kubeconfig{})
	return c
}
