package self

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/doctor"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
	"github.com/hone-dev/hone/internal/update/agent/program"
)

func newVerifyInstall(g *command.Global) *cobra.Command {
	return &cobra.Command{
		Use:   "verify-install",
		Short: "Check that hone is installed completely",
		Long: `Checks that the binary is complete (the programs for containers, the extensions, the kinds of its API), and that it can write
to its folders. It needs neither a cluster nor an engine nor a Tiltfile; hone doctor checks the first two. The exit code is
1 when something is missing.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return verifyInstall(g.Stdout, installChecks()) },
	}
}

// installCheck checks one part. look returns a text for people.
type installCheck struct {
	name string
	look func() (string, error)
}

func installChecks() []installCheck {
	checks := []installCheck{
		{"version", func() (string, error) { return command.VersionText(), nil }},
		{"program", checkExecutable},
	}
	for _, arch := range []string{"amd64", "arm64"} {
		checks = append(checks, installCheck{"program for containers on linux/" + arch, func() (string, error) { return checkSynclet(arch) }})
	}
	checks = append(checks,
		installCheck{"extensions", checkExtensions},
		installCheck{"kinds of the API", checkKinds})
	for _, dir := range []struct{ name, path string }{
		{"folder of running sessions", sessions.Dir(xdg.RuntimeDir, command.StateDir())},
		{"folder of records and logs", command.StateDir()},
		{"folder of copies of extensions", extension.DefaultDir()},
	} {
		checks = append(checks, installCheck{dir.name, func() (string, error) { return dir.path, doctor.Writable(dir.path) }})
	}
	return checks
}

// checkExecutable returns the path of this program; hone up --detach starts it again from there.
func checkExecutable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	return path, f.Close()
}

// machines are the processor types of programs for containers.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkSynclet unpacks the program for an architecture, which has a checksum, and checks its type.
func checkSynclet(arch string) (string, error) {
	data, err := program.For(arch)
	if err != nil {
		return "", err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	defer f.Close()
	if f.Machine != machines[arch] {
		return "", fmt.Errorf("it is for %s", f.Machine)
	}
	return fmt.Sprintf("build %s, %d kB", program.Build(), len(data)/1000), nil
}

func checkExtensions() (string, error) {
	names := extension.Embedded()
	if len(names) == 0 {
		return "", errors.New("there are none")
	}
	for _, n := range names {
		source, err := extension.EmbeddedSource(n)
		if err != nil {
			return "", err
		}
		if len(bytes.TrimSpace(source)) == 0 {
			return "", fmt.Errorf("%s is empty", n)
		}
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", ")), nil
}

func checkKinds() (string, error) {
	page := apiPage()
	for _, k := range append(append([]projection.Kind(nil), page.Kinds...), page.Listed...) {
		if k.Doc == "" || k.New == nil || k.New() == nil {
			return "", fmt.Errorf("%s has no documentation or type", k.Plural)
		}
	}
	return fmt.Sprint(len(page.Kinds) + len(page.Listed)), nil
}

// verifyInstall makes checks and prints the result of each.
func verifyInstall(out io.Writer, checks []installCheck) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	var missing []string
	for _, c := range checks {
		found, err := c.look()
		if err != nil {
			missing = append(missing, c.name)
			fmt.Fprintf(w, "✖ %s\t%v\n", c.name, err)
			continue
		}
		fmt.Fprintf(w, "✓ %s\t%s\n", c.name, filepath.ToSlash(found))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(missing) > 0 {
		return problem.New("hone is not installed completely: "+strings.Join(missing, ", "),
			"install it again; if a folder cannot be written to, make it yours or choose another with XDG_STATE_HOME, XDG_RUNTIME_DIR, XDG_DATA_HOME")
	}
	_, err := fmt.Fprintln(out, "hone is installed completely.")
	return err
}
