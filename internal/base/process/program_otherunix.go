//go:build unix && !linux

package process

import "os"

// ownProgram returns the path of this program.
func ownProgram() (string, error) { return os.Executable() }
