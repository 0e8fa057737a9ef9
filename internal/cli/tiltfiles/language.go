package tiltfiles

import (
	"fmt"
	"io"

	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// printBuiltins prints the reference of the Tiltfile language.
func printBuiltins(w io.Writer) error {
	if err := language.WritePage(w); err != nil {
		return fmt.Errorf("print the reference: %w", err)
	}
	return nil
}
