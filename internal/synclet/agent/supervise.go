//go:build linux

package agent

import (
	"bufio"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/synclet/protocol"
)

// attach is how long a process that has crashed is kept for a client that may be on its way.
const attach = 5 * time.Second

// Supervise runs a command as the container's process and returns the exit code that the container is to end with. It
// passes signals on and reaps orphans. When a client asks, it ends the process and starts it anew. A process that crashes
// while a client is connected is kept waiting for the next restart, so that Kubernetes' back-off does not stand in the
// way; without one the container ends as it would without a supervisor.
func Supervise(argv []string) int {
	program, err := lookPath(argv[0], os.Environ())
	if err != nil {
		return fail("synclet: "+argv[0]+": "+err.Error()+"\n", codeNotFound)
	}
	s := &supervisor{program: program, argv: argv, exited: make(chan exit, 16), restarts: make(chan request),
		clients: map[*client]bool{}, reap: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	if fd, err := listenSocket(); err == nil {
		go s.accept(fd)
	}
	go s.wait()
	if err := s.start(); err != nil {
		return fail("synclet: "+err.Error()+"\n", int(cannotStart(err)))
	}
	return s.loop(signals)
}

type exit struct {
	pid  int
	code uint64
}

// request is a restart that a client asked for.
type request struct {
	client *client
	*protocol.Restart
}

type supervisor struct {
	program  string
	argv     []string
	exited   chan exit
	restarts chan request
	reap     chan struct{} // a process was started: there is something to wait for

	// These belong to the loop.
	pid     int // zero while no process runs
	starts  uint64
	code    uint64
	pending []request // to be answered once the new process runs
	kill    *time.Timer
	giveUp  *time.Timer

	mu      sync.Mutex
	clients map[*client]bool // guarded by mu
	changed chan struct{}    // clients came or went
	last    protocol.Process // guarded by mu
}

// start starts the process in a group of its own, with this program's own input and output.
func (s *supervisor) start() error {
	pid, err := syscall.ForkExec(s.program, s.argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: s.attributes(),
	})
	if err != nil {
		return &os.PathError{Op: "start", Path: s.program, Err: err}
	}
	s.pid = pid
	s.starts++
	select {
	case s.reap <- struct{}{}:
	default:
	}
	s.tell()
	return nil
}

// attributes put the process into the terminal's foreground where there is a terminal.
func (s *supervisor) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && isTerminal(0) {
		a.Foreground = true
	}
	return a
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

func (s *supervisor) loop(signals <-chan os.Signal) int {
	for {
		select {
		case sig := <-signals:
			s.forward(sig)
		case e := <-s.exited:
			if e.pid != s.pid {
				continue
			}
			s.pid, s.code = 0, e.code
			if done := s.ended(); done {
				return int(s.code)
			}
		case r := <-s.restarts:
			s.restart(r)
		case <-timer(s.kill):
			s.kill = nil
			if s.pid != 0 {
				_ = syscall.Kill(-s.pid, syscall.SIGKILL)
			}
		case <-timer(s.giveUp):
			return int(s.code)
		case <-s.changed:
			if s.pid == 0 && s.giveUp == nil && s.lonely() {
				s.giveUp = time.NewTimer(attach)
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

// forward passes a signal on to the process. Without one, a signal that would have ended it ends the container.
func (s *supervisor) forward(sig os.Signal) {
	n, ok := sig.(syscall.Signal)
	if !ok || n == syscall.SIGCHLD || n == syscall.SIGURG || n == syscall.SIGPIPE {
		return // SIGURG and SIGPIPE are this program's own affair
	}
	if s.pid != 0 {
		_ = syscall.Kill(-s.pid, n)
		return
	}
	switch n {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		os.Exit(int(codeSignalled) + int(n))
	}
}

// ended decides what happens after the process has ended: a new one, waiting for one, or the end of the container.
func (s *supervisor) ended() (done bool) {
	if s.kill != nil {
		s.kill.Stop()
		s.kill = nil
	}
	if len(s.pending) > 0 {
		s.again()
		return false
	}
	s.tell()
	if s.code == 0 {
		return true
	}
	_, _ = os.Stderr.WriteString("synclet: the process ended with exit code " + strconv.FormatUint(s.code, 10) +
		"; the next change starts it anew\n")
	if s.lonely() {
		s.giveUp = time.NewTimer(attach)
	}
	return false
}

// restart ends the process; its end starts the new one. Without one the new one starts at once.
func (s *supervisor) restart(r request) {
	s.pending = append(s.pending, r)
	if s.giveUp != nil {
		s.giveUp.Stop()
		s.giveUp = nil
	}
	switch {
	case s.pid == 0:
		s.again()
	case s.kill == nil:
		_ = syscall.Kill(-s.pid, syscall.SIGTERM)
		_ = syscall.Kill(-s.pid, syscall.SIGCONT) // so that a stopped one can hear it
		s.kill = time.NewTimer(time.Duration(r.GraceNanos))
	}
}

// again starts the process and answers those who asked for it.
func (s *supervisor) again() {
	err := s.start()
	for _, r := range s.pending {
		answer := &protocol.Restarted{ID: r.ID, PID: uint64(s.pid)}
		if err != nil {
			answer.Text = err.Error()
		}
		r.client.send(answer)
	}
	s.pending = nil
	if err != nil {
		s.code = cannotStart(err)
		s.tell()
	}
}

// tell lets every client know how the process does.
func (s *supervisor) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = protocol.Process{Running: s.pid != 0, PID: uint64(s.pid), Code: s.code, Starts: s.starts}
	for c := range s.clients {
		state := s.last
		c.send(&state)
	}
}

func (s *supervisor) lonely() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients) == 0
}

// client is somebody who may ask for restarts.
type client struct {
	conn *os.File
	mu   sync.Mutex
	w    *protocol.Writer
}

func (c *client) send(m protocol.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second)) // one who does not read holds nobody up
	c.w.Append(m)
	_ = c.w.Flush()
}

func (s *supervisor) accept(fd int) {
	for {
		conn, err := acceptSocket(fd)
		if err != nil {
			return
		}
		go s.serve(&client{conn: conn, w: protocol.NewWriter(conn)})
	}
}

func (s *supervisor) serve(c *client) {
	s.join(c)
	defer s.leave(c)
	r := protocol.NewReader(bufio.NewReader(c.conn))
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		if m, ok := m.(*protocol.Restart); ok {
			s.restarts <- request{c, m}
		}
	}
}

func (s *supervisor) join(c *client) {
	s.mu.Lock()
	s.clients[c] = true
	state := s.last
	s.mu.Unlock()
	c.send(&state)
}

func (s *supervisor) leave(c *client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	_ = c.conn.Close()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
