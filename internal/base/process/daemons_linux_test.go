package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// daemons are scripts whose descendants leave the group of the server. Each is ready once it has printed "ready".
var daemons = map[string]string{
	"own session":          `setsid sh -c 'echo ready; exec sleep 1000' & wait; exec sleep 1000`,
	"orphan":               `(setsid sh -c 'echo ready; exec sleep 1000' &); exec sleep 1000`,
	"ignores its end":      `(setsid sh -c 'trap "" TERM HUP; echo ready; while :; do sleep 1; done' &); exec sleep 1000`,
	"session of a session": `(setsid sh -c '(setsid sh -c "echo ready; exec sleep 1000" &); exec sleep 1000' &); exec sleep 1000`,
	"no environment":       `(env -i setsid sh -c '(setsid sh -c "echo ready; exec /bin/sleep 1000" &)' &); exec sleep 1000`,
	"no environment, late": `sleep 0.3; (env -i setsid sh -c 'echo ready; exec /bin/sleep 1000' &); exec sleep 1000`,
	"another user":         `(setsid setpriv --reuid 65534 --clear-groups env -i sh -c 'echo ready; exec /bin/sleep 1000' &); exec sleep 1000`,
	"server is gone":       `(setsid sh -c 'echo ready; exec sleep 1000' &)`,
}

// TestDaemonsEndWithTheirServer stops servers and kills their session.
func TestDaemonsEndWithTheirServer(t *testing.T) {
	for name, script := range daemons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("stopped", func(t *testing.T) {
				alive, held := aliveFile(t)
				out, in, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					defer out.Close()
					_, _ = io.ReadFull(out, make([]byte, len("ready")))
					cancel()
				}()
				err = Serve(ctx, Command{Cmd: sh(script), Stdin: held, Stdout: in, Grace: 200 * time.Millisecond}, Events{})
				in.Close()
				held.Close()
				if _, exited := err.(*ExitError); err != nil && !exited { //nolint:errorlint // it is not wrapped
					t.Error(err)
				}
				alive.wantGone(t)
			})
			t.Run("killed", func(t *testing.T) {
				if name == "server is gone" {
					t.Skip("its session has ended the daemon by then")
				}
				alive, held := aliveFile(t)
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "PROCESS_TEST_SERVE="+script)
				cmd.ExtraFiles = []*os.File{9 - 3: held}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				held.Close()
				awaitSession(t, out)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				alive.wantGone(t)
			})
		})
	}
}

// TestDaemonWithoutTheMarkStays starts one that is to outlive its server.
func TestDaemonWithoutTheMarkStays(t *testing.T) {
	var out strings.Builder
	err := Serve(t.Context(), Command{Cmd: sh(`HONE_SERVER= setsid sleep 1000 >/dev/null 2>&1 & echo $!`), Stdout: &out}, Events{})
	if _, exited := err.(*ExitError); !exited { //nolint:errorlint // it is not wrapped
		t.Fatal(err)
	}
	if err := Run(t.Context(), Command{Cmd: sh("kill -KILL " + strings.TrimSpace(out.String()))}); err != nil {
		t.Fatalf("the daemon is gone: %v", err)
	}
}
