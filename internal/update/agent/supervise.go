//go:build linux

package agent

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// steady is the time that a process has to run so that its crash counts as a first one, not as one of a series.
	steady = 10 * time.Second
	// Without a request, a crashed process is restarted as Kubernetes would: after firstPause, then twice that, up to
	// lastPause.
	firstPause = 10 * time.Second
	lastPause  = 5 * time.Minute
	// farewell is the most time by which the container outlives its process so that connected clients pass on the news of the end.
	// They hang up once they have, usually within a millisecond; only a busy machine needs longer.
	farewell = time.Second
	// defaultGrace is the time that a process has to end if the request does not specify it.
	defaultGrace = 10 * time.Second
	// mostDone is the number of restarts whose steps are remembered: a client repeats only steps of its newest sequence.
	mostDone = 64
)

// The supervisor is the container's first process. Its goroutines, and the channels between them:
//
//	signals ─────────────────────────┐
//	follow: touches of the file ─────┤
//	wait: reaps children (exited) ───┼──> loop, on the goroutine of Supervise's caller
//	serve: one for each client ──────┤
//	       (restarts, clients.left) ─┘
//
// A client is a synclet that serves hone, or the command "synclet restart". accept takes its connection, and serve passes its
// requests to the loop. The loop decides everything and owns all state of the process: it starts the process, ends it for a restart,
// and ends the container. It sends the state of the process to all clients (tell); clients has a mutex of its own, because serve
// sends the last state to a client that joins. The process is in one of these states:
//
//	running    pid is not zero
//	stopping   again is set: the group has received SIGTERM; when the timer kill expires, it receives SIGKILL
//	crashed    pid is zero; the timer retry starts the process again; without clients, the timer giveUp ends the container
//	ending     ending is set: the container ends with the process
//
// A restart that is requested while the process is stopping joins the one under way: pending holds all requests that the next start
// answers.

// Supervise runs a command as the container's process and returns the exit code for the container. It passes signals on and reaps
// orphans. When a client requests it, or the given file is touched, it ends the process and restarts it; an empty path means no
// file. A process that crashes while a client is connected does not end the container: it waits for the next restart, which avoids
// Kubernetes' back-off, and is also restarted periodically, since it may have failed because a dependency was not up yet. Supervise
// also waits a while for a client that has lost its connection. Without a client the container ends as it would without a
// supervisor.
func Supervise(argv []string, file string) int {
	program, err := lookPath(argv[0], os.Environ())
	if err != nil {
		return fail("synclet: "+argv[0]+": "+err.Error()+"\n", codeNotFound)
	}
	s := &supervisor{program: program, argv: argv, exited: make(chan exit, 16), restarts: make(chan request),
		reap: make(chan struct{}, 1), clients: newClients(), descendants: newDescendants()}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	adoptOrphans()
	if fd, err := listenSocket(); err == nil {
		go s.accept(fd)
	}
	var touched <-chan struct{}
	if file != "" {
		touched = watch(file)
	}
	go s.wait()
	if err := s.start(); err != nil {
		return fail("synclet: "+err.Error()+"\n", int(cannotStart(err)))
	}
	return s.loop(signals, touched)
}

// containerEnds is why a restart is refused.
const containerEnds = "the container is ending"

type exit struct {
	pid  int
	code uint64
}

// request is a restart that a client requested. Without a client, a touched file did, and no answer is sent.
type request struct {
	client *client
	*protocol.Restart
	step protocol.Step // its sequence is zero if the restart is no step
}

type supervisor struct {
	program     string
	argv        []string
	exited      chan exit
	restarts    chan request
	reap        chan struct{} // there may be a child to wait for
	clients     *clients
	descendants *descendants

	// These belong to the loop.
	pid     int // zero while no process runs
	group   int // the process group of the last one
	began   time.Time
	starts  uint64
	crashes uint64
	code    uint64
	pending []request               // answered once the new process runs
	done    [mostDone]protocol.Step // the steps of the last restarts; a sequence of zero is no step
	noted   int                     // the number of restarts ever noted in done
	again   bool                    // the process is ending because of a restart
	ending  bool                    // the container has to end
	killed  bool                    // the grace period is over
	kill    *time.Timer
	retry   *time.Timer
	giveUp  *time.Timer
}

