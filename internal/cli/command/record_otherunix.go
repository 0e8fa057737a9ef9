//go:build unix && !linux

package command

import "golang.org/x/sys/unix"

// getSettings and setSettings are the requests for the settings of a terminal.
const getSettings, setSettings = unix.TIOCGETA, unix.TIOCSETA
