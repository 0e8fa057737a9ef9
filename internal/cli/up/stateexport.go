package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/ledger"
)

// standardStream stands for standard input and output in place of a file.
const standardStream = "-"

func newStateExport(g *command.Global) *cobra.Command {
	var f flags.Project
	c := &cobra.Command{
		Use:   "export FILE|-",
		Short: "Write the ledger with its history to one file",
		Long: fmt.Sprintf(`Writes the ledger of the project with its history to one file, or to standard output: a backup, or the way to a place that this machine
cannot reach. hone state import reads it. The ledger stays as it is.

With %s, the file is encrypted. Without it, declarations of objects are legible in it, and the arguments and variables of recorded
commands are encrypted with the key of this machine: only this machine can import them. Values of Secrets are not in it then.

A project in several clusters has a ledger in each: --cluster says which one, unless only one has anything.

Down commands of local resources are not part of the ledger: they stay on the machine that ran the resource.`, ledger.KeyVariable),
		Example: "  hone state export shop.ledger\n  hone state export - | ssh build hone state import -",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedgers(cmd.Context(), g, &f, func(ctx context.Context, _ *opened.Project, in ledgers) error {
				one, err := in.only(ctx, "hone state export "+args[0])
				if err != nil {
					return err
				}
				return exportLedger(ctx, g, one.ledger, args[0])
			})
		},
	}
	f.Add(c)
	f.AddCluster(c)
	return c
}

func exportLedger(ctx context.Context, g *command.Global, l *ledger.Ledger, path string) error {
	log := g.Printer(g.Stderr, g.Stderr)
	doc, err := l.Export(ctx)
	if err != nil {
		return err
	}
	commands, err := l.Commands()
	if err != nil {
		return err
	}
	if len(commands) > 0 && !l.KeepsSecrets() {
		logstore.Warnf(log, "WARNING: %s recorded. Without %s, only this machine can import their arguments and variables.",
			recordedCommands(len(commands)), ledger.KeyVariable)
	}
	if path == standardStream {
		_, err := g.Stdout.Write(doc)
		return err
	}
	if err := writeNew(path, doc); err != nil {
		return err
	}
	logstore.Infof(log, "Exported the ledger to %s (%s).", path, words.Size(int64(len(doc))))
	return nil
}

func recordedCommands(n int) string {
	if n == 1 {
		return "1 command is"
	}
	return fmt.Sprintf("%d commands are", n)
}

// writeNew writes a file that must not exist, and that only the user can read. What could not be written whole does not stay.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return problem.New(path+" exists already", "choose another file, or remove it")
	}
	if err != nil {
		return fmt.Errorf("export the ledger: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("export the ledger: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

func newStateImport(g *command.Global) *cobra.Command {
	var f flags.Project
	var lossy bool
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Read the ledger from an exported file",
		Long: fmt.Sprintf(`Makes an exported file the ledger of the project, in the place that the Tiltfile, --ledger or %s names. It checks the whole file
first. The project and the cluster have to be those of the export, and the place must not have a ledger of the project. If it is
interrupted, the same command finishes it. Of several clusters, it takes the one that the export is about.

The arguments and variables of recorded commands can be read only with the key that encrypted them: %s, or the machine that exported
them. Otherwise it refuses the file; with --%s, the commands take their values from the Tiltfile and the environment.`,
			command.LedgerVariable, ledger.KeyVariable, lossyFlag),
		Example: "  hone state import shop.ledger",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedgers(cmd.Context(), g, &f, func(ctx context.Context, _ *opened.Project, in ledgers) error {
				return importLedger(ctx, g, in, args[0], cmd.InOrStdin(), lossy)
			})
		},
	}
	f.Add(c)
	f.AddCluster(c)
	addWithoutSecrets(c, &lossy)
	return c
}

func importLedger(ctx context.Context, g *command.Global, in ledgers, path string, stdin io.Reader, lossy bool) error {
	doc, err := readExport(path, stdin)
	if err != nil {
		return fmt.Errorf("read the exported ledger: %w", err)
	}
	one := in.open[0]
	of, err := one.ledger.ExportKey(doc)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(in.open, func(in ledgerIn) bool { return in.ledger.Key() == of }); i >= 0 {
		one = in.open[i]
	}
	ctx, release, err := one.alone(ctx, "state import")
	if err != nil {
		return err
	}
	defer release()
	if err := one.ledger.Import(ctx, doc, lossy); err != nil {
		return err
	}
	is, err := recordsOf(ctx, one)
	if err != nil {
		return err
	}
	logstore.Infof(g.Printer(g.Stdout, g.Stderr), "Imported %s of %s into %s.", words.Count(is.Objects, "record"), words.Count(is.Resources, "resource"), one.ledger.Place())
	return nil
}

// readExport reads a file, or standard input, up to the largest size of an export.
func readExport(path string, stdin io.Reader) ([]byte, error) {
	if path != standardStream {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	doc, err := io.ReadAll(io.LimitReader(stdin, ledger.LargestExport+1))
	if err == nil && len(doc) > ledger.LargestExport {
		err = problem.New("the file is larger than any ledger", "name the file that hone state export has written")
	}
	return doc, err
}
