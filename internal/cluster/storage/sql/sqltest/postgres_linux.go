package sqltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Role and Password open the server's database "postgres" through TCP; its Unix socket needs no password.
const (
	Role     = "hone"
	Password = "correct horse"
)

// ErrNone says that the machine has no PostgreSQL.
var ErrNone = errors.New("needs PostgreSQL (make test installs it)")

// Server is a server with its data in a folder. It does not survive the process that started it.
type Server struct {
	// Dir has the Unix socket, and the data.
	Dir  string
	Port int

	// Ending is the error with which the server ended.
	Ending error

	programs string
	owner    *syscall.Credential // of its processes; nil for the user of this process
	running  *exec.Cmd
	ended    chan error // gets the end of running
}

// New makes a server's data below a folder, which must be empty. Start starts it.
func New(ctx context.Context, dir string, port int) (*Server, error) {
	s := &Server{Dir: dir, Port: port, programs: programs()}
	if s.programs == "" {
		return nil, ErrNone
	}
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o600); err != nil {
		return nil, err
	}
	if err := s.leaveRoot(dir, password); err != nil {
		return nil, err
	}
	made := s.command(ctx, "initdb", "-D", s.data(), "-U", Role, "-N", "-E", "UTF8", "--locale=C",
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+password)
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, nil
}

// programs returns the folder of the newest PostgreSQL.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

// leaveRoot chooses an unprivileged user if this process belongs to root, and gives it the files: the server refuses to run as root.
func (s *Server) leaveRoot(files ...string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, file := range files {
		if err := os.Chown(file, uid, gid); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, name), args...)
	cmd.Dir = s.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return cmd
}

// Start starts the server and waits until it accepts connections. After Kill, it also waits until the old processes are gone.
func (s *Server) Start(ctx context.Context) error {
	for {
		log, err := s.start(ctx)
		if err == nil || ctx.Err() != nil || !strings.Contains(log, "still in use") {
			return err
		}
	}
}

// start starts the server once, and returns its log until it is ready or has ended.
func (s *Server) start(ctx context.Context) (string, error) {
	server := s.command(context.WithoutCancel(ctx), "postgres", "-D", s.data(), "-p", strconv.Itoa(s.Port), "-c", "unix_socket_directories="+s.Dir,
		"-c", "listen_addresses=localhost", "-c", "max_connections=20", "-c", "shared_buffers=16MB")
	server.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	out, err := server.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := server.Start(); err != nil {
		return "", err
	}
	giveUp := context.AfterFunc(ctx, func() { _ = server.Process.Signal(syscall.SIGQUIT) })
	var log strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(&log, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept connections") && giveUp() {
			s.running, s.ended = server, make(chan error, 1)
			go func() {
				_, _ = io.Copy(io.Discard, out)
				s.ended <- server.Wait()
			}()
			return log.String(), nil
		}
	}
	return log.String(), fmt.Errorf("start PostgreSQL: %w\n%s", errors.Join(ctx.Err(), server.Wait()), log.String())
}

// Stop ends the server if it runs.
func (s *Server) Stop() { s.end(func(p *os.Process) { _ = p.Signal(syscall.SIGINT) }) }

// Kill kills all processes of the server.
func (s *Server) Kill() {
	s.end(func(p *os.Process) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.Pid, p.Pid))
		_ = p.Kill()
		for _, child := range strings.Fields(string(children)) {
			pid, _ := strconv.Atoi(child)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func (s *Server) end(how func(*os.Process)) {
	if s.running == nil {
		return
	}
	how(s.running.Process)
	s.Ending = <-s.ended
	s.running = nil
}