// start starts the process in a group of its own, with this program's own input and output.
func (s *supervisor) start() error {
	pid, err := syscall.ForkExec(s.program, s.argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: s.attributes(),
	})
	if err != nil {
		return &os.PathError{Op: "start", Path: s.program, Err: err}
	}
	s.pid, s.group, s.began = pid, pid, time.Now()
	s.starts++
	s.poke()
	s.tell(0)
	return nil
}

// attributes put the process into the terminal's foreground if there is a terminal.
func (s *supervisor) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && isTerminal(0) {
		a.Foreground = true
	}
	return a
}

func (s *supervisor) poke() {
	select {
	case s.reap <- struct{}{}:
	default:
	}
}

// wait reaps the process and every orphan that the container leaves to its first process.
func (s *supervisor) wait() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.ECHILD:
			<-s.reap
		case err == nil && (ws.Exited() || ws.Signaled()):
			s.exited <- exit{pid, exitCode(ws)}
		}
	}
}

func (s *supervisor) loop(signals <-chan os.Signal, touched <-chan struct{}) int {
	for {
		select {
		case sig := <-signals:
			s.forward(sig)
		case e := <-s.exited:
			if done := s.reaped(e); done {
				return int(s.code)
			}
		case r := <-s.restarts:
			s.restart(r)
		case <-touched:
			s.restart(request{Restart: &protocol.Restart{GraceNanos: uint64(defaultGrace)}})
		case <-timer(s.kill):
			s.expire()
		case <-timer(s.retry):
			s.startAgain()
		case <-timer(s.giveUp):
			s.giveUp = nil
			if s.pid == 0 && s.clients.none() {
				return int(s.code)
			}
		case <-s.clients.left:
			if s.pid == 0 && s.clients.none() {
				stop(&s.giveUp)
				s.giveUp = time.NewTimer(s.clients.mayCome())
			}
		}
	}
}

