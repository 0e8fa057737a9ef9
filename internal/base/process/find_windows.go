package process

import "os/exec"

// findProgram looks up a program in the PATH of this process, by the rules of PATHEXT.
func findProgram(name string, _ []string) (string, error) { return exec.LookPath(name) }
