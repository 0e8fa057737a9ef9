package portforward

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// holder is the process that holds a port.
type holder struct {
	pid  int
	name string
	// user is set instead of pid and name when the process belongs to another user.
	user string
	// session is the name of the hone session if the process is one.
	session string
}

// String names the process, for example "node (process 4711)".
func (h holder) String() string {
	if h.pid == 0 {
		return "a process of user " + h.user
	}
	if h.session != "" {
		return fmt.Sprintf("session %s of hone (process %d)", h.session, h.pid)
	}
	return fmt.Sprintf("%s (process %d)", h.name, h.pid)
}

// mend returns the first part of the mend: the way to free the port. The alternative follows it.
func (h holder) mend() string {
	if h.pid == 0 {
		return ""
	}
	if h.pid == os.Getpid() {
		return "remove the other port-forward with this local port, or "
	}
	if h.session != "" {
		return fmt.Sprintf("end it with \"hone stop --session %s\", or ", h.session)
	}
	return fmt.Sprintf("stop it with \"kill %d\", or ", h.pid)
}

// Holder names the process that listens on a port of this machine, for example "node (process 4711)".
func Holder(port int) (name string, known bool) {
	h, known := findHolder("/proc", port)
	return h.String(), known
}

// findHolder looks up the process that listens on a port, in a Linux proc file system.
func findHolder(proc string, port int) (holder, bool) {
	var inodes map[string]string
	for _, file := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(proc, "net", file))
		if err == nil {
			inodes = listeners(inodes, string(text), port)
		}
	}
	if len(inodes) == 0 {
		return holder{}, false
	}
	if h, ok := findProcess(proc, inodes); ok {
		return h, true
	}
	for _, uid := range inodes {
		if u, err := user.LookupId(uid); err == nil {
			return holder{user: u.Username}, true
		}
		return holder{user: uid}, true
	}
	return holder{}, false
}

// listeners adds to found the inode of each socket in text that listens on port, with the user id of its owner. text
// has the format of /proc/net/tcp: a heading, then a line per socket with fields separated by spaces.
func listeners(found map[string]string, text string, port int) map[string]string {
	const local, state, uid, inode, listening = 1, 3, 7, 9, "0A"
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) <= inode || fields[state] != listening {
			continue
		}
		_, hex, _ := strings.Cut(fields[local], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err != nil || int(n) != port {
			continue
		}
		if found == nil {
			found = map[string]string{}
		}
		found[fields[inode]] = fields[uid]
	}
	return found
}

// findProcess returns a process that has one of the sockets open.
func findProcess(proc string, inodes map[string]string) (holder, bool) {
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		fds, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue // another user's, or already gone
		}
		for _, fd := range fds {
			link, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
			if err != nil {
				continue
			}
			inode, ok := strings.CutPrefix(link, "socket:[")
			if _, wanted := inodes[strings.TrimSuffix(inode, "]")]; ok && wanted {
				return holder{pid: pid, name: processName(dir)}, true
			}
		}
	}
	return holder{}, false
}

// processName is the name of the program, from its command line or, for want of one, from the kernel.
func processName(dir string) string {
	if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
		if argv0, _, _ := strings.Cut(string(line), "\x00"); argv0 != "" {
			return filepath.Base(argv0)
		}
	}
	if comm, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil {
		return strings.TrimSpace(string(comm))
	}
	return "a process"
}
