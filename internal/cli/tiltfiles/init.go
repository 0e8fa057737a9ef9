package tiltfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/survey"
)

// tiltfileName is the name of the file that hone init writes.
const tiltfileName = "Tiltfile"

func newInit(g *command.Global) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Look at a project, and write a Tiltfile for it",
		Long: `Looks at the files of a project, and writes a Tiltfile that declares what it finds: objects in YAML files, kustomizations, Helm
charts, Compose files, the images of Dockerfiles with live updates where copying a file is enough, what skaffold.yaml declares,
what devspace.yaml declares, the processes of a Procfile, and npm scripts. Programs that are compiled are compiled in the container.

It says what it found, what it guessed, and what it left out; with --ask it asks instead of guessing. A file that is there already is
never overwritten. In a folder with nothing to declare it offers a small example.`,
		Example: "  hone init\n  hone init --dry-run\n  hone init --ask\n  hone init --compose kubernetes\n  hone init services/shop && hone up -f services/shop/Tiltfile",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return initProject(cmd, g, dir, o)
		},
	}
	c.Flags().BoolVar(&o.dry, "dry-run", false, "print the Tiltfile instead of writing it")
	c.Flags().BoolVar(&o.ask, "ask", false, "ask for what the files leave open, instead of guessing")
	c.Flags().StringVar(&o.compose, "compose", "keep", "what becomes of Compose services: keep runs them with docker compose, kubernetes writes objects for a cluster")
	c.Flags().BoolVar(&o.example, "example", false, "write a small project to try hone on, into a folder without files")
	c.MarkFlagsMutuallyExclusive("ask", "compose")
	c.MarkFlagsMutuallyExclusive("ask", "example")
	c.MarkFlagsMutuallyExclusive("dry-run", "example")
	return c
}

type initOptions struct {
	dry, ask, example bool
	compose           string
}

func initProject(cmd *cobra.Command, g *command.Global, dir string, o initOptions) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return problem.Wrap(err, dir+" is no folder", "name the folder of a project")
	}
	path := filepath.Join(dir, tiltfileName)
	if _, err := os.Lstat(path); err == nil && !o.dry {
		return problem.New(path+" is there already", "hone up runs it; hone init --dry-run prints what would be written")
	}
	if o.example {
		return writeExample(g, dir)
	}
	var refused error
	answer, err := o.answer(cmd, g, &refused)
	if err != nil {
		return err
	}
	p, err := survey.Look(os.DirFS(dir), answer)
	if refused != nil {
		return refused
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	for _, kind := range []survey.NoteKind{survey.Found, survey.Guessed, survey.LeftOut} {
		for _, n := range p.Notes {
			if n.Kind == kind {
				fmt.Fprintf(g.Stderr, "%-9s %s\n", n.Kind, n.Text)
			}
		}
	}
	if p.Empty() {
		if yes, err := offersExample(cmd, g, dir); err != nil || yes {
			return err
		}
		return problem.New("nothing was found that a Tiltfile could declare",
			"hone init looks for YAML files with objects, kustomizations, Helm charts, Compose files, Dockerfiles, skaffold.yaml, devspace.yaml, a Procfile and package.json\nhone init --example writes a small project to try hone on, into an empty folder").See("tiltfile")
	}
	if o.dry {
		for _, name := range slices.Sorted(maps.Keys(p.Written)) {
			fmt.Fprintf(g.Stdout, "# %s\n%s\n", name, p.Written[name])
		}
		_, err := io.WriteString(g.Stdout, p.Tiltfile())
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Written)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", name, err)
		}
		if err := write(file, p.Written[name]); err != nil {
			return err
		}
		fmt.Fprintf(g.Stdout, "Wrote %s\n", file)
	}
	if err := write(path, p.Tiltfile()); err != nil {
		return err
	}
	fmt.Fprintf(g.Stdout, "Wrote %s. Read it, then: hone up\n", path)
	return nil
}

// write creates a file. One that has appeared meanwhile stays as it is.
func write(path, content string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return problem.New(path+" is there already", "hone up runs it")
	}
	if err != nil {
		return fmt.Errorf("write the Tiltfile: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.WriteString(f, content)
	return err
}

// answer returns the function that answers the questions about the project: by asking the user with --ask, else by the flags and
// the guesses. refused gets the error of a question that was not answered: then nothing may be written.
func (o initOptions) answer(cmd *cobra.Command, g *command.Global, refused *error) (survey.Answer, error) {
	switch {
	case o.compose != "keep" && o.compose != "kubernetes":
		return nil, problem.New(fmt.Sprintf("unknown --compose %q", o.compose), "choose keep or kubernetes")
	case !o.ask:
		return func(q survey.Question) int {
			if o.compose == "kubernetes" {
				return max(0, slices.Index(q.Options, survey.ComposeToKubernetes))
			}
			return 0
		}, nil
	case !command.Interactive():
		return nil, problem.New("cannot ask: this is not a terminal", "leave out --ask: hone init says what it guesses")
	}
	return func(q survey.Question) int {
		if *refused != nil {
			return 0
		}
		n, err := command.Choose(cmd.Context(), g.Stderr, q.Text, q.Options)
		*refused = err
		return n
	}, nil
}
