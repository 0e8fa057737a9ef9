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
	"github.com/hone-dev/hone/internal/test/harness"
)

// box is a machine that ssh reaches as "box": this one, through an sshd of the test, with another HOME.
type box struct {
	*harness.Box
	t *testing.T
	// conf is the configuration of the ssh of the near side, whose path marks its processes.
	conf string
}

// newBox makes a project one of a machine behind ssh, and returns that and a project of the near side.
func newBox(t *testing.T, there *project) (*box, *project) {
	t.Helper()
	var env []string
	for _, kv := range there.command().Env { // as the session has them
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "XDG_") || name == "KUBECONFIG" {
			env = append(env, kv)
		}
	}
	of, err := harness.NewBox(t.TempDir(), binary, env)
	if errors.Is(err, harness.ErrNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, near := &box{Box: of, t: t}, newLocalProject(t, "")
	if b.conf, err = of.Client(near.dir, of.Address); err != nil {
		t.Fatal(err)
	}
	near.env = append(near.env, "PATH="+near.dir+":"+os.Getenv("PATH"))
	b.start()
	t.Cleanup(b.stop)
	return b, near
}

func (b *box) start() {
	b.t.Helper()
	if err := b.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// stop ends sshd, with the connections that it has.
func (b *box) stop() {
	b.Stop()
	b.cut()
}

// cut kills each ssh that leads to the box.
func (b *box) cut() (killed int) {
	for _, pid := range b.running(b.conf) {
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
		if err == nil && bytes.Contains(env, []byte("HOME="+b.Dir+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isLeft waits until nothing of an attach is left on either side.
func (b *box) isLeft() {
	b.t.Helper()
	k8stest.Closely(b.t, "the processes of the attach to be gone", func() error {
		if left := append(b.running(b.conf), b.relays()...); len(left) > 0 {
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
	term.shows(`\A hone  \S+ on box `)
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
	term.shows(`\A hone  \S+ on box  read-only `)
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
	if err := b.Write("known", ""); err != nil {
		t.Fatal(err)
	}
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

// TestFarFolders: files of the session open in the clone of the same repository around the current directory, and in no other project.
func TestFarFolders(t *testing.T) {
	t.Parallel()
	there := newLocalProject(t, tool)
	git := func(p *project, args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", p.dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
	git(there, "init", "-q")
	git(there, "remote", "add", "origin", "git@example.com:dev/shop.git")
	there.says(0, []string{"up", "--detach", "--port", "none"})
	t.Cleanup(func() { there.run("stop", "--all") })
	_, near := newBox(t, there)
	near.write("Tiltfile", "# a clone, here")
	near.write("edit.sh", "#!/bin/sh\necho \"$@\" >edited\n")
	near.env = append(near.env, "VISUAL=", "EDITOR="+filepath.Join(near.dir, "edit.sh"))
	git(near, "init", "-q")
	git(near, "remote", "add", "upstream", "https://example.com/dev/shop")
	term := near.terminal(200, 34)
	attach := "clear; " + binary + " attach ssh://box"
	term.keys(attach, "Enter")
	term.shows(regexp.QuoteMeta(there.dir + " opens in " + near.dir))
	term.shows(`Ctrl-C detach`)
	term.goes("tool")
	term.keys("o")
	k8stest.Closely(t, "the editor", func() error {
		b, err := os.ReadFile(filepath.Join(near.dir, "edited"))
		if err == nil && !strings.Contains(string(b), filepath.Join(near.dir, "Tiltfile")) {
			err = fmt.Errorf("it opens %s", b)
		}
		return err
	})
	term.keys("C-c")
	term.shows(`Detached from session`)
	git(near, "remote", "set-url", "upstream", "https://example.com/dev/docs")
	git(there, "remote", "remove", "origin") // so that the path, which both have here, is the same project
	there.write("Tiltfile", tool+"# and more\n")
	term.keys(attach, "Enter")
	term.shows(regexp.QuoteMeta(there.dir + " opens in " + there.dir))
	term.keys("C-c")
	term.shows(`Detached from session`)
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
