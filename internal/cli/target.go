package cli

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/client"
)

// tokenVariable holds the token of a session that the registry does not know.
const tokenVariable = "HONE_TOKEN"

// targetFlags say which running session a command is about.
type targetFlags struct {
	session string
	host    string
	port    portFlag
}

func (f *targetFlags) add(c *cobra.Command) {
	f.port = envPort()
	c.Flags().StringVar(&f.session, "session", "", "name of the session; also from HONE_SESSION. hone sessions lists them")
	c.Flags().StringVar(&f.host, "host", envOr("TILT_HOST", defaultHost), "host of the session's API; also from TILT_HOST")
	c.Flags().Var(&f.port, "port", "port of the session's API; also from TILT_PORT")
	c.Flags().Lookup("port").DefValue = ""
	c.PreRun = func(c *cobra.Command, _ []string) { f.settle(c) }
	_ = c.RegisterFlagCompletionFunc("session", completeSessions)
}

// settle reads the environment, before which what is said on the command line comes.
func (f *targetFlags) settle(c *cobra.Command) {
	if !c.Flags().Changed("session") && !c.Flags().Changed("port") {
		f.session = os.Getenv(sessionVariable)
	}
}

// find returns the session that is meant.
func (f *targetFlags) find(ctx context.Context) (*client.Client, error) {
	if err := f.port.check(); err != nil && f.session == "" {
		return nil, err
	}
	w := client.Wish{Name: f.session, Host: cmp.Or(f.host, defaultHost), Token: os.Getenv(tokenVariable)}
	if f.port.asked && !f.port.none {
		w.Port = f.port.number
	}
	w.Dir, _ = os.Getwd()
	return client.Find(ctx, registry(), w)
}
