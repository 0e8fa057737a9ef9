//go:build linux

package agent

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// claimPrefix begins the name under which a synclet that serves a client shows in /proc; 15 bytes is the most that the
	// kernel keeps.
	claimPrefix = "hone-"
	maxComm     = 15
	// dyingTime bounds how long a killed process is waited for.
	dyingTime = 2 * time.Second
)

// claim ends the synclets that served the client in this container before, and makes this one known as its newest. A
// client starts over only when it has abandoned the old conversation; a synclet that was stopped, or is slow, would
// otherwise carry out its pending work later, over newer files.
func claim(client string) {
	name := claimPrefix + client
	if client == "" || len(name) > maxComm || strings.ContainsAny(client, " ()\n") {
		return
	}
	self, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return
	}
	all := processes()
	var ended []process
	for _, p := range all {
		if p.pid == os.Getpid() || p.comm != name {
			continue
		}
		// Containers of a pod may see each other's processes.
		if ns, err := os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/ns/mnt"); err != nil || ns != self {
			continue
		}
		if syscall.Kill(p.pid, syscall.SIGKILL) == nil {
			ended = append(ended, p)
		}
		for _, c := range all {
			if c.parent == p.pid && c.group == c.pid {
				_ = syscall.Kill(-c.group, syscall.SIGKILL) // a command that it runs
			}
		}
	}
	await(ended)
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0)
}

// await waits until killed processes are gone, for at most dyingTime.
func await(killed []process) {
	for late := time.Now().Add(dyingTime); len(killed) > 0 && time.Now().Before(late); {
		if !runs(killed[0].pid, killed[0].start) {
			killed = killed[1:]
			continue
		}
		time.Sleep(time.Millisecond)
	}
}

// process is a process as /proc shows it.
type process struct {
	pid, parent, group int
	comm, state        string
	// start is the time of its start, in the kernel's ticks: together with the pid it identifies a process uniquely.
	start string
}

// processes returns all visible processes.
func processes() []process {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var out []process
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			if p, ok := look(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// look reads /proc/PID/stat. The name of the program, which may hold anything, stands in parentheses.
func look(pid int) (process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	text := string(b)
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return process{}, false
	}
	fields := strings.Fields(text[to+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{pid: pid, comm: text[from+1 : to], state: fields[0], start: fields[19]}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	return p, true
}

// runs reports whether a process still runs, and is not a zombie.
func runs(pid int, start string) bool {
	p, ok := look(pid)
	return ok && p.start == start && p.state != "Z"
}
