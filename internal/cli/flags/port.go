package flags

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hone-dev/hone/internal/base/problem"
)

const (
	// DefaultHost is the host of a session's API if neither --host nor TILT_HOST names another.
	DefaultHost = "localhost"
	defaultPort = 10350
)

// Server are the flags that determine where a new session's API listens.
type Server struct {
	Host string
	Port Port
}

// Add adds the flags to a command.
func (f *Server) Add(c *cobra.Command) {
	f.Port = EnvPort()
	c.Flags().StringVar(&f.Host, "host", EnvOr("TILT_HOST", DefaultHost), "host for the session's API and for port forwards; also from TILT_HOST")
	c.Flags().Var(&f.Port, "port", "port for the session's API: 0 takes a free one, none opens none; also from TILT_PORT")
}

// EnvOr returns an environment variable, or the other value if it is unset or empty.
func EnvOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// EnvPort returns the port in TILT_PORT, or the default port.
func EnvPort() Port {
	p := Port{Number: defaultPort}
	if v := os.Getenv("TILT_PORT"); v != "" {
		p.wrong = p.Set(v)
	}
	return p
}

// noPort is the value of --port that opens none.
const noPort = "none"

// Port is the value of --port.
type Port struct {
	Number int
	None   bool
	// Asked is set when the user chose the port.
	Asked bool
	// wrong is the error in the environment's choice, if nothing else was chosen.
	wrong error
}

// Check returns a problem if TILT_PORT is not a port and no flag overrides it.
func (p *Port) Check() error {
	if p.wrong == nil {
		return nil
	}
	return problem.Wrap(p.wrong, "TILT_PORT cannot be understood", "unset TILT_PORT, or choose a port with --port")
}

// Text returns the port as the value of TILT_PORT for commands; empty where there is no port.
func (p *Port) Text() string {
	if p.None {
		return ""
	}
	return strconv.Itoa(p.Number)
}

var _ pflag.Value = (*Port)(nil)

// Set implements pflag.Value.
func (p *Port) Set(s string) error {
	if s == noPort {
		*p = Port{None: true, Asked: true}
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is no port: choose one from 1 to 65535, 0 for a free one, or none", s)
	}
	*p = Port{Number: n, Asked: true}
	return nil
}

// String implements pflag.Value.
func (p *Port) String() string {
	if p.None {
		return noPort
	}
	return strconv.Itoa(p.Number)
}

// Type implements pflag.Value.
func (*Port) Type() string { return "port" }
