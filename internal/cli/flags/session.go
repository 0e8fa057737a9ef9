package flags

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/client"
)

// TokenVariable holds the token that the requests of commands have.
const TokenVariable = "HONE_TOKEN"

// Session are the flags that choose a running session.
type Session struct {
	session string
	Host    string
	Port    Port
}

// Add adds the flags to a command.
func (f *Session) Add(c *cobra.Command) {
	f.Port = EnvPort()
	c.Flags().StringVar(&f.session, "session", "", "name of the session; also from HONE_SESSION. hone sessions lists them")
	c.Flags().StringVar(&f.Host, "host", EnvOr("TILT_HOST", DefaultHost), "host of the session's API; also from TILT_HOST")
	c.Flags().Var(&f.Port, "port", "port of the session's API; also from TILT_PORT")
	c.Flags().Lookup("port").DefValue = ""
	c.PreRun = func(c *cobra.Command, _ []string) { f.Settle(c) }
	_ = c.RegisterFlagCompletionFunc("session", completeSessions)
}

// Settle takes the session from the environment unless the command line chooses one.
func (f *Session) Settle(c *cobra.Command) {
	if !c.Flags().Changed("session") && !c.Flags().Changed("port") {
		f.session = os.Getenv(SessionVariable)
	}
}

// Chosen reports whether the command line or the environment chooses a session.
func (f *Session) Chosen() bool { return f.session != "" || f.Port.Asked }

// Find returns a client of the chosen session.
func (f *Session) Find(ctx context.Context) (*client.Client, error) {
	if err := f.Port.Check(); err != nil && f.session == "" {
		return nil, err
	}
	w := client.Selector{Name: f.session, Host: cmp.Or(f.Host, DefaultHost), Token: os.Getenv(TokenVariable)}
	if f.Port.Asked && !f.Port.None {
		w.Port = f.Port.Number
	}
	w.Dir, _ = os.Getwd()
	w.Last = Remembered().Named
	c, err := client.Find(ctx, Registry(), w)
	if err == nil {
		c.OnSlow = func() { fmt.Fprintf(command.ForTerminal(os.Stderr), "Waiting for %s to answer…\n", c.Where()) }
	}
	return c, err
}
