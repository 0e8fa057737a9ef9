//go:build !windows

package screen

import (
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// ownScreen returns the terminal of the process.
func ownScreen(about terminal.Description) (Terminal, error) {
	known, err := tcell.LookupTerminfo(os.Getenv("TERM"))
	if err != nil {
		return nil, err
	}
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, err
	}
	term, err := tcell.NewTerminfoScreenFromTtyTerminfo(newOutlet(tty, about.Abilities()), unpadded(known))
	if err != nil {
		_ = tty.Close()
		return nil, err
	}
	return term, nil
}