func timer(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

func stop(t **time.Timer) {
	if *t != nil {
		(*t).Stop()
		*t = nil
	}
}

// forward passes a signal on only to the process, as the container's runtime would. A termination signal overrides a
// running restart; without a process it ends the container.
func (s *supervisor) forward(sig os.Signal) {
	n, ok := sig.(syscall.Signal)
	switch {
	case !ok || n == syscall.SIGURG || n == syscall.SIGPIPE: // meant for this program itself
		return
	case n == syscall.SIGCHLD:
		s.poke()
		return
	case n == syscall.SIGTERM, n == syscall.SIGINT, n == syscall.SIGQUIT:
		s.ending = true
		s.tell(0) // the process may end too fast for a later notice
	}
	if s.pid != 0 {
		_ = syscall.Kill(s.pid, n)
	} else if s.ending || n == syscall.SIGHUP {
		s.sayGoodbye()
		os.Exit(int(codeSignalled) + int(n))
	}
}

// reaped decides the next step after a process has ended: to start a new one, to wait, or to end the container.
func (s *supervisor) reaped(e exit) (done bool) {
	if e.pid == s.pid {
		s.pid, s.code = 0, e.code
		if done := s.ended(); done {
			return true
		}
	}
	// The new process also has to wait for the children of the old one: they may hold a port.
	gone := s.pid == 0 && syscall.Kill(-s.group, 0) != nil
	if s.again && gone && !s.descendants.end() {
		s.crashes = 0
		s.startAgain()
	}
	return false
}

func (s *supervisor) ended() (done bool) {
	switch {
	case s.ending || s.code == 0 && !s.again:
		s.ending = true
		s.refuse(containerEnds)
		s.tell(0)
		s.sayGoodbye()
		return true
	case s.again:
		return false
	}
	// Kill the children of the process too, as the end of the container would.
	_ = syscall.Kill(-s.group, syscall.SIGKILL)
	s.descendants.end()
	s.crashed()
	if s.clients.none() {
		_, _ = os.Stderr.WriteString("synclet: the process ended with exit code " + strconv.FormatUint(s.code, 10) + "\n")
		s.giveUp = time.NewTimer(s.clients.mayCome())
	}
	return false
}

// crashed schedules a restart of the process.
func (s *supervisor) crashed() {
	if time.Since(s.began) > steady {
		s.crashes = 0
	}
	pause := min(firstPause<<min(s.crashes, 10), lastPause)
	s.crashes++
	stop(&s.retry)
	s.retry = time.NewTimer(pause)
	s.tell(pause)
}

// restart ends the process; its end starts the new one. Without a process the new one starts at once. A step that was carried out
// before is only answered: its answer was lost with the synclet that requested it. A step that failed is tried again, since it may
// succeed now.
func (s *supervisor) restart(r request) {
	if s.hasDone(r.step) {
		r.client.send(&protocol.Restarted{ID: r.ID, PID: uint64(s.pid), Code: protocol.RestartDone})
		return
	}
	if r.client != nil {
		s.pending = append(s.pending, r)
	}
	switch {
	case s.pid == 0 && !s.again:
		s.startAgain()
	case s.kill == nil:
		s.again = true
		_ = syscall.Kill(-s.group, syscall.SIGTERM)
		_ = syscall.Kill(-s.group, syscall.SIGCONT) // so that a stopped process receives it
		s.kill = time.NewTimer(time.Duration(r.GraceNanos))
	}
}

// expire kills the processes that did not end in time. A process in the group that is never reaped must not delay the
// new process.
func (s *supervisor) expire() {
	if s.killed && s.pid == 0 {
		s.startAgain()
		return
	}
	_ = syscall.Kill(-s.group, syscall.SIGKILL)
	s.killed, s.kill = true, time.NewTimer(time.Second)
}

// hasDone reports whether a step was a restart that was carried out.
func (s *supervisor) hasDone(step protocol.Step) bool {
	for _, d := range s.done {
		if d == step && d.Sequence != 0 {
			return true
		}
	}
	return false
}

// startAgain starts the process again and answers the pending requests.
func (s *supervisor) startAgain() {
	s.again, s.killed = false, false
	stop(&s.kill)
	stop(&s.retry)
	stop(&s.giveUp)
	err := s.start()
	if err == nil {
		for _, r := range s.pending {
			s.done[s.noted%mostDone] = r.step
			s.noted++
		}
		s.answer(protocol.RestartDone, "")
		return
	}
	s.code, s.began = cannotStart(err), time.Now()
	s.answer(protocol.RestartNotStarted, err.Error())
	s.crashed()
}

// sayGoodbye waits until the connected clients have passed on the last state and have hung up.
func (s *supervisor) sayGoodbye() {
	limit := time.After(farewell)
	for !s.clients.none() {
		select {
		case <-s.clients.left:
		case r := <-s.restarts:
			s.pending = append(s.pending, r)
			s.refuse(containerEnds)
		case <-limit:
			return
		}
	}
}

func (s *supervisor) refuse(text string) { s.answer(protocol.RestartFailed, text) }

func (s *supervisor) answer(code uint64, text string) {
	for _, r := range s.pending {
		r.client.send(&protocol.Restarted{ID: r.ID, PID: uint64(s.pid), Code: code, Text: text})
	}
	s.pending = nil
}

// tell sends the state of the process to every client; pause is the time for which a crashed process waits for its restart.
func (s *supervisor) tell(pause time.Duration) {
	s.clients.tell(protocol.Process{Running: s.pid != 0, PID: uint64(s.pid), Code: s.code, Starts: s.starts,
		Crashes: s.crashes, AgainNanos: uint64(pause), Ending: s.ending})
}
