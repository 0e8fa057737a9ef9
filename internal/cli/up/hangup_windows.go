package up

import (
	"errors"
	"os"
)

// outlives is described for Unix. The system ends all programs of a console that is closed.
const outlives = false

func terminalLost() bool { return false }

func redirect(*os.File) error { return errors.ErrUnsupported }
