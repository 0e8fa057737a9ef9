//go:build !windows

package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// ownScreen returns the terminal of the process.
func ownScreen(about terminal.Description) (Terminal, error) {
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, err
	}
	term, err := tcell.NewTerminfoScreenFromTty(newOutlet(tty, about.Abilities()))
	if err != nil {
		_ = tty.Close()
		return nil, err
	}
	return term, nil
}
