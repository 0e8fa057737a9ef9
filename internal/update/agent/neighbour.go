//go:build linux

package agent

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Idle does nothing until a signal ends it. hone's own container runs it between conversations.
func Idle() int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
	return 0
}

// CodeNotAllowed is the exit code of a synclet that sees the other container's processes and may not access them.
const CodeNotAllowed = 95

// notAllowed means that the processes of a user may not be accessed.
type notAllowed struct{ uid, gid string }

// Error has the numbers in a form that hone reads.
func (e *notAllowed) Error() string {
	return "the container's process may not be looked into: uid=" + e.uid + " gid=" + e.gid
}

var errNoNeighbour = errors.New("none of the container's processes can be seen")

// openNeighbour returns the files of the container with the given id, whose processes are visible to this one. They are
// reached through the root folder of one of its processes, the one with the lowest number: it is the most likely to
// stay.
func openNeighbour(id string) (files, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var last error = errNoNeighbour
	for _, pid := range pids {
		if !belongs(pid, id) {
			continue
		}
		root, err := os.OpenRoot(procFile(pid, "root"))
		switch {
		case err == nil:
			return otherFiles{root}, nil
		case errors.Is(err, fs.ErrPermission):
			last = &notAllowed{statusOf(pid, "Uid:"), statusOf(pid, "Gid:")}
		case !errors.Is(err, fs.ErrNotExist):
			last = err
		}
	}
	return nil, last
}

// leave ends the idle synclets of this container, which has no further use. Other visible ones do not belong to it.
func leave() {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return
	}
	own, _ := os.ReadFile("/proc/self/cgroup")
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, err := os.Stat(procFile(pid, "exe"))
		group, _ := os.ReadFile(procFile(pid, "cgroup"))
		if err == nil && os.SameFile(self, exe) && bytes.Equal(group, own) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// belongs reports whether a process is one of the container with the given id, which is part of the name of its control
// group.
func belongs(pid int, id string) bool {
	group, err := os.ReadFile(procFile(pid, "cgroup"))
	return err == nil && id != "" && strings.Contains(string(group), id)
}

// statusOf returns the effective id in a line of a process's status.
func statusOf(pid int, line string) string {
	status, _ := os.ReadFile(procFile(pid, "status"))
	for l := range strings.Lines(string(status)) {
		if f := strings.Fields(l); len(f) > 2 && f[0] == line {
			return f[2]
		}
	}
	return ""
}
