//go:build linux

package agent

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestLinger checks that a synclet whose file is gone stays for a client whose connection was lost, which can start the same program
// again, and ends with a client that leaves.
func TestLinger(t *testing.T) {
	t.Parallel()
	self, err := os.ReadFile(os.Args[0])
	check(t, err)
	serve := func(program string, args ...string) (*exec.Cmd, io.WriteCloser, io.Reader) {
		c := exec.Command(program, append([]string{"serve"}, args...)...)
		c.Env = append(os.Environ(), "SYNCLET_TEST_MAIN=1")
		in, err := c.StdinPipe()
		check(t, err)
		out, err := c.StdoutPipe()
		check(t, err)
		check(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		preamble := make([]byte, len(protocol.Preamble))
		_, err = io.ReadFull(out, preamble)
		check(t, err)
		return c, in, out
	}
	file := filepath.Join(t.TempDir(), ".hone-synclet-1")
	check(t, os.WriteFile(file, self, 0o700))
	lost, in, out := serve(file, "--unlink")
	check(t, in.Close())
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 { // it lets its output go
		t.Errorf("it says %q, %v", rest, err)
	}
	exe := "/proc/" + strconv.Itoa(lost.Process.Pid) + "/exe"
	if name, err := os.Readlink(exe); err != nil || !strings.HasSuffix(name, "/.hone-synclet-1 (deleted)") {
		t.Fatalf("it is %q, %v", name, err)
	}

	again, in, _ := serve(exe)
	check(t, lost.Process.Signal(syscall.SIGTERM))
	if err := lost.Wait(); err != nil {
		t.Errorf("the one that waits ends with %v", err)
	}
	w := protocol.NewWriter(in)
	w.Append(&protocol.Leave{})
	check(t, w.Flush())
	if err := again.Wait(); err != nil {
		t.Errorf("the one whose client leaves ends with %v", err)
	}

	installed, in, _ := serve(os.Args[0])
	check(t, in.Close())
	if err := installed.Wait(); err != nil {
		t.Errorf("the one that is installed ends with %v", err)
	}
}
