// Package buildkittest starts BuildKit's daemon for tests: the one that scripts/buildkit/build has made.
package buildkittest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
)

// Variable is the environment variable for the folder that scripts/buildkit/build prints.
const Variable = "HONE_TEST_BUILDKIT"

// Registry is the registry of the test cluster, in which the daemon looks for images of Docker Hub.
const Registry = "localhost:5000"

// Daemon is a running daemon.
type Daemon struct {
	// Socket is the path of its socket, and TCP the address (host:port) that requires TLS with the certificates in Certs.
	Socket, TCP string
	Certs       Certs

	dir    string
	cmd    *exec.Cmd
	output bytes.Buffer
}

// Start starts a daemon, and stops it at the end of the test. Without the daemon's program, or the right to run it, the test is skipped.
func Start(t testing.TB) *Daemon {
	t.Helper()
	folder := os.Getenv(Variable)
	if folder == "" {
		t.Skip("buildkitd is not there: scripts/buildkit/build makes it, and " + Variable + " names its folder")
	}
	if _, err := exec.LookPath("runc"); err != nil || os.Geteuid() != 0 {
		t.Skip("buildkitd cannot build here: it needs runc and root")
	}
	dir, err := os.MkdirTemp("", "hone-buildkit-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Socket: filepath.Join(dir, "socket"), dir: dir}
	t.Cleanup(func() {
		d.stop()
		if t.Failed() {
			t.Logf("buildkitd said:\n%s", d.output.String())
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the daemon's files: %v", err)
		}
	})
	if d.Certs, err = newCerts(dir); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.TCP = free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[registry.\"docker.io\"]\n  mirrors = [%q]\n[registry.%[1]q]\n  http = true\n", Registry)
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(t)
	return d
}

// run starts the daemon, and returns when it listens.
func (d *Daemon) run(t testing.TB) {
	t.Helper()
	at := func(name string) string { return filepath.Join(d.dir, name) }
	d.cmd = exec.Command(filepath.Join(os.Getenv(Variable), "buildkitd"), "--root", at("root"), "--config", at("config.toml"), "--addr", "unix://"+d.Socket,
		"--addr", "tcp://"+d.TCP, "--tlscacert", d.Certs.CA, "--tlscert", at("server.pem"), "--tlskey", at("server-key.pem"),
		"--containerd-worker=false", "--oci-worker-net=host")
	d.cmd.Stdout, d.cmd.Stderr = &d.output, &d.output
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listens := func() bool {
		c, err := net.Dial("unix", d.Socket)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	}
	for !listens() {
		if !retry.Sleep(t.Context(), docker.AnswerTimeout/250) {
			t.Fatal("buildkitd does not listen")
		}
	}
}

// stop ends the daemon, which waits for the builds that it runs, but not for long.
func (d *Daemon) stop() {
	if d.cmd == nil || d.cmd.Process == nil {
		return
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	patience := time.AfterFunc(2*docker.AnswerTimeout, func() { _ = d.cmd.Process.Kill() })
	_ = d.cmd.Wait()
	patience.Stop()
}

// Busybox makes the image busybox available to the daemon.
func Busybox(t testing.TB) {
	t.Helper()
	engine := dockertest.Real(t)
	ref := Registry + "/library/busybox"
	if err := engine.Tag(t.Context(), "busybox", ref); err != nil {
		t.Fatal(err)
	}
	if err := engine.Push(t.Context(), ref, logstore.Discard, nil); err != nil {
		t.Fatal(err)
	}
}
