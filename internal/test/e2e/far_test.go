package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// box is a machine that ssh reaches as "box": this one, through an sshd of the test, with another HOME.
type box struct {
	t *testing.T
	p *project
	// dir has its keys and configuration, whose paths mark the processes of ssh.
	dir, sshd string
	port      int
	server    *exec.Cmd
}

// newBox makes a project one of a machine behind ssh, and returns that and a project of the near side.
func newBox(t *testing.T, there *project) (*box, *project) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd, err = exec.LookPath("/usr/sbin/sshd")
	}
	if err != nil {
		t.Skip("needs sshd, which scripts/openssh installs")
	}
	b := &box{t: t, p: there, dir: t.TempDir(), sshd: sshd, port: freePorts(t, 1)[0]}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(b.dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	host, err := os.ReadFile(filepath.Join(b.dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	b.file("known", fmt.Sprintf("[127.0.0.1]:%d %s", b.port, host))
	bin := filepath.Join(b.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(bin, "hone")); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"PATH": bin + ":" + os.Getenv("PATH"), "HOME": b.dir}
	for _, kv := range there.command().Env { // as the session has them
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "XDG_") || name == "KUBECONFIG" {
			settings[name] = value
		}
	}
	var env []string
	for name, value := range settings {
		env = append(env, fmt.Sprintf("%q", name+"="+value))
	}
	b.file("sshd.conf", fmt.Sprintf(`ListenAddress 127.0.0.1:%d
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AllowTcpForwarding no
AllowStreamLocalForwarding no
SetEnv %[3]s
`, b.port, b.dir, strings.Join(env, " ")))
	b.file("ssh.conf", fmt.Sprintf(`Host box
  HostName 127.0.0.1
  Port %d
  IdentityFile %[2]s/user
  IdentitiesOnly yes
  UserKnownHostsFile %[2]s/known
  StrictHostKeyChecking yes
`, b.port, b.dir))
	near := newLocalProject(t, "")
	client, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	// A user's configuration is in the home of the account, whatever HOME says.
	wrapper := filepath.Join(near.dir, "ssh")
	if err := os.WriteFile(wrapper, fmt.Appendf(nil, "#!/bin/sh\nexec %s -F %s/ssh.conf \"$@\"\n", client, b.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	near.env = append(near.env, "PATH="+near.dir+":"+os.Getenv("PATH"))
	b.start()
	t.Cleanup(b.stop)
	return b, near
}

func (b *box) file(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// start starts sshd, and waits until it listens.
func (b *box) start() {
	b.t.Helper()
	b.server = exec.Command(b.sshd, "-D", "-e", "-f", filepath.Join(b.dir, "sshd.conf"))
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			b.t.Fatal(err)
		}
	}
	log := filepath.Join(b.dir, "sshd.log")
	said, err := os.Create(log) // not a pipe: the processes of its connections would hold it
	if err != nil {
		b.t.Fatal(err)
	}
	defer said.Close()
	b.server.Stderr = said
	if err := b.server.Start(); err != nil {
		b.t.Fatal(err)
	}
	k8stest.Closely(b.t, "sshd to listen", func() error {
		if text, err := os.ReadFile(log); err != nil || !bytes.Contains(text, []byte("Server listening")) {
			return fmt.Errorf("%w: it says %s", err, text)
		}
		return nil
	})
}

// stop ends sshd, with the connections that it has.
func (b *box) stop() {
	_ = b.server.Process.Kill()
	_ = b.server.Wait()
	b.cut()
}

// cut kills each ssh that leads to the box.
func (b *box) cut() (killed int) {
	for _, pid := range b.running(filepath.Join(b.dir, "ssh.conf")) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// running returns the processes whose command lines have a text.
func (b *box) running(text string) (pids []int) {
	b.t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte(text)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			b.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// relays returns the relays that run on the box.
func (b *box) relays() (pids []int) {
	for _, pid := range b.running("hone\x00relay") {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(env, []byte("HOME="+b.dir+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isLeft waits until nothing of an attach is left on either side.
func (b *box) isLeft() {
	b.t.Helper()
	k8stest.Closely(b.t, "the processes of the attach to be gone", func() error {
		if left := append(b.running(filepath.Join(b.dir, "ssh.conf")), b.relays()...); len(left) > 0 {
			return fmt.Errorf("%v run", left)
		}
		return nil
	})
}

// TestFar attaches to a session behind a real sshd that allows no forwarding, loses the connection twice, and leaves nothing.
func TestFar(t *testing.T) {
	t.Parallel()
	there := newLocalProject(t, tool)
	b, near := newBox(t, there)
	term := near.terminal(140, 34)
	attach := binary + " attach ssh://box"
	term.keys("clear; "+attach, "Enter")
	term.shows(`no session of this user runs on box`)
	there.says(0, []string{"up", "--detach", "--port", "none"})
	t.Cleanup(func() { there.run("stop", "--all") })
	name := there.sessions()[0].Name
	term.keys("clear; "+attach+"/nobody", "Enter")
	term.shows(`no session on box is called "nobody"`)
	term.shows(`hone attach ssh://box/` + name)
	term.keys("clear; "+attach+"/"+name, "Enter")
	term.shows(`✔ tool`)
	term.shows(`Ctrl-C detach`)
	if all := near.sessions(); len(all) > 0 {
		t.Errorf("the session is one of the near side: %+v", all)
	}

	if n := b.cut(); n != 1 {
		t.Errorf("%d processes of ssh have led to the box, want 1", n)
	}
	k8stest.Closely(t, "another ssh", func() error {
		if n := len(b.relays()); n != 1 {
			return fmt.Errorf("%d relays", n)
		}
		return nil
	})
	term.hides("no connection to box")
	b.stop()
	term.shows(`no connection to box .*Connection refused`)
	there.says(0, []string{"trigger", "tool"})
	b.start()
	term.hides("no connection to box")
	term.keys("Home", "j", "a")
	k8stest.Closely(t, "each line once", func() error {
		if n := strings.Count(term.screen(), "│ tool has run"); n != 2 {
			return fmt.Errorf("%d times:\n%s", n, term.screen())
		}
		return nil
	})
	term.keys("t")
	k8stest.Closely(t, "an update of the near side", func() error {
		if out, _ := there.run("logs", "tool"); strings.Count(out, "│ tool has run") != 3 {
			return fmt.Errorf("not yet:\n%s", out)
		}
		return nil
	})
	term.keys("C-c")
	term.shows(`Detached from session ` + name)
	term.whole()
	b.isLeft()

	term.keys("clear; sh -c 'echo $$ > pid; exec "+attach+" --read-only'", "Enter")
	term.shows(`\A hone  \S+  read-only `)
	pid, err := os.ReadFile(filepath.Join(near.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("kill", "-TERM", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	term.shows(`prompt>`)
	term.whole()
	b.isLeft()

	term.keys("clear; "+attach, "Enter")
	term.shows(`✔ tool`)
	there.says(0, []string{"stop"}, "has ended")
	term.shows(`Session ` + name + ` is over`)
	b.isLeft()
	b.file("known", "")
	term.keys("clear; "+attach, "Enter")
	term.shows(`ssh does not reach box: Host key verification failed`)
	term.shows(`ssh box true`)
}

// TestFarPorts attaches to a session with a cluster: its ports, its page and its files are reached on the near side, also where a port is
// taken there, and all are closed with the attach.
func TestFarPorts(t *testing.T) {
	t.Parallel()
	there := newProject(t, strings.Replace(web, "port_forwards='$PORT0:80'", "port_forwards=['127.0.0.2:$PORT0:80', '$PORT1:80']", 1))
	there.says(0, []string{"up", "--detach", "--namespace", there.namespace, "--port", fmt.Sprint(there.ports[3])})
	t.Cleanup(func() { there.run("stop", "--all") })
	_, near := newBox(t, there)
	near.write("edit.sh", "#!/bin/sh\necho \"$@\" >edited\n")
	copied := filepath.Join(near.dir, "copy")
	near.write("copy/Tiltfile", "# the same, here")
	near.env = append(near.env, "VISUAL=", "EDITOR="+filepath.Join(near.dir, "edit.sh"))
	term := near.terminal(140, 34)
	opened := term.browser()
	term.keys(fmt.Sprintf("clear; %s attach ssh://box --map %s=%s", binary, there.dir, copied), "Enter")
	term.shows(`✔ web +ok  image .*running 1/1`)
	screen := term.shows(fmt.Sprintf(`taken on this machine.* %d is \d+`, there.ports[1]))
	if strings.Contains(screen, fmt.Sprintf(" %d is ", there.ports[0])) {
		t.Errorf("a port that is free has another number:\n%s", screen)
	}
	at := regexp.MustCompile(fmt.Sprintf(` %d is (\d+)`, there.ports[1])).FindStringSubmatch(screen)[1]
	addresses := []string{fmt.Sprintf("http://127.0.0.1:%d/", there.ports[0]), "http://127.0.0.1:" + at + "/"}
	for _, a := range addresses {
		k8stest.Eventually(t, a, func() error { return answers(a, "one") })
	}
	added := freePorts(t, 1)[0]
	there.says(0, []string{"forwards", "add", "web", fmt.Sprintf("127.0.0.2:%d:80", added)})
	more := fmt.Sprintf("http://127.0.0.1:%d/", added)
	k8stest.Eventually(t, more, func() error { return answers(more, "one") })
	there.says(0, []string{"forwards", "remove", "web", fmt.Sprintf("127.0.0.2:%d", added)})
	k8stest.Eventually(t, "the end of "+more, func() error { return refuses(more) })

	term.goes("web")
	term.keys("b")
	term.shows(fmt.Sprintf(`localhost:%s`, at))
	term.keys(at, "Enter")
	browsed(t, opened, "http://localhost:"+at+"/")
	term.keys("O")
	k8stest.Closely(t, "the page", func() error {
		b, err := os.ReadFile(opened)
		page := string(b)
		switch {
		case err != nil:
			return err
		case !strings.Contains(page, "?ticket="):
			return fmt.Errorf("opened: %s", page)
		case strings.Contains(page, fmt.Sprint(there.ports[3])):
			return fmt.Errorf("%s is the address there", page)
		}
		return answers(strings.TrimSpace(page), "<title>")
	})
	term.keys("o")
	k8stest.Closely(t, "the editor", func() error {
		b, err := os.ReadFile(filepath.Join(near.dir, "edited"))
		if err == nil && !strings.Contains(string(b), filepath.Join(copied, "Tiltfile")) {
			err = fmt.Errorf("it opens %s", b)
		}
		return err
	})
	term.keys("C-c")
	term.shows(`Detached from session`)
	for _, a := range addresses {
		if err := refuses(a); err != nil {
			t.Error(err)
		}
	}
}

// answers checks that an address answers with a text, to a browser without an earlier visit.
func answers(address, text string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	c := http.Client{Jar: jar, Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(b), text) {
		err = fmt.Errorf("%s answers %s %.200s", address, resp.Status, b)
	}
	return err
}

// refuses checks that nothing listens at an address.
func refuses(address string) error {
	err := answers(address, "")
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return fmt.Errorf("%s answers: %v", address, err) //nolint:errorlint // err may be nil
}
