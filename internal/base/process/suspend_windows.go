package process

import (
	"context"
	"errors"
)

// Suspends is described for Unix. Here no shell takes a terminal back.
const Suspends = false

// Suspend is described for Unix. Here it does nothing.
func Suspend(context.Context, bool) error { return errors.ErrUnsupported }
