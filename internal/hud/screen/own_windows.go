package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// ownScreen returns the console of the process. tcell draws on it through its API, which leaves no way to send anything else.
func ownScreen(terminal.Description) (Terminal, error) { return tcell.NewScreen() }
