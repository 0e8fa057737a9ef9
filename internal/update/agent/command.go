//go:build linux

package agent

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// leftovers is the time to wait for output once a command has ended: a process that it left running may hold the output open.
const leftovers = time.Second

// The exit codes that shells use for commands that could not be started.
const (
	codeCannotRun = 126
	codeNotFound  = 127
	codeSignalled = 128
)

// command is a command that runs.
type command struct {
	process *os.Process
	// output is the read end of one pipe for standard output and error: two pipes would lose the order.
	output *os.File
}

// errElsewhere means that commands of another container cannot be run from here.
var errElsewhere = errors.New("the synclet is not in the container that the command is for")

// takeStep returns the step that the next request carries out.
func (s *server) takeStep() protocol.Step {
	step := s.step
	s.step = protocol.Step{}
	return step
}

// ranBefore is the note on a command that is answered from the journal.
const ranBefore = "(It ended while the connection was lost. What it printed then is lost, too.)"

// runOnce answers a command from the journal, or starts it once the request that it comes after has succeeded.
func (s *server) runOnce(m *protocol.Run, step protocol.Step) {
	s.expect(m.ID)
	if code, ok := s.journal.outcome(step); ok {
		done := &protocol.Exited{ID: m.ID, Code: code}
		if code == 0 {
			done.Text = ranBefore
		}
		s.out.send(done)
		s.settle(m.ID, code == 0)
		return
	}
	s.after(m.After, func(ok bool) { s.run(m, step, ok) })
}

// run starts a command, unless the request before it has failed; its output and its end are reported as they arrive.
func (s *server) run(m *protocol.Run, step protocol.Step, ok bool) {
	c, err := s.begin(m, step, ok)
	if err != nil {
		code := cannotStart(err)
		switch {
		case errors.Is(err, errSkipped):
			code = protocol.ExitSkipped
		case errors.Is(err, errKilled):
			code = codeSignalled + uint64(syscall.SIGKILL)
		}
		s.out.send(&protocol.Exited{ID: m.ID, Code: code, Text: err.Error()})
		s.settle(m.ID, false)
		return
	}
	id := m.ID
	s.all.Go(func() {
		var read sync.WaitGroup
		read.Go(func() { s.copy(id, c.output) })
		state, err := c.process.Wait()
		_ = c.output.SetReadDeadline(time.Now().Add(leftovers))
		read.Wait()
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		done := &protocol.Exited{ID: id}
		if err != nil {
			done.Code, done.Text = codeCannotRun, err.Error()
		} else if ws, ok := state.Sys().(syscall.WaitStatus); ok {
			done.Code = exitCode(ws)
			if !ws.Signaled() { // it was not killed with the conversation
				s.journal.note(step, done.Code)
			}
		}
		s.out.send(done)
		s.settle(id, done.Code == 0)
	})
}

var (
	errSkipped = errors.New("the step before it has failed")
	errKilled  = errors.New("it was ended before it began")
)

// begin starts a command. It holds mu meanwhile: a command that begins while the conversation ends would outlive it.
func (s *server) begin(m *protocol.Run, step protocol.Step, ok bool) (*command, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := s.outcomes[m.ID]; {
	case !ok:
		return nil, errSkipped
	case !s.own():
		return nil, errElsewhere
	case s.closed() || o != nil && o.killed:
		return nil, errKilled
	}
	s.journal.begin(step)
	environ := s.environ
	if step.Sequence != 0 {
		environ = append(slices.Clone(environ), mark(step))
	}
	c, err := start(m, environ)
	if err == nil {
		s.running[m.ID] = c
	}
	return c, err
}

func (s *server) copy(id uint64, output *os.File) {
	defer output.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := output.Read(buf)
		if n > 0 {
			s.out.send(&protocol.Output{ID: id, Data: buf[:n]})
		}
		if err != nil {
			return
		}
	}
}

func (s *server) kill(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.running[id]; c != nil {
		c.kill()
	} else if o := s.outcomes[id]; o != nil {
		o.killed = true // if it waits
	}
}

// kill ends the command and everything in its process group.
func (c *command) kill() { _ = syscall.Kill(-c.process.Pid, syscall.SIGKILL) }

// start starts a command in a process group of its own, without input. The command is killed when this program ends, even if this
// program is killed: the client then has the command carried out again, and the first one would run beside its repetition. (The
// kernel watches the thread that starts the process. Go's runtime keeps its threads, as long as none is locked to a goroutine that
// ends.) The command's children are ended by endCutOff.
func start(m *protocol.Run, environ []string) (*command, error) {
	if len(m.Argv) == 0 {
		return nil, errors.New("there is no command")
	}
	env := append(append([]string(nil), environ...), m.Env...)
	program, err := lookPath(m.Argv[0], env)
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	output, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	c := &command{output: output}
	c.process, err = os.StartProcess(program, m.Argv, &os.ProcAttr{
		Dir: m.Dir, Env: env, Files: []*os.File{null, writer, writer}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		_ = output.Close()
	}
	return c, err
}

// lookPath finds a program as shells do.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	dirs := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = v
		}
	}
	for _, dir := range strings.Split(dirs, ":") {
		p := path.Join(dir, name)
		if dir == "" {
			continue
		}
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", &fs.PathError{Op: "find", Path: name, Err: fs.ErrNotExist}
}

func cannotStart(err error) uint64 {
	if errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}

func exitCode(ws syscall.WaitStatus) uint64 {
	if ws.Signaled() {
		return codeSignalled + uint64(ws.Signal())
	}
	return uint64(ws.ExitStatus())
}
