//go:build unix && !linux

package process

import "os/exec"

// lifeline does nothing: the kernels of these systems cannot kill a group when a pipe breaks.
type lifeline struct{}

func (*lifeline) open() error { return nil }

func (*lifeline) pass(*exec.Cmd) {}

func (*lifeline) newLeash() (*leash, error) { return nil, nil }

type leash struct{}

func (*leash) hold(int) error { return nil }

func (*leash) close() {}
