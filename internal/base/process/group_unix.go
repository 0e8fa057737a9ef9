//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// group is a process group. Its number stays in use while it has a process.
type group struct {
	id      int
	release func()
	// mark is the mark of a server, whose processes may have left the group; empty for other commands.
	mark string
}

// startGroup starts the command as the leader of a new group, ties the group to the lifeline and announces it to the
// guard. release must be called once the group is empty.
func startGroup(cmd *exec.Cmd, grace time.Duration, mark string) (*group, error) {
	if err := theGuard.ready(); err != nil {
		return nil, err
	}
	tie, err := theGuard.leash()
	if err != nil {
		return nil, err
	}
	defer tie.close()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOnThread(cmd, tie, mark); err != nil {
		return nil, err
	}
	g := &group{id: cmd.Process.Pid, mark: mark}
	g.release = sync.OnceFunc(func() {
		theGuard.remove(g.id)
		releaseThread()
	})
	if err := errors.Join(tie.hold(g.id), theGuard.add(g.id, grace)); err != nil {
		g.kill()
		_ = cmd.Wait()
		g.release()
		return nil, err
	}
	return g, nil
}

// terminate sends SIGTERM to every process of the group, and continues stopped ones so that they can end.
func (g *group) terminate() { g.signal(unix.SIGTERM, unix.SIGCONT) }

// kill ends every process of the group.
func (g *group) kill() { g.signal(unix.SIGKILL) }

// signal sends signals to the group, and to the groups that a server's processes have founded.
func (g *group) signal(signals ...unix.Signal) {
	for _, id := range append(g.founded(), g.id) {
		for _, s := range signals {
			_ = unix.Kill(-id, s)
		}
	}
}

// alive reports whether the group, or a group that a server's processes have founded, has a process that is not just
// waiting to be reaped.
func (g *group) alive() bool {
	if err := unix.Kill(-g.id, 0); errors.Is(err, unix.ESRCH) {
		return len(g.founded()) > 0
	}
	return groupHasLiving(g.id) || len(g.founded()) > 0
}

// signalOf returns number and name of the signal that ended a process, zero if none did.
func signalOf(s *os.ProcessState) (int, string) {
	ws, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return 0, ""
	}
	return int(ws.Signal()), unix.SignalName(ws.Signal())
}
