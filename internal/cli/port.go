package cli

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hone-dev/hone/internal/base/problem"
)

const (
	defaultHost = "localhost"
	defaultPort = 10350
)

// serverFlags say where a new session's API is.
type serverFlags struct {
	host string
	port portFlag
}

func (f *serverFlags) add(c *cobra.Command) {
	f.port = envPort()
	c.Flags().StringVar(&f.host, "host", envOr("TILT_HOST", defaultHost), "host for the session's API and for port forwards; also from TILT_HOST")
	c.Flags().Var(&f.port, "port", "port for the session's API: 0 takes a free one, none opens none; also from TILT_PORT")
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// envPort is what TILT_PORT says.
func envPort() portFlag {
	p := portFlag{number: defaultPort}
	if v := os.Getenv("TILT_PORT"); v != "" {
		p.wrong = p.Set(v)
	}
	return p
}

// noPort is the value of --port that opens none.
const noPort = "none"

// portFlag is the value of --port.
type portFlag struct {
	number int
	none   bool
	// asked is set when the user chose it.
	asked bool
	// wrong is what is wrong with the environment's choice, if nothing else was chosen.
	wrong error
}

// check returns the problem that the environment's choice is no port.
func (p *portFlag) check() error {
	if p.wrong == nil {
		return nil
	}
	return problem.Wrap(p.wrong, "TILT_PORT cannot be understood", "unset TILT_PORT, or choose a port with --port")
}

// text is what TILT_PORT says to commands; empty where there is no port.
func (p *portFlag) text() string {
	if p.none {
		return ""
	}
	return strconv.Itoa(p.number)
}

var _ pflag.Value = (*portFlag)(nil)

// Set implements pflag.Value.
func (p *portFlag) Set(s string) error {
	if s == noPort {
		*p = portFlag{none: true, asked: true}
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is no port: choose one from 1 to 65535, 0 for a free one, or none", s)
	}
	*p = portFlag{number: n, asked: true}
	return nil
}

// String implements pflag.Value.
func (p *portFlag) String() string {
	if p.none {
		return noPort
	}
	return strconv.Itoa(p.number)
}

// Type implements pflag.Value.
func (*portFlag) Type() string { return "port" }
