//go:build !linux

package process

import "os"

// OwnProgram returns the path of this program.
func OwnProgram() (string, error) { return os.Executable() }
