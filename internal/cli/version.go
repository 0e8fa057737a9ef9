package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is hone's own version; the build sets it by -ldflags.
var Version = "0.1.0-dev"

func newVersion(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(g.stdout, versionText())
			return err
		},
	}
}

// versionText is the version with the commit it was built from, where that is known.
func versionText() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = ", commit " + s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return fmt.Sprintf("hone v%s%s, %s, %s/%s", Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
