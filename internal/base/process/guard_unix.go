//go:build unix

package process

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardArg is the hidden argument that makes this program a guard.
const guardArg = "__guard"

// GuardMain runs this process as a guard, or as the waker of a suspended process, if its arguments (os.Args, with or without
// the program's name) request it. It then returns true when its work is done, and main must return immediately. Otherwise it
// returns false, and from then on commands have a guard. main must call it first. A program that does not call it, such as a
// test, runs its commands without a guard.
func GuardMain(args []string) (handled bool) {
	if n := len(args); (n == 1 || n == 2) && args[n-1] == guardArg {
		runGuard(os.Stdin)
		return true
	}
	if wakerMain(args) {
		return true
	}
	theGuard.enable()
	return false
}

// markName is the variable that marks the commands of one session, so that the guard can recognise them; see strays.
// serverName is the variable that marks a server's processes: they end with the server, even in groups and sessions that
// they have founded. A process that is to outlive the server has an empty one.
const (
	markName   = "HONE_GUARD"
	serverName = "HONE_SERVER"
)

// guard is this process' side of the guard process.
type guard struct {
	mu      sync.Mutex
	enabled bool
	mark    string   // value of the variable markName
	pipe    *os.File // nil while there is no guard process
	death   *os.File // its end of file means that the guard process is gone; nil if pipe is
	cmd     *exec.Cmd
	servers int                   // have been started
	groups  map[int]time.Duration // the groups that the guard process should know, with their grace periods
	vigil   *vigil                // watches the guard process; nil before the first group, ended while there is no group
	line    lifeline              // shared by all groups
}

var theGuard guard

func (g *guard) enable() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.enabled {
		g.enabled, g.mark = true, cmp.Or(g.mark, rand.Text())
	}
}

// environment returns the variable that marks a command, or nil without a guard.
func (g *guard) environment() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.enabled {
		return nil
	}
	return []string{markName + "=" + g.mark}
}

// serverMark returns a variable for the processes of one server.
func (g *guard) serverMark() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mark == "" {
		g.mark = rand.Text()
	}
	g.servers++
	return fmt.Sprintf("%s=%s.%d", serverName, g.mark, g.servers)
}

// ready starts the guard process if the guard is enabled and not running.
func (g *guard) ready() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.enabled || g.pipe != nil {
		return nil
	}
	return g.spawn()
}

func (g *guard) add(pgid int, grace time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]time.Duration{}
	}
	g.groups[pgid] = grace
	if !g.enabled {
		return nil
	}
	if len(g.groups) == 1 {
		g.vigil = g.beginVigil(g.vigil)
	}
	return g.send(addLine(pgid, grace))
}

// remove removes the group. For the last group it waits until the vigil has ended.
func (g *guard) remove(pgid int) {
	if v := g.forget(pgid); v != nil {
		<-v.done
	}
}

func (g *guard) forget(pgid int) (ended *vigil) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.groups[pgid]; !known {
		return nil
	}
	delete(g.groups, pgid)
	if !g.enabled {
		return nil
	}
	_ = g.send(removeLine(pgid)) // the next add reports a guard that cannot be started
	if len(g.groups) > 0 {
		return nil
	}
	g.endVigil(g.vigil)
	return g.vigil
}

// leash returns the leash that ties the next command to the lifeline. Without a guard it is nil, which does nothing.
func (g *guard) leash() (*leash, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line.newLeash()
}

func addLine(pgid int, grace time.Duration) string {
	return fmt.Sprintf("+%d %d\n", pgid, grace.Milliseconds())
}

func removeLine(pgid int) string { return fmt.Sprintf("-%d\n", pgid) }

// send sends a line to the guard process. A dead guard process is replaced, and its successor gets all groups. mu must
// be held.
func (g *guard) send(line string) error {
	if g.pipe != nil {
		_ = g.pipe.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(g.pipe, line); err == nil {
			return nil
		}
		g.bury()
	}
	return g.spawn()
}

// bury closes the pipes and reaps the guard process. mu must be held.
func (g *guard) bury() {
	_ = g.cmd.Process.Kill()
	g.pipe.Close()
	g.death.Close()
	_ = g.cmd.Wait()
	g.pipe, g.death, g.cmd = nil, nil, nil
}

