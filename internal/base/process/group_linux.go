package process

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// groupHasLiving reports whether the group has a process that is not a zombie. Zombies count for kill(2), and where
// orphans are not reaped, as in many containers, they stay forever.
func groupHasLiving(pgid int) bool {
	found := false
	err := eachProcess(func(_ string, s stat) bool {
		found = s.group == pgid && s.living()
		return !found
	})
	return found || err != nil
}

// strays returns the groups of living processes that carry the mark and have not left the session: commands that were
// started but not announced when the parent died. Daemons are included only if a server has started them, because they
// have their own session. In a container the session number is often zero for all processes that did not start a new
// session: the session leader, the container engine, is not visible there.
func strays(w wards) []int {
	if w.mark == "" {
		return nil
	}
	_, number := limitOf(serverName + "=" + w.mark)
	return marked(func(p traces) bool {
		return p.session == w.session && p.has(markName+"="+w.mark) || p.ofServer(serverName+"="+w.mark+".", func(limit uint64) bool {
			return limit&^(1<<serverBits-1) == number
		})
	})
}

// founded returns the groups other than g that a server's processes have founded, as daemons do.
func (g *group) founded() []int {
	if g.mark == "" {
		return nil
	}
	number, _ := limitOf(g.mark)
	return marked(func(p traces) bool {
		return p.group != g.id && p.ofServer(g.mark+"\x00", func(limit uint64) bool { return limit == number })
	})
}

// traces are the signs of a process that tell who has started it.
type traces struct {
	dir            string
	group, session int
	env            string // at its start, each variable between two zero bytes
}

func (p traces) has(variable string) bool { return strings.Contains(p.env, "\x00"+variable+"\x00") }

// ofServer reports whether the process descends from a server: its environment has a variable that begins with the server's mark, or its
// limit has a number that is the server's. One that is to outlive its server has an empty mark.
func (p traces) ofServer(mark string, is func(limit uint64) bool) bool {
	return strings.Contains(p.env, "\x00"+mark) || !p.has(serverName+"=") && is(limitAt(p.dir))
}

// marked returns the groups of living processes that have certain traces.
func marked(has func(traces) bool) (out []int) {
	_ = eachProcess(func(dir string, s stat) bool {
		if s.group > 1 && s.living() {
			env, _ := os.ReadFile(dir + "/environ") // not of other users
			if has(traces{dir, s.group, s.session, "\x00" + string(env)}) {
				out = append(out, s.group)
			}
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
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

// stat is a parsed line of /proc/PID/stat.
type stat struct {
	state                  byte
	parent, group, session int
}

// living reports whether the process exists and is not a zombie.
func (s stat) living() bool { return s.state != 0 && s.state != 'Z' && s.state != 'X' }

// parseStat reads "PID (name) STATE PPID GROUP SESSION …". The name may contain any character, including parentheses.
// An invalid line yields the zero value.
func parseStat(line []byte) stat {
	_, rest, _ := bytes.Cut(line[bytes.LastIndexByte(line, ')')+1:], []byte(" "))
	fields := bytes.SplitN(rest, []byte(" "), 5)
	if len(fields) < 5 || len(fields[0]) != 1 {
		return stat{}
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	group, _ := strconv.Atoi(string(fields[2]))
	session, _ := strconv.Atoi(string(fields[3]))
	return stat{fields[0][0], parent, group, session}
}

// thread starts commands from one operating system thread, which exists while any of them runs. The kernel sends a
// parent death signal when the thread that started the command ends, not when the process ends, so no other goroutine
// may end that thread.
var thread struct {
	mu    sync.Mutex
	users int
	jobs  chan func()
	done  chan struct{}
}

// startOnThread starts the command with its leash and, for a server, its mark, so that it gets SIGTERM when this process dies. After a success
// releaseThread must be called when the command is gone.
func startOnThread(cmd *exec.Cmd, tie *leash, mark string) error {
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
	jobs <- func() {
		result <- startMarked(cmd, mark, func() error { return tie.lend(cmd.Start) })
	}
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
	defer runtime.UnlockOSThread() // the thread returns to the scheduler; it does not end
	for job := range jobs {
		job()
	}
}
