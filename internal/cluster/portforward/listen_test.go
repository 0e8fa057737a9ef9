package portforward

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestPortInUseNamesItsHolder(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	port := held.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"", "localhost", "127.0.0.1", "0.0.0.0"} {
		l, err := Opener{}.Listen(host, port)
		if err == nil {
			_ = l.Close()
			t.Fatalf("Listen(%q) works on a port that is in use", host)
		}
		p, ok := problem.Of(err)
		if !ok {
			t.Fatalf("Listen(%q): %v is no problem", host, err)
		}
		if runtime.GOOS == "linux" && !strings.Contains(p.Summary, fmt.Sprintf("(process %d)", os.Getpid())) {
			t.Errorf("summary %q does not name this process", p.Summary)
		}
		if !strings.Contains(p.Mend, fmt.Sprintf(`port_forwards="%d:CONTAINER_PORT"`, port+1)) {
			t.Errorf("mend %q does not say what to write", p.Mend)
		}
	}
}

// TestPortOfASession checks a port that another hone session holds. A second process of this test plays that session.
func TestPortOfASession(t *testing.T) {
	const role = "HONE_TEST_HOLDS_A_PORT"
	if os.Getenv(role) != "" {
		held, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(held.Addr().(*net.TCPAddr).Port)
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = held.Close()
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("who holds a port is known on Linux only")
	}
	other := exec.Command(os.Args[0], "-test.run=^TestPortOfASession$")
	other.Env = append(os.Environ(), role+"=1")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), other.Wait() }()
	var port int
	if _, err := fmt.Fscanln(out, &port); err != nil {
		t.Fatal(err)
	}
	for known, want := range map[string][2]string{
		"shop": {fmt.Sprintf("session shop of hone (process %d)", other.Process.Pid), `end it with "hone stop --session shop", or give`},
		"":     {fmt.Sprintf("(process %d)", other.Process.Pid), fmt.Sprintf(`stop it with "kill %d", or give`, other.Process.Pid)},
	} {
		_, err := Opener{Session: func(pid int) string {
			if pid != other.Process.Pid {
				t.Errorf("asked for process %d", pid)
			}
			return known
		}}.Listen("localhost", port)
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, want[0]) || !strings.Contains(p.Mend, want[1]) {
			t.Errorf("%q: %v", known, err)
		}
	}
}

func TestListenTellsWhatToDo(t *testing.T) {
	for _, host := range []string{"192.0.2.1", "no-such-host.invalid"} {
		_, err := Opener{}.Listen(host, 0)
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "leave it out for localhost") {
			t.Errorf("Listen(%q): %v", host, err)
		}
	}
}

func TestLocalhostIsBothAddresses(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	port := probe.Addr().(*net.TCPAddr).Port
	if l, err := (Opener{}).Listen("localhost", port); err == nil {
		_ = l.Close()
		t.Error("Listen works although the port is in use on ::1")
	}
	_ = probe.Close()
	l, err := Opener{}.Listen("localhost", port)
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"127.0.0.1", "::1"} {
		c, err := net.Dial("tcp", net.JoinHostPort(addr, fmt.Sprint(port)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = a.Close(), c.Close()
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
}

const procTCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
`

func TestFindHolder(t *testing.T) {
	proc := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("net/tcp", procTCP)
	write("42/cmdline", "/usr/bin/node\x00server.js\x00")
	write("self/comm", "x")
	write("7/comm", "kthread\n")
	if err := os.MkdirAll(filepath.Join(proc, "42", "fd"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]string{"0": "/dev/null", "3": "socket:[4712]", "4": "socket:[4711]"} {
		if err := os.Symlink(link, filepath.Join(proc, "42", "fd", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		port int
		want string
	}{
		{"own process", 8080, "node (process 42)"},
		{"somebody else's", 80, "a process of user root"},
		{"nobody's", 81, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, ok := findHolder(proc, tt.port)
			got := ""
			if ok {
				got = h.String()
			}
			if got != tt.want {
				t.Errorf("holder %q, want %q", got, tt.want)
			}
		})
	}
	if got := processName(filepath.Join(proc, "7")); got != "kthread" {
		t.Errorf("name %q, want the kernel's", got)
	}
	if _, ok := findHolder(t.TempDir(), 80); ok {
		t.Error("a holder without a proc file system")
	}
}

func FuzzListeners(f *testing.F) {
	f.Add(procTCP, 8080)
	f.Add("0: :1F90 x 0A a b c 0 d 1", 8080)
	f.Fuzz(func(t *testing.T, text string, port int) {
		for inode := range listeners(nil, text, port) {
			if !strings.Contains(text, inode) {
				t.Errorf("inode %q is not in the text", inode)
			}
		}
	})
}

func TestResolvePort(t *testing.T) {
	pod := func(ports ...[]int) model.Pod {
		p := model.Pod{InitContainers: []model.Container{{Ports: []int{1}}}}
		for _, list := range ports {
			p.Containers = append(p.Containers, model.Container{Ports: list})
		}
		return p
	}
	got := map[string]int{
		"named in the forward":          ResolvePort(model.PortForward{LocalPort: 8080, ContainerPort: 99}, pod([]int{8080})),
		"local port that is declared":   ResolvePort(model.PortForward{LocalPort: 8080}, pod([]int{80}, []int{443, 8080})),
		"first declared port":           ResolvePort(model.PortForward{LocalPort: 8080}, pod(nil, []int{443, 80})),
		"local port without any":        ResolvePort(model.PortForward{LocalPort: 8080}, pod(nil)),
		"local port for an unknown pod": ResolvePort(model.PortForward{LocalPort: 8080}, model.Pod{}),
	}
	want := map[string]int{
		"named in the forward": 99, "local port that is declared": 8080, "first declared port": 443,
		"local port without any": 8080, "local port for an unknown pod": 8080,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}
