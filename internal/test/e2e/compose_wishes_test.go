package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// wished has a service whose image Compose builds, one whose image the session builds. Each step of
// an image that is carried out again leaves another stamp.
const wished = `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
docker_build('hone-e2e/$PROJECT', '.', dockerfile='web.Dockerfile', only=['site'], live_update=[sync('site', '/www')])
-- compose.yml --
services:
  db:
    build: {context: db}
    stop_grace_period: 30s
    environment: {TOPIC: shells}
    command: ["sh", "-c", "trap 'echo put away; exit 0' TERM; echo db is up; while :; do sleep 0.1; done"]
  web:
    image: hone-e2e/$PROJECT
    ports: ["127.0.0.1:$PORT0:80"]
    stop_grace_period: 0s
-- db/Dockerfile --
FROM busybox
RUN cat /proc/sys/kernel/random/uuid >/stamp
-- web.Dockerfile --
FROM busybox
RUN mkdir -p /www && cat /proc/sys/kernel/random/uuid >/stamp
COPY site /www
CMD ["httpd", "-f", "-p", "80", "-h", "/www"]
-- site/index.html --
one
`

// TestComposeShell opens shells in a service of Compose: with a key, from the command line, and with a command.
func TestComposeShell(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, wished)
	s := p.up()
	s.ready("db", "web")
	term := p.terminal(120, 34)
	term.keys(binary+" attach", "Enter")
	const screen120 = `(?s)\A hone [^\n]*\n.*─{120}\n.*✔ db [^\n]*\n.*\n Enter details [^\n]*\? keys[^\n]*\n*\z`
	term.shows(screen120)
	term.goes("db")
	term.keys("S")
	if screen := term.shows(`(?s)Shell of db in container ` + p.name + `-db-1\..*^/ # ?$`); strings.Contains(screen, "NAME") || strings.Contains(screen, " pod ") {
		t.Errorf("it shows\n%s", screen)
	}
	term.keys("clear; echo $TOPIC; stty size", "Enter")
	term.shows(`^shells\n34 120\n`)
	term.resize(100, 30)
	term.keys("until stty size | grep -q 100; do :; done; clear; stty size", "Enter") // the size follows on a way of its own
	term.shows(`^30 100\n`)
	term.keys("clear; echo sleeps; sleep 1000", "Enter")
	term.shows(`^sleeps$`) // the shell takes keys that come earlier as its own input
	term.keys("C-c")       // for the container
	term.shows(`\^C\n+/ # ?$`)
	term.keys("C-d")
	term.resize(120, 34)
	term.shows(screen120)
	term.keys("q")
	term.shows(`^prompt>\s*$`)

	term.keys("clear; "+binary+" shell db; echo code=$?", "Enter")
	term.shows(`Shell of db in container ` + p.name + `-db-1\.`)
	term.keys("cat /proc/1/cmdline | tr '\\0' ' '; exit 3", "Enter")
	term.shows(`db is up.*code=3$`)
	term.whole()

	p.says(0, []string{"shell", "web", "--", "cat", "/www/index.html"}, `^one\n$`)
	p.says(7, []string{"shell", "db", "--", "sh", "-c", "echo out; echo err >&2; exit 7"}, `(?s)^(out\nerr|err\nout)\n$`)
	p.says(127, []string{"shell", "db", "--", "no-such-program"}, `has no command "no-such-program"`)
	p.says(1, []string{"shell"}, `there are several resources: name one\n  there are: db, web`)
	for _, tc := range []struct {
		argv     []string
		in, want string
		code     int
	}{
		{[]string{"shell", "db"}, "echo piped; exit 5\n", "piped\n", 5},
		{[]string{"shell", "db", "--", "cat"}, strings.Repeat("x", 200_000), strings.Repeat("x", 200_000), 0},
	} {
		c := p.command(tc.argv...)
		c.Stdin = strings.NewReader(tc.in)
		if out, err := c.Output(); string(out) != tc.want || c.ProcessState.ExitCode() != tc.code {
			t.Errorf("%v: %d bytes, %v", tc.argv, len(out), err)
		}
	}

	term.keys("clear; "+binary+" shell db; echo code=$?", "Enter")
	term.shows(`^/ # ?$`)
	if out, err := exec.Command("docker", "kill", p.name+"-db-1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	term.shows(`^code=(137|1)$`)
	term.whole()
	if left := p.running(" shell db"); left != "" {
		t.Errorf("processes are left: %s", left)
	}
	s.await("the session to know that the container is gone", func() error { // the engine reports it in its own time
		if out, code := p.run("shell", "db"); code != 1 || !strings.Contains(out, "no container of db is running") {
			return fmt.Errorf("%d %s", code, out)
		}
		return nil
	})
	s.stop()
}

// TestComposeGentleRestart restarts the container of a service: its process is asked to end and is waited for, the container stays,
// and the files of live updates are still in it.
func TestComposeGentleRestart(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, wished)
	s := p.up()
	s.ready("db", "web")
	before, web := p.only("db"), p.only("web")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	began := time.Now()
	if out := s.hone("restart", "db", "web"); !strings.Contains(out, "db: restarted container "+p.name+"-db-1") || !strings.Contains(out, "web: restarted container "+p.name+"-web-1") {
		t.Errorf("hone restart: %s", out)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("it took %v: the container was killed after its grace period", took)
	}
	s.says(`db +│ put away`)
	s.await("another start", func() error {
		if n := strings.Count(s.out.String(), "│ db is up"); n != 2 {
			return fmt.Errorf("%d starts", n)
		}
		return nil
	})
	if now := p.only("db"); now.ID != before.ID || !now.StartedAt.After(before.StartedAt) || !now.Running() {
		t.Errorf("the container: %+v, then %+v", before, now)
	}
	if now := p.only("web"); now.ID != web.ID || !now.StartedAt.After(web.StartedAt) {
		t.Errorf("the container: %+v, then %+v", web, now)
	}
	s.serves(p.ports[0], "/", "two")
	s.ready("db", "web")
	s.becomes("db", "restarted", func(r api.Resource) bool {
		return r.Restart != nil && r.Restart.Error == "" && !r.Restart.FinishedAt.IsZero()
	})
	s.stop()
}

// TestComposeRebuild builds images of services from scratch: one that Compose builds, and one that the session builds. A plain trigger
// takes steps that have not changed from the builder's cache. Both give new containers.
func TestComposeRebuild(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, wished)
	s := p.up()
	s.ready("db", "web")
	stamp := func(name string) string {
		out, code := p.run("shell", name, "--port", fmt.Sprint(s.port), "--", "cat", "/stamp")
		if code != 0 {
			t.Fatalf("the stamp of %s: %d\n%s", name, code, out)
		}
		return out
	}
	for _, name := range []string{"db", "web"} {
		first, container := stamp(name), p.only(name)
		s.hone("trigger", name)
		s.builds(name, 2)
		s.ready(name)
		if now, is := stamp(name), p.only(name); now != first || is.ID == container.ID {
			t.Errorf("%s: a trigger: stamp %s, then %s; container %s, then %s", name, first, now, container.ID, is.ID)
		}
		container = p.only(name)
		s.hone("trigger", "--no-cache", name)
		b := s.builds(name, 3)
		s.ready(name)
		if now, is := stamp(name), p.only(name); now == first || is.ID == container.ID || b.Mode != "compose" || b.Error != "" || b.Reason != "triggered, from scratch" {
			t.Errorf("%s: a rebuild: stamp %s, then %s; container %s, then %s; %+v", name, first, now, container.ID, is.ID, b)
		}
	}
	s.says("Rebuild From Scratch")
	s.stop()
}