// spawn starts a guard process and sends it all groups. The process has its own session, so that no key and no hang-up
// of a terminal ends it. mu must be held.
func (g *guard) spawn() error {
	if err := g.startProcess(); err != nil {
		return fmt.Errorf("start guard: %w", err)
	}
	if _, err := io.WriteString(g.pipe, g.everything()); err != nil {
		g.bury()
		return fmt.Errorf("start guard: %w", err)
	}
	return nil
}

// startProcess starts the guard process with its ends of the pipes. mu must be held.
func (g *guard) startProcess() error {
	program, err := OwnProgram()
	if err != nil {
		return err
	}
	if len(os.Args) == 2 && os.Args[1] == guardArg {
		// main has ignored the result of GuardMain; guards would start guards without end.
		return errors.New("this process was started as a guard, but its main does not return when GuardMain reports so")
	}
	if err := g.line.open(); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	death, living, err := os.Pipe()
	if err != nil {
		w.Close()
		return err
	}
	defer living.Close()
	cmd := exec.Command(program, guardArg)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin = r
	cmd.Stdout = living // kept open, never written to
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g.line.pass(cmd)
	if err := cmd.Start(); err != nil {
		w.Close()
		death.Close()
		return err
	}
	g.pipe, g.death, g.cmd = w, death, cmd
	return nil
}

// everything returns the lines that a new guard process needs. mu must be held.
func (g *guard) everything() string {
	var b strings.Builder
	session, err := unix.Getsid(0)
	if err != nil {
		session = -1
	}
	fmt.Fprintf(&b, "=%d %s\n", session, g.mark)
	for pgid, grace := range g.groups {
		b.WriteString(addLine(pgid, grace))
	}
	return b.String()
}

// strayGrace is the time between SIGTERM and SIGKILL for groups that were not announced to the guard, and scans is the
// number of searches for them: a process between fork and exec shows its mark only a moment later.
const (
	strayGrace = 2 * time.Second
	scans      = 3
)

// runGuard is the guard process: it tracks the groups until the pipe breaks, then stops those that are left.
func runGuard(pipe io.Reader) {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	debug.FreeOSMemory() // free the memory that packages allocated at start and a guard never uses
	w := readWards(pipe)
	var all sync.WaitGroup
	end := func(pgid int, grace time.Duration) {
		all.Go(func() { endGroup(&group{id: pgid}, grace) })
	}
	for pgid, grace := range w.groups {
		end(pgid, grace)
	}
	for i := range scans {
		if i > 0 {
			time.Sleep(lastLook)
		}
		for _, pgid := range strays(w) {
			if _, known := w.groups[pgid]; !known {
				w.groups[pgid] = strayGrace
				end(pgid, strayGrace)
			}
		}
	}
	all.Wait()
}

// wards are the groups that the guard process watches.
type wards struct {
	groups  map[int]time.Duration // with their grace periods
	session int                   // the session ID of the parent; zero if its leader is outside the PID namespace
	mark    string                // marks the parent's commands
}

// readWards reads lines until the end and returns the groups that were added and not removed. It skips invalid lines
// and the incomplete last line of a writer that died.
func readWards(pipe io.Reader) wards {
	w := wards{groups: map[int]time.Duration{}}
	lines := bufio.NewReader(pipe)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return w
		}
		var pgid, session int
		var millis int64
		var mark string
		if n, _ := fmt.Sscanf(line, "+%d %d\n", &pgid, &millis); n == 2 && pgid > 1 {
			w.groups[pgid] = time.Duration(millis) * time.Millisecond
		} else if n, _ := fmt.Sscanf(line, "-%d\n", &pgid); n == 1 {
			delete(w.groups, pgid)
		} else if n, _ := fmt.Sscanf(line, "=%d %s\n", &session, &mark); n == 2 {
			w.session, w.mark = session, mark
		}
	}
}

// endGroup stops a group of processes that are not children of this process.
func endGroup(g *group, grace time.Duration) {
	g.terminate()
	kill := time.NewTimer(grace)
	defer kill.Stop()
	look := time.NewTicker(lastLook)
	defer look.Stop()
	for g.alive() {
		select {
		case <-look.C:
		case <-kill.C:
			g.kill()
			return
		}
	}
}
