package process

import (
	"bytes"
	"hash/fnv"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A daemon may drop its environment, and with it the mark of its server. So a server also gets a number that all its descendants inherit,
// whatever they run and whoever they become: as the limit of its time in real-time scheduling. The number stands for centuries, and so
// limits nothing.
const (
	limitBase = 1 << 62
	// sessionBits of the number tell the session, and the others its server.
	sessionBits, serverBits = 40, 20
)

// limitOf returns the number for a server's mark, and the one of its session without a server.
func limitOf(mark string) (server, session uint64) {
	_, id, _ := strings.Cut(mark, "=")
	name, nth, _ := strings.Cut(id, ".")
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	session = limitBase | h.Sum64()>>(64-sessionBits)<<serverBits
	n, _ := strconv.ParseUint(nth, 10, 64)
	return session | n&(1<<serverBits-1), session
}

// startMarked starts a server with its number, which the server inherits from this process. A child that another part of this process
// starts at the same moment loses it again. Where no limits can be set, the mark in the environment stays.
func startMarked(cmd *exec.Cmd, mark string, start func() error) error {
	number, _ := limitOf(mark)
	var was unix.Rlimit
	if mark == "" || unix.Getrlimit(unix.RLIMIT_RTTIME, &was) != nil {
		return start()
	}
	if unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: number, Max: was.Max}) != nil {
		return start()
	}
	err := start()
	_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &was)
	_ = eachProcess(func(dir string, s stat) bool {
		id, _ := strconv.Atoi(strings.TrimPrefix(dir, "/proc/"))
		server := cmd.Process != nil && cmd.Process.Pid == id
		if s.parent == os.Getpid() && !server && limitAt(dir) == number {
			_ = unix.Prlimit(id, unix.RLIMIT_RTTIME, &was, nil)
		}
		return true
	})
	return err
}

// limitAt returns the number of the process with a folder in /proc; zero if it has none.
func limitAt(dir string) uint64 {
	text, err := os.ReadFile(dir + "/limits")
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(text, []byte("Max realtime timeout"))
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	number, _ := strconv.ParseUint(string(fields[0]), 10, 64)
	if number&limitBase == 0 {
		return 0
	}
	return number
}
