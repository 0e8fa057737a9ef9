package self

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/reference"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/web"
)

func newDumpCLIDocs(g *command.Global) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:     "cli-docs",
		Short:   "Print the reference of the command line, in Markdown",
		Example: "  hone dump cli-docs > cli.md\n  hone dump cli-docs --dir docs",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page := cliPage(cmd.Root())
			if dir == "" {
				return page.Write(g.Stdout)
			}
			for _, c := range page.Commands() {
				text := fmt.Sprintf("# %s\n\n%s", c.CommandPath(), reference.Command(c))
				if err := writePage(dir, strings.ReplaceAll(c.CommandPath(), " ", "_"), text); err != nil {
					return err
				}
			}
			return writePage(dir, "hone", pageText(page.Write))
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write a file for each command into this folder, and hone.md with all of them")
	return c
}

func newDumpAPIDocs(g *command.Global) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:     "api-docs",
		Short:   "Print the reference of the session's API, in Markdown",
		Example: "  hone dump api-docs > objects.md",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			page := apiPage()
			if dir == "" {
				return page.Write(g.Stdout)
			}
			return writePage(dir, "api", pageText(page.Write))
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write api.md into this folder")
	return c
}

func newDumpJSONDocs(g *command.Global) *cobra.Command {
	return &cobra.Command{
		Use:     "json-docs",
		Short:   "Print the reference of the documents that commands print for programs, in Markdown",
		Example: "  hone dump json-docs > json.md",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return reference.JSON{Root: cmd.Root()}.Write(g.Stdout) },
	}
}

func newDumpJSONSchema(g *command.Global) *cobra.Command {
	return &cobra.Command{
		Use:   "json-schema",
		Short: "Print the JSON Schema of the documents that commands print for programs",
		Long: `Prints a JSON Schema. Its definitions are all types, and for each command with -o json one for its document: #/$defs/hone status. Fields
are added in new versions, so a program must not mind a field that it does not know.`,
		Example: "  hone dump json-schema > hone.schema.json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return reference.JSON{Root: cmd.Root()}.Schema(g.Stdout) },
	}
}

func apiPage() reference.API {
	return reference.API{Kinds: projection.All(), Listed: append(append(tables.All(state.Schema), tables.Tests()), tables.Machine(nil)...)}
}

func pageText(write func(io.Writer) error) string {
	var b bytes.Buffer
	_ = write(&b) // never fails on a buffer
	return b.String()
}

func writePage(dir, name, text string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the reference: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the reference: %w", err)
	}
	return nil
}

// cliPage returns the reference of the command line.
func cliPage(root *cobra.Command) reference.CLI {
	return reference.CLI{Root: root, Environment: environment, ExitCodes: exitCodes}
}

// environment are the variables that hone reads itself. Its libraries read others, such as KUBECONFIG and DOCKER_HOST.
var environment = []reference.Entry{
	{Name: "TILT_HOST", Doc: "--host, if that is not given"},
	{Name: "TILT_PORT", Doc: "--port, if that is not given"},
	{Name: flags.SessionVariable, Doc: "--session, if neither that nor --port is given"},
	{Name: flags.TokenVariable, Doc: "the token that requests to a session have, as hone token create prints it; a session on another machine requires one"},
	{Name: "TILT_EDITOR, KUBE_EDITOR, VISUAL, EDITOR", Doc: "the editor for hone edit and hone args; the first that is set counts"},
	{Name: "XDG_RUNTIME_DIR, XDG_STATE_HOME", Doc: "folders for session sockets, logs and ledgers"},
	{Name: command.HolderVariable, Doc: "the name under which this machine holds the objects that it deploys; machines with one name work on them together"},
	{Name: command.BuilderVariable, Doc: "--builder, if that is not given: the name or the address of the builder of images"},
	{Name: command.LedgerVariable, Doc: "--ledger, if that is not given: the URL of the storage of ledgers"},
	{Name: ledger.KeyVariable + ", " + ledger.KeyFileVariable, Doc: "the keys of ledgers, in base64, or a file with them: the first one encrypts, all of them decrypt"},
	{Name: "HONE_LEDGER_TOKEN", Doc: "the token for a storage of ledgers on an HTTP server"},
	{Name: "XDG_CONFIG_HOME", Doc: "folder for hone/screen.yaml, the settings of the screen"},
	{Name: settings.ThemeVariable, Doc: "the colours of the screen, over the setting theme: auto, dark, light, high-contrast, color-blind or terminal"},
	{Name: settings.NotifyVariable, Doc: "how the screen notifies while the terminal has no focus, over the setting notify: auto, off, bell, osc9 or osc777"},
	{Name: "CI", Doc: "the screen notifies only if a setting says how"},
	{Name: "NO_COLOR", Doc: "no colours"},
	{Name: "CLICOLOR_FORCE", Doc: "colours in log lines even if they do not go to a terminal, unless it is 0"},
	{Name: web.Dir, Doc: "a folder whose files replace those of the web page, for work on it"},
}

// exitCodes are the exit codes of commands.
var exitCodes = []reference.Entry{
	{Name: fmt.Sprint(command.ExitOK), Doc: "success; hone ci: every resource is updated and ready"},
	{Name: fmt.Sprint(command.ExitFailure), Doc: "an error was printed; hone ci: a resource failed or did not become ready in time; hone wait: the time is up; hone get --watch: the session is over"},
	{Name: fmt.Sprint(command.ExitTiltfile), Doc: "the Tiltfile has an error"},
	{Name: fmt.Sprint(command.ExitTimeout), Doc: "hone ci: the time of --timeout is up"},
	{Name: fmt.Sprint(command.ExitInterrupted), Doc: "the command was interrupted"},
}
