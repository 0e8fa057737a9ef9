package screen

import (
	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// ownScreen returns the console of the process. tcell draws on it through its API, beside which nothing can be sent.
func ownScreen(terminal.Description) (Terminal, error) { return tcell.NewScreen() }
