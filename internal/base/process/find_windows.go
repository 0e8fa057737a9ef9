package process

import "os/exec"

// findProgram looks a program up in this process' PATH, by the rules of PATHEXT.
func findProgram(name string, _ []string) (string, error) { return exec.LookPath(name) }
