package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	defaultHost = "localhost"
	defaultPort = 10350
)

// options are what the command line asks of a session.
type options struct {
	command    state.Command
	tiltfile   string // absolute
	session    string // the name that the session is to have; empty for one of its own choice
	args       []string
	context    string
	namespace  string
	host       string
	port       portFlag
	stream     bool
	updateMode model.UpdateMode
	forward    bool
	adopt      bool
	timeout    time.Duration
	lines      stream.Options
	report     reportOptions
	// snapshot takes the session's last state; nil for none.
	snapshot   *outputfile.File
	background *background
	global     *global
}

// projectFlags choose the Tiltfile and the cluster.
type projectFlags struct {
	file, context, namespace string
	// session is a name that leads to a Tiltfile; chosen reports whether --file was given.
	session string
	chosen  func() bool
}

func (f *projectFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.file, "file", "f", "Tiltfile", "path of the Tiltfile")
	c.Flags().StringVar(&f.session, "session", "", "without --file, the Tiltfile of the session that runs, or ran last, under this name")
	f.chosen = func() bool { return c.Flags().Changed("file") }
	_ = c.RegisterFlagCompletionFunc("session", completeSessions)
	c.Flags().StringVar(&f.context, "context", "", "kubeconfig context to use instead of the current one")
	c.Flags().StringVar(&f.namespace, "namespace", "", "namespace for objects that name none, instead of the context's")
}

// path returns the absolute path of the Tiltfile, which need not exist.
func (f *projectFlags) path() (string, error) {
	path, err := filepath.Abs(f.file)
	if err != nil {
		return "", fmt.Errorf("find the Tiltfile: %w", err)
	}
	if f.session == "" || f.chosen() {
		return path, nil
	}
	led, known, err := tiltfileOf(f.session)
	if err != nil || !known {
		return path, err
	}
	if _, err := os.Stat(path); err == nil && sessions.Real(path) != led {
		return "", problem.New(fmt.Sprintf("session %s is of %s, and there is a Tiltfile here, too", f.session, led),
			fmt.Sprintf("say which is meant: -f %s, or -f %s", led, f.file))
	}
	return led, nil
}

// tiltfileOf returns the Tiltfile of the session that runs, or ran last, under a name.
func tiltfileOf(name string) (path string, known bool, err error) {
	living, err := registry().List(context.Background())
	if err != nil {
		return "", false, err
	}
	for _, s := range living {
		if s.Name == name {
			return s.Tiltfile, true, nil
		}
	}
	p, known, err := remembered().Named(name)
	return p.Tiltfile, known, err
}

// waiting returns the absolute path of the Tiltfile, whose folder must exist.
func (f *projectFlags) waiting() (string, error) {
	path, err := f.path()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(path)); os.IsNotExist(err) || err == nil && !info.IsDir() {
		return "", problem.New("there is no folder "+filepath.Dir(path), "run hone where the Tiltfile is, or name it: hone up -f PATH")
	}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return path, nil
	}
	return f.resolve()
}

// resolve returns the absolute path of the Tiltfile, which must exist.
func (f *projectFlags) resolve() (string, error) {
	path, err := f.path()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err) && f.session != "" && !f.chosen():
		return "", problem.New(fmt.Sprintf("no Tiltfile found at %s, to which the name %s leads", path, f.session), "name the Tiltfile: -f PATH")
	case os.IsNotExist(err):
		return "", problem.New("no Tiltfile found at "+path, "run hone where the Tiltfile is, or name it: hone up -f PATH")
	case err != nil:
		return "", fmt.Errorf("find the Tiltfile: %w", err)
	case info.IsDir():
		return "", problem.New(path+" is a folder", "name the Tiltfile in it: -f "+filepath.Join(f.file, "Tiltfile"))
	}
	return path, nil
}

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

// sessionFlags are those of up and ci.
type sessionFlags struct {
	project     projectFlags
	server      serverFlags
	stream      bool
	updateMode  string
	noForwards  bool
	logLevel    string
	logSource   string
	logResource []string
	snapshot    string
	adopt       bool
}

func (f *sessionFlags) add(c *cobra.Command) {
	f.project.add(c)
	c.Flags().Lookup("session").Usage = "name of the session; without --file, also its Tiltfile: that of the session that ran last under this name"
	f.server.add(c)
	c.ValidArgsFunction = f.project.completeDeclared
	c.Flags().BoolVar(&f.noForwards, "disable-port-forwards", false, "open no ports for resources")
	c.Flags().StringVar(&f.updateMode, "update-mode", string(model.UpdateAuto), "how resources are updated: auto, image, naive, container, exec")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "take over objects that exist already and that hone did not create; hone down restores them")
	c.Flags().StringVar(&f.logLevel, "log-level", "", "print only lines of this level and above: warn, error")
	c.Flags().StringVar(&f.logSource, "log-source", "all", "print only lines of this source: all, build, runtime")
	c.Flags().StringArrayVar(&f.logResource, "log-resource", nil, "print only lines of this resource; may be given more than once")
	c.Flags().StringVar(&f.snapshot, "output-snapshot-on-exit", "", "write the session's state and logs to this file when it ends; hone snapshot view shows it")
	// Flags of Tilt that ask for something that hone does anyway, or for a page that it does not have.
	c.Flags().Bool("legacy", false, "")
	c.Flags().Bool("hud", false, "")
	c.Flags().String("web-mode", "", "")
	c.Flags().Int("webdev-port", 0, "")
	for _, hidden := range []string{"legacy", "hud", "web-mode", "webdev-port"} {
		_ = c.Flags().MarkHidden(hidden)
	}
}

// options checks the flags.
func (f *sessionFlags) options(g *global, command state.Command, args []string) (options, error) {
	o := options{command: command, args: args, context: f.project.context, namespace: f.project.namespace,
		host: f.server.host, port: f.server.port, stream: f.stream, forward: !f.noForwards, adopt: f.adopt, global: g}
	err := f.server.port.check()
	if err != nil {
		return o, err
	}
	if o.session = f.project.session; o.session != "" && !sessions.ValidName(o.session) {
		return o, problem.New(fmt.Sprintf("no session can be called %q", o.session), "take small letters, digits and -, at most 32: --session shop-2")
	}
	find := f.project.resolve
	if command == state.CommandUp {
		find = f.project.waiting // begins when there is one
	}
	if o.tiltfile, err = find(); err != nil {
		return o, err
	}
	if o.updateMode, err = model.ParseUpdateMode(f.updateMode); err != nil {
		return o, problem.New(err.Error(), "for example: --update-mode "+string(model.UpdateAuto))
	}
	if f.snapshot != "" {
		if o.snapshot, err = snapshot.Open(f.snapshot); err != nil {
			return o, err
		}
	}
	o.lines, err = f.filter()
	return o, err
}

// filter returns which lines the stream prints.
func (f *sessionFlags) filter() (stream.Options, error) {
	var o stream.Options
	switch f.logLevel {
	case "", "all", "info":
	case "warn":
		o.MinLevel = logstore.LevelWarn
	case "error":
		o.MinLevel = logstore.LevelError
	default:
		return o, problem.New(fmt.Sprintf("unknown --log-level %q", f.logLevel), "choose warn or error")
	}
	switch f.logSource {
	case "", "all":
	case "build":
		o.Source = logstore.SourceBuild
	case "runtime":
		o.Source = logstore.SourceRuntime
	default:
		return o, problem.New(fmt.Sprintf("unknown --log-source %q", f.logSource), "choose all, build or runtime")
	}
	for _, n := range f.logResource {
		o.Resources = append(o.Resources, model.ManifestName(n))
	}
	return o, nil
}
