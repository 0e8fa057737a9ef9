//go:build unix && !linux

package process

import "os/exec"

// groupHasLiving relies on kill(2): the first process reaps orphans on these systems.
func groupHasLiving(int) bool { return true }

// strays finds nothing: these systems do not reveal the environment of a process.
func strays(wards) []int { return nil }

// founded finds nothing for the same reason.
func (g *group) founded() []int { return nil }

func startOnThread(cmd *exec.Cmd, _ *leash, _ string) error { return cmd.Start() }

func releaseThread() {}
