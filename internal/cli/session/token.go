package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/api"
)

// tokenLife is the default life of a token: 8 hours, a working day.
const tokenLife = api.LongestToken / 90

func newToken(g *command.Global) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke tokens with a part of your rights",
		Long: `Creates, lists and revokes tokens for the running session. A token has a part of your rights, has a name that events, updates and
logs show, and ends by itself. It is for programs that need not do everything, such as a coding agent or a script on another machine.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newTokenCreate(g), newTokenList(g), newTokenRevoke(g))
	return c
}

func newTokenCreate(g *command.Global) *cobra.Command {
	var f flags.Session
	var output, name string
	var allow []string
	var lasts time.Duration
	c := &cobra.Command{
		Use:   "create --name NAME",
		Short: "Create a token with a part of your rights",
		Long: `Creates a token for the running session and prints it, once. Programs show it in the header "Authorization: Bearer TOKEN"; hone
itself takes it from HONE_TOKEN, also beside the session's socket. A request that the token does not allow is refused with the
permission that is missing. The token ends after the time of --for, with hone token revoke, or with the session.

Permissions for --allow:
` + permissionLines(),
		Example: "  hone token create --name ci --allow logs,settle,trigger --for 8h\n  HONE_TOKEN=$(hone token create --name watcher --allow logs) hone logs -f",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := command.DocumentWriter(output, "token create")
			if err != nil {
				return err
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			r := api.TokenRequest{Name: name, ForMs: api.Milliseconds(lasts.Milliseconds())}
			for _, p := range allow {
				r.Allow = append(r.Allow, api.Permission(strings.TrimSpace(p)))
			}
			t, err := session.CreateToken(cmd.Context(), r)
			switch {
			case err != nil:
				return err
			case write != nil:
				return write(g.Stdout, t)
			}
			fmt.Fprintln(g.Stdout, t.Token)
			fmt.Fprintf(g.Stderr, "Token %s allows %s, until %s.\n", t.Name, words.All(texts(t.Allow)), t.ExpiresAt.Local().Format(time.DateTime))
			return nil
		},
	}
	f.Add(c)
	c.Flags().StringVar(&name, "name", "", "who uses it: shown in events, updates and logs")
	c.Flags().StringSliceVar(&allow, "allow", nil, "permissions, divided by commas; status is always one of them")
	c.Flags().DurationVar(&lasts, "for", tokenLife.Duration(), "life of the token, up to 720h")
	command.AddDocumentFlag(c, &output, api.Token{})
	_ = c.MarkFlagRequired("name")
	_ = c.RegisterFlagCompletionFunc("allow", completePermissions)
	return c
}

// permissionLines lists the permissions for help.
func permissionLines() string {
	var b strings.Builder
	for _, d := range api.Permissions {
		fmt.Fprintf(&b, "  %-9s %s\n", d.Permission, d.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func completePermissions(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before := word[:strings.LastIndex(word, ",")+1]
	var all []string
	for _, d := range api.Permissions {
		all = append(all, before+string(d.Permission)+"\t"+d.Doc)
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func newTokenList(g *command.Global) *cobra.Command {
	var f flags.Session
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens of the running session that are valid",
		Long:  "Lists the tokens that hone token create has created for the running session and that are valid, without their secrets.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := command.DocumentWriter(output, "token list")
			if err != nil {
				return err
			}
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			all, err := session.Tokens(cmd.Context())
			switch {
			case err != nil:
				return err
			case write != nil:
				return write(g.Stdout, all)
			}
			return printTokens(g.Stdout, all, time.Now())
		},
	}
	f.Add(c)
	command.AddDocumentFlag(c, &output, api.TokenList{})
	return c
}

func printTokens(w io.Writer, all api.TokenList, now time.Time) error {
	if len(all.Tokens) == 0 {
		fmt.Fprintln(w, "No token has been created, or all have ended.")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tALLOW\tAGE\tENDS IN")
	for _, is := range all.Tokens {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", is.Name, api.PermissionList(is.Allow), view.Age(is.CreatedAt, now), view.Age(now, is.ExpiresAt))
	}
	return t.Flush()
}

func newTokenRevoke(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:     "revoke NAME",
		Short:   "End a token of the running session",
		Long:    "Ends a token at once, with the requests that it is used for.",
		Example: "  hone token revoke ci",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			if err := session.RevokeToken(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(g.Stdout, "Token %s has ended.\n", args[0])
			return nil
		},
	}
	f.Add(c)
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return completeTokens(cmd.Context(), f, args), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// completeTokens returns the names of the valid tokens for the first argument.
func completeTokens(ctx context.Context, f flags.Session, args []string) (names []string) {
	if len(args) > 0 {
		return nil
	}
	session, err := f.Find(ctx)
	if err != nil {
		return nil
	}
	all, err := session.Tokens(ctx)
	if err != nil {
		return nil
	}
	for _, t := range all.Tokens {
		names = append(names, t.Name)
	}
	return names
}
