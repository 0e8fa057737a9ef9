package self

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/doctor"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/compose"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func newDoctor(g *command.Global) *cobra.Command {
	var f flags.Project
	var output string
	var terminal bool
	var sample percent
	var builder string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and the cluster, and report problems",
		Long: `Checks this machine and the cluster. Each problem is marked and shown with its fix; the exit code is 0 even if there are
problems. Nothing is changed. Further clusters that the project has deployed to are checked as well; the Tiltfile is not evaluated for it.

With --check-cache, it also builds images of the project again, from scratch, and compares them with the remembered ones of the same
inputs, which hone would use again. The builder of the project builds them. What differs is listed with its cause, as far as that can be known. Times do not count, and no
new image stays. --check-cache=N chooses N % of the remembered images, at least one. Images that cannot be compared are listed, each with
the reason.

With --terminal it only makes this terminal usable again after a screen was killed in it. Any other command of hone does that
too if the screen was hone's.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if terminal {
				return restoreTerminal(g)
			}
			write, err := command.DocumentWriter(output, "doctor")
			if err != nil {
				return err
			}
			var more []*doctor.Section
			if cmd.Flags().Changed("check-cache") {
				cache, err := checkCache(cmd.Context(), g, &f, builder, sample)
				if err != nil {
					return err
				}
				more = append(more, cache)
			}
			e := examine(cmd.Context(), g, f, cmp.Or(builder, os.Getenv(command.BuilderVariable)), more...)
			if write != nil {
				return write(g.Stdout, e)
			}
			return printExamination(g.Stdout, e)
		},
	}
	f.Add(c)
	c.Flags().Var(&sample, "check-cache", "build this percentage of the remembered images again, and compare them")
	c.Flags().Lookup("check-cache").NoOptDefVal = usualSample
	command.AddBuilderFlag(c, &builder)
	c.Flags().BoolVar(&terminal, "terminal", false, "restore this terminal, and check nothing")
	command.AddDocumentFlag(c, &output, api.Examination{})
	return c
}

// restoreTerminal makes the terminal usable, if that has not been done at the start of this command.
func restoreTerminal(g *command.Global) error {
	if g.Terminal.Repaired != "" {
		return nil // which was said
	}
	if err := g.Terminal.Reset(); err != nil {
		return err
	}
	fmt.Fprintln(g.Stdout, "This terminal is reset. No screen of hone was killed in it.")
	return nil
}

// examine makes all checks, with the named builder, if any, and adds more.
func examine(ctx context.Context, g *command.Global, f flags.Project, named string, more ...*doctor.Section) api.Examination {
	answered := g.Waiting("the cluster")
	cluster, known, found := examineCluster(ctx, f)
	answered()
	answered = g.Waiting("the container engine")
	engine, info := examineEngine(ctx, found)
	answered()
	if info != nil && found.Context != "" {
		engine.Delivered(delivery(ctx, found, *info))
	}
	others := examineOthers(ctx, g, f, info)
	answered = g.Waiting("the builders of images")
	builders := examineBuilder(ctx, f, named, found)
	answered()
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	answered = g.Waiting("the running sessions")
	running, err := flags.RunningSessions(ctx, flags.Registry())
	answered()
	sections := []*doctor.Section{
		doctor.Program(command.VersionText(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, path),
		cluster, engine, builders,
		doctor.Watching(func() error { _, err := watch.New(watch.Options{}); return err }, "/proc/sys/fs/inotify"),
		doctor.Terminal(terminalHere()),
		doctor.Sessions(running, err),
		doctor.Folders(folders()),
	}
	if outside := doctor.Outside(surroundings(ctx), known, info != nil, found.Context != ""); outside != nil {
		sections = slices.Insert(sections, 3, outside)
	}
	sections = slices.Insert(sections, 2, others...)
	return doctor.Report(command.Version, append(sections, more...)...)
}

// delivery returns the way in which images get from an engine to a cluster, and why it is this one.
func delivery(ctx context.Context, cluster model.Cluster, engine docker.Info) (model.DeliveryMethod, string) {
	plan := imagebuild.Probe(ctx).Choose(cluster, engine, model.Registry{}, model.ImageTarget{Ref: "IMAGE"})
	return plan.Method, plan.Why
}

// surroundings returns the surroundings of this process.
func surroundings(ctx context.Context) doctor.Surroundings {
	return doctor.Surroundings{Env: os.Getenv,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
		Resolves: func(host string) bool {
			ctx, cancel := context.WithTimeout(ctx, flags.AskLimit)
			defer cancel()
			_, err := net.DefaultResolver.LookupHost(ctx, host)
			return err == nil
		}}
}

// examineCluster returns the cluster that the kubeconfig knows, and the one that answers.
func examineCluster(ctx context.Context, f flags.Project) (s *doctor.Section, known, found model.Cluster) {
	kc, err := k8s.Load(k8s.Config{Context: f.Context, Namespace: f.Namespace})
	if err != nil {
		s, found = doctor.Cluster(ctx, model.Cluster{}, err, nil)
		return s, known, found
	}
	s, found = ask(ctx, kc, doctor.Cluster)
	return s, kc.Cluster(), found
}

func examineEngine(ctx context.Context, cluster model.Cluster) (*doctor.Section, *docker.Info) {
	var engine docker.Client
	defer func() {
		if engine != nil {
			_ = engine.Close()
		}
	}()
	return doctor.Engine(ctx, func(ctx context.Context) (doctor.Pinger, error) {
		endpoint, err := docker.FindFor(ctx, cluster)
		if err != nil {
			return nil, err
		}
		e, err := docker.New(endpoint)
		if err != nil {
			return nil, err
		}
		engine = e
		return e, nil
	}, func(ctx context.Context) (string, error) {
		var env []string
		if engine != nil {
			env = engine.Env()
		}
		return compose.NewTool(env).Version(ctx)
	})
}

// terminalHere describes the terminal that this process runs in.
func terminalHere() doctor.Screen {
	fd := int(os.Stdout.Fd())
	s := doctor.Screen{Is: term.IsTerminal(fd), UTF8: command.UTF8Locale(), Term: os.Getenv("TERM"), ColorTerm: os.Getenv("COLORTERM"), NoColor: os.Getenv("NO_COLOR")}
	if s.Is {
		s.Columns, s.Rows, _ = term.GetSize(fd)
	}
	return s
}

// folders returns the folders where hone keeps files.
func folders() []doctor.Folder {
	return []doctor.Folder{
		{Name: "running sessions", Path: sessions.Dir(xdg.RuntimeDir, command.StateDir())},
		{Name: "records of deploys", Path: command.LedgerDir()},
		{Name: "logs of running sessions", Path: filepath.Join(command.StateDir(), "logs")},
		{Name: "logs of background sessions", Path: filepath.Join(command.StateDir(), "sessions")},
		{Name: "copies of extensions", Path: extension.DefaultDir()},
	}
}

// printExamination prints findings for people: problems are marked and followed by their fix.
func printExamination(out io.Writer, e api.Examination) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, s := range e.Sections {
		fmt.Fprintln(w, s.Name)
		for _, f := range s.Findings {
			if f.Fault == "" {
				fmt.Fprintf(w, "  %s\t%s\n", f.Name, f.Value)
				continue
			}
			fmt.Fprintf(w, "  %s\t✖ %s\n", f.Name, firstThenIndented(f.Fault))
			for line := range strings.Lines(f.Mend) {
				fmt.Fprintf(w, "  \t  %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	switch e.Faults {
	case 0:
		fmt.Fprintln(w, "\nNothing is wrong.")
	case 1:
		fmt.Fprintln(w, "\n1 thing is wrong, marked with ✖.")
	default:
		fmt.Fprintf(w, "\n%d things are wrong, marked with ✖.\n", e.Faults)
	}
	return w.Flush()
}

// firstThenIndented indents the lines of a text after the first to the second column.
func firstThenIndented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  \t  ")
}
