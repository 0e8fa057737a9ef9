package tunnel

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/client/sessions"
)

// relayOf has this program be the relay of the registry in a folder.
const relayOf = "HONE_TUNNEL_TEST_RELAY"

func TestMain(m *testing.M) {
	if process.GuardMain(os.Args[1:]) {
		return
	}
	if dir := os.Getenv(relayOf); dir != "" {
		if err := Relay(context.Background(), os.Stdin, os.Stdout, sessions.New(dir), "1.0"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// script is an ssh whose machines are on this one. Without "--", it is wrong.
const script = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in
box) echo 'Welcome to box'; printf 'no line end'; exec "$RELAY" ;;
refuses) echo 'Warning: Permanently added the key.' >&2; echo 'dev@refuses: Permission denied (publickey).' >&2; exit 255 ;;
bare) echo 'bash: line 1: hone: command not found' >&2; exit 127 ;;
old) echo 'Error: unknown command "relay" for "hone"' >&2; exit 1 ;;
new) echo 'hone relay 9 7.7'; exec cat ;;
broken) echo 'Error: no space left on device' >&2; exit 3 ;;
noisy) exec yes ;;
esac
`

// machines puts that ssh into PATH, and returns the folder of the registry on box.
func machines(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), filepath.Join(t.TempDir(), "sessions")
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("RELAY", self)
	t.Setenv(relayOf, dir)
	return dir
}

func to(t *testing.T, host string) *Tunnel {
	t.Helper()
	tunnel := New(Address{Host: host}, "1.0")
	t.Cleanup(tunnel.Close)
	return tunnel
}

// TestProblems: a machine that cannot be reached is a problem that names the cause in the words of ssh.
func TestProblems(t *testing.T) {
	machines(t)
	for host, says := range map[string][]string{
		"refuses": {"ssh does not reach refuses: dev@refuses: Permission denied (publickey).", "ssh refuses true"},
		"bare":    {"bare has no hone in the PATH of ssh's commands", "install hone v1.0 there", "ssh bare 'echo $PATH'"},
		"old":     {"the hone on old is too old", "install hone v1.0 there"},
		"new":     {"new has hone v7.7, whose relay this hone v1.0 does not understand", "the same version"},
		"broken":  {"cannot run hone on broken", "exit code 3", "no space left", "ssh broken hone sessions"},
		"noisy":   {"noisy prints other things", "ssh noisy hone sessions"},
	} {
		_, err := to(t, host).Sessions(t.Context())
		for _, want := range says {
			if err == nil || !strings.Contains(problem.Text(err), want) {
				t.Errorf("%s: %v, want %q", host, err, want)
			}
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := to(t, "box").Sessions(t.Context()); err == nil || !strings.Contains(problem.Text(err), "install the client of OpenSSH") {
		t.Errorf("without ssh: %v", err)
	}
}

// echo is a server that sends all bytes back, until its client writes no more.
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return l
}

// TestConnections carries many connections at once through one ssh, each with more than fits into any buffer.
func TestConnections(t *testing.T) {
	machines(t)
	l := echo(t, "tcp", "127.0.0.1:0")
	tunnel := to(t, "box")
	var work sync.WaitGroup
	for range 20 {
		work.Go(func() {
			conn, err := tunnel.Port(t.Context(), l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			sent := []byte(strings.Repeat(rand.Text(), 20_000))
			var writing sync.WaitGroup
			writing.Go(func() {
				if _, err := conn.Write(sent); err != nil {
					t.Error(err)
				}
				_ = conn.(*Conn).CloseWrite()
			})
			got, err := io.ReadAll(conn)
			writing.Wait()
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
			}
		})
	}
	work.Wait()
	if _, err := tunnel.Port(t.Context(), "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "box: ") {
		t.Errorf("a closed port: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tunnel.Port(ctx, l.Addr().String()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLost kills ssh under a connection: it ends, the next one is made by another ssh, and none is made once the tunnel is closed.
func TestLost(t *testing.T) {
	machines(t)
	l := echo(t, "tcp", "127.0.0.1:0")
	tunnel := to(t, "box")
	for range 3 {
		conn, err := tunnel.Port(t.Context(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(conn, "hello")
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != "hello\n" || err != nil {
			t.Fatalf("%q %v", line, err)
		}
		tunnel.live.cancel()
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the connection goes on")
		}
		_ = conn.Close()
	}
	tunnel.Close()
	if _, err := tunnel.Port(t.Context(), l.Addr().String()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestSession lists a session, connects to it, and learns that it has ended, although another one has its name by then.
func TestSession(t *testing.T) {
	r := sessions.New(machines(t))
	tunnel := to(t, "box")
	if all, err := tunnel.Sessions(t.Context()); err != nil || len(all) > 0 {
		t.Fatalf("%v %v", all, err)
	}
	up := sessions.Info{Name: "shop", Command: "up", Tiltfile: filepath.Join(t.TempDir(), "Tiltfile"), PID: os.Getpid()}
	c, err := r.Claim(t.Context(), up)
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(t.Context(), func(i *sessions.Info) { i.Socket = l.Addr().String() }); err != nil {
		t.Fatal(err)
	}
	all, err := tunnel.Sessions(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "shop" {
		t.Fatalf("%+v %v", all, err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		if conn, err := l.Accept(); err == nil {
			fmt.Fprintln(conn, "the session")
			_ = conn.Close()
		}
	})
	conn, err := tunnel.Session(t.Context(), all[0])
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(conn); string(b) != "the session\n" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	_ = conn.Close()
	work.Wait()
	earlier := all[0]
	earlier.PID++
	if _, err := tunnel.Session(t.Context(), earlier); !errors.Is(err, ErrEnded) {
		t.Errorf("a session that had the name earlier: %v", err)
	}
	_ = l.Close()
	c.Release(t.Context())
	if _, err := tunnel.Session(t.Context(), all[0]); !errors.Is(err, ErrEnded) {
		t.Errorf("a session that has ended: %v", err)
	}
}
