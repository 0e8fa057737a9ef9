// Package s3test starts S3 servers for tests: those that scripts/s3/build has made.
package s3test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
)

// Variable is the environment variable with the folder of the programs.
const Variable = "HONE_TEST_S3"

// Bucket is the bucket of every server. User and Password are the credentials.
const (
	Bucket   = "ledger"
	User     = "hone-test"
	Password = "hone-test-secret"
)

// Program is an S3 server.
type Program struct {
	Name string
	args func(address, dir string) []string
}

// Programs are the servers that there are.
var Programs = []Program{
	{"versitygw", func(address, dir string) []string {
		return []string{"--quiet", "--access", User, "--secret", Password, "--port", address, "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "data")}
	}},
	{"gofakes3", func(address, dir string) []string {
		return []string{"-quiet", "-host", address, "-backend", "bolt", "-bolt.db", filepath.Join(dir, "data.db"), "-initialbucket", Bucket}
	}},
}

// ErrNone says that the servers are not there.
var ErrNone = errors.New(Variable + " is not set to the folder that scripts/s3/build prints")

// Server is a running server, which can be killed and started again with the same data.
type Server struct {
	program      Program
	address, dir string
	cmd          *exec.Cmd
}

// Start starts a server with its data in a folder.
func Start(ctx context.Context, p Program, dir string) (*Server, error) {
	if os.Getenv(Variable) == "" {
		return nil, ErrNone
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := errors.Join(free.Close(), os.MkdirAll(filepath.Join(dir, "data", Bucket), 0o700), os.MkdirAll(filepath.Join(dir, "meta"), 0o700)); err != nil {
		return nil, err
	}
	s := &Server{program: p, address: address, dir: dir}
	return s, s.Run(ctx)
}

// Endpoint is the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.address }

// URL is the URL of the storage in the server's bucket.
func (s *Server) URL() string {
	return "s3://" + Bucket + "/team?endpoint=" + s.Endpoint() + "&region=us-east-1"
}

// Run starts the server, and returns when it accepts connections.
func (s *Server) Run(ctx context.Context) error {
	s.cmd = exec.Command(filepath.Join(os.Getenv(Variable), s.program.Name), s.program.args(s.address, s.dir)...)
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if c, err := net.Dial("tcp", s.address); err == nil {
			return c.Close()
		}
		if !retry.Sleep(ctx, 20*time.Millisecond) {
			break
		}
	}
	return fmt.Errorf("%s does not listen: %w", s.program.Name, context.Cause(ctx))
}

// Kill ends the server at once.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
