package process

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// groupHasLiving looks for a process of the group that is no zombie. Zombies count for kill(2), and where nobody reaps
// orphans, as in many containers, they stay for ever.
func groupHasLiving(pgid int) bool {
	found := false
	err := eachProcess(func(_ string, s stat) bool {
		found = s.group == pgid && s.living()
		return !found
	})
	return found || err != nil
}

// strays returns the groups of living processes that carry the mark and have not left the session: commands that were
// started but not announced when the parent died. A daemon, being in a session of its own, is none. In a container the
// session's number is often zero, for all that did not begin one of their own: its leader, the container engine, is
// not visible there.
func strays(w wards) []int {
	if w.mark == "" {
		return nil
	}
	mark := []byte(markName + "=" + w.mark)
	var out []int
	_ = eachProcess(func(dir string, s stat) bool {
		if s.session == w.session && s.group > 1 && s.living() {
			if env, err := os.ReadFile(dir + "/environ"); err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}),
				func(v []byte) bool { return bytes.Equal(v, mark) }) {
				out = append(out, s.group)
			}
		}
		return true
	})
	return out
}

// eachProcess calls visit with each process' folder in /proc until it returns false.
func eachProcess(visit func(dir string, s stat) bool) error {
	proc, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		dir := "/proc/" + name
		line, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // gone meanwhile
		}
		if !visit(dir, parseStat(line)) {
			return nil
		}
	}
	return nil
}

// stat is what a line of /proc/PID/stat says about a process.
type stat struct {
	state          byte
	group, session int
}

// living reports whether the process is more than a zombie.
func (s stat) living() bool { return s.state != 0 && s.state != 'Z' && s.state != 'X' }

// parseStat reads "PID (name) STATE PPID GROUP SESSION …". The name may hold anything, parentheses included. A line
// that makes no sense yields the zero value.
func parseStat(line []byte) stat {
	_, rest, _ := bytes.Cut(line[bytes.LastIndexByte(line, ')')+1:], []byte(" "))
	fields := bytes.SplitN(rest, []byte(" "), 5)
	if len(fields) < 5 || len(fields[0]) != 1 {
		return stat{}
	}
	group, _ := strconv.Atoi(string(fields[2]))
	session, _ := strconv.Atoi(string(fields[3]))
	return stat{fields[0][0], group, session}
}

// thread starts commands from one operating system thread, which exists while any of them runs. The kernel delivers a
// parent death signal when the thread that started the command ends, not when the process does, so it must be one that
// no other goroutine can end.
var thread struct {
	mu    sync.Mutex
	users int
	jobs  chan func()
	done  chan struct{}
}

// startOnThread starts the command with its leash so that it gets SIGTERM when this process dies. A success must be
// followed by releaseThread when the command is gone.
func startOnThread(cmd *exec.Cmd, tie *leash) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	thread.mu.Lock()
	if thread.users == 0 {
		thread.jobs, thread.done = make(chan func()), make(chan struct{})
		go serveThread(thread.jobs, thread.done)
	}
	thread.users++
	jobs := thread.jobs
	thread.mu.Unlock()

	result := make(chan error, 1)
	jobs <- func() { result <- tie.lend(cmd.Start) }
	err := <-result
	if err != nil {
		releaseThread()
	}
	return err
}

func releaseThread() {
	thread.mu.Lock()
	defer thread.mu.Unlock()
	if thread.users--; thread.users == 0 {
		close(thread.jobs)
		<-thread.done
	}
}

func serveThread(jobs <-chan func(), done chan<- struct{}) {
	runtime.LockOSThread()
	defer close(done)
	defer runtime.UnlockOSThread() // the thread goes back to the scheduler, it does not end
	for job := range jobs {
		job()
	}
}
