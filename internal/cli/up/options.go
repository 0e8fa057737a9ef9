package up

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/outputfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// options are the settings of a session from the command line.
type options struct {
	command    state.Command
	called     string // how people call the command: "hone deploy"
	session    string // the name of the session; empty for a default
	tiltfile   string // absolute
	choice     opened.Choice
	project    *opened.Project // opened from choice, at the latest when the session begins
	host       string
	port       flags.Port
	stream     bool
	updateMode model.UpdateMode
	forward    bool
	adopt      bool
	confirm    bool
	shown      bool // it carries out a plan that was shown, with images that are known to come of the same inputs
	// evaluated is the evaluation that the plan was made from; nil where there was no plan.
	evaluated *tiltfile.Evaluated
	prune     buildanddeploy.Prune
	timeout   time.Duration
	lines     stream.Options
	settings  settings.Settings // of the screen
	report    reportOptions
	// snapshot receives the session's last state; nil for none.
	snapshot   *outputfile.File
	background *background
	global     *command.Global
}

// reports reports whether the session writes more than lines for people, which needs a session.
func (o options) reports() bool {
	return o.report.wanted() || o.snapshot != nil
}

// sessionFlags are the flags of up and ci.
type sessionFlags struct {
	project     flags.Project
	server      flags.Server
	stream      bool
	updateMode  string
	noForwards  bool
	logLevel    string
	logSource   string
	logResource []string
	snapshot    string
	adopt       bool
	builder     string
	confirm     bool
	prune       pruneFlags
}

func (f *sessionFlags) add(c *cobra.Command) {
	f.project.Add(c)
	f.project.Names, f.project.Begins = true, true
	c.Flags().Lookup("session").Usage = "name of the session; without --file, also selects the project of the last session with this name: its Tiltfile, context and namespace"
	f.server.Add(c)
	c.ValidArgsFunction = f.project.CompleteDeclared
	c.Flags().BoolVar(&f.noForwards, "disable-port-forwards", false, "open no ports for resources")
	c.Flags().StringVar(&f.updateMode, "update-mode", string(model.UpdateAuto), "how resources are updated: auto, image, naive, container, exec")
	c.Flags().BoolVar(&f.adopt, "adopt", false, "take over objects that exist already and that hone did not create; hone down restores them")
	command.AddBuilderFlag(c, &f.builder)
	f.prune.add(c)
	c.Flags().StringVar(&f.logLevel, "log-level", "info", "print only lines of this level and above: debug (with the details of updates), info, warn, error")
	c.Flags().StringVar(&f.logSource, "log-source", "all", "print only lines of this source: all, build, runtime")
	c.Flags().StringArrayVar(&f.logResource, "log-resource", nil, "print only lines of this resource; may be given more than once")
	c.Flags().StringVar(&f.snapshot, "output-snapshot-on-exit", "", "write the session's state and logs to this file when it ends; hone snapshot view shows it")
	// Flags of Tilt that request hone's default behaviour, or a page that hone does not have.
	c.Flags().Bool("legacy", false, "")
	c.Flags().Bool("hud", false, "")
	c.Flags().String("web-mode", "", "")
	c.Flags().Int("webdev-port", 0, "")
	for _, hidden := range []string{"legacy", "hud", "web-mode", "webdev-port"} {
		_ = c.Flags().MarkHidden(hidden)
	}
}

// options checks the flags.
func (f *sessionFlags) options(g *command.Global, command state.Command, args []string) (options, error) {
	o := options{command: command, called: "hone " + string(command), host: f.server.Host, port: f.server.Port, stream: f.stream, forward: !f.noForwards, adopt: f.adopt, confirm: f.confirm, global: g}
	err := f.server.Port.Check()
	if err != nil {
		return o, err
	}
	if o.prune, err = f.prune.value(); err != nil {
		return o, err
	}
	if o.session = f.project.Session; o.session != "" && !sessions.ValidName(o.session) {
		return o, problem.New(fmt.Sprintf("no session can be called %q", o.session), "use at most 32 lowercase letters, digits and -: --session shop-2")
	}
	find := f.project.Resolve
	if command == state.CommandUp {
		find = f.project.ResolveFolder // the session begins when there is a Tiltfile
	}
	o.choice = opened.Choice{Flags: &f.project, Find: find, Args: args, Subcommand: string(command), Command: string(command), Builder: f.builder, Server: &f.server}
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
	case "", "info":
	case "all", "debug":
		o.Details = true
	case "warn":
		o.MinLevel = logstore.LevelWarn
	case "error":
		o.MinLevel = logstore.LevelError
	default:
		return o, problem.New(fmt.Sprintf("unknown --log-level %q", f.logLevel), "choose debug, info, warn or error")
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
