package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shells has a pod of two containers, of which live updates go to the second, a pod whose image has no shell, and a server on this
// machine.
var shells = `
-- Tiltfile --
docker_build('web', '.', dockerfile='web.Dockerfile', only=['site'], live_update=[sync('site', '/www')])
docker_build('bare', 'src', dockerfile='bare.Dockerfile')
k8s_yaml(['web.yaml', 'bare.yaml'])
local_resource('docs', serve_cmd='while :; do sleep 1; done', serve_dir='site', serve_env={'TOPIC': 'shells'})
-- web.Dockerfile --
FROM busybox
COPY site /www
CMD ["httpd", "-f", "-h", "/www"]
-- bare.Dockerfile --
FROM scratch
COPY server /server
COPY app /app
CMD ["/server", "/app/text"]
-- src/app/text --
one
-- site/index.html --
one
-- web.yaml --
` + deployment("web", `
terminationGracePeriodSeconds: 0
containers:
- {name: helper, image: busybox, command: [sleep, '100000']}
- {name: web, image: web}
`) + `
-- bare.yaml --
` + deployment("bare", `
terminationGracePeriodSeconds: 0
containers:
- {name: bare, image: bare}
`)

// shells120 matches a complete screen of 120 columns with the project of shells.
const shells120 = `(?s)\A hone [^\n]*\n.*─{120}\n.*✔ web [^\n]*\n.*\n Enter details [^\n]*\? keys[^\n]*\n*\z`

// goes selects a resource in the table.
func (term *terminal) goes(name string) {
	term.t.Helper()
	term.keys("C-p")
	term.shows(`resources`)
	term.keys(name, "Enter")
	term.shows(`▌ . ` + name)
}

// TestShell opens shells from the session's own terminal and from an attached one: in the container that live updates go to and in
// the other one, in an image without a shell, and in a folder. Keys, interrupts and sizes go to the shell, and the screen is there
// again after its end.
func TestShell(t *testing.T) {
	t.Parallel()
	p := newProject(t, shells).compiled()
	p.env = append(p.env, "SHELL=/bin/sh", "PS1=local> ")
	own := p.terminal(120, 34)
	p.hud(own)
	own.shows(`✔ web +ok  image`)
	own.shows(`✔ bare +ok  image`)
	own.shows(`✔ docs`)
	own.goes("web")
	own.keys("S")
	own.shows(`web +live updates go to it`)
	own.keys("Enter")
	screen := own.shows(`(?s)Shell of web in container web of pod web-.*^/ # ?$`)
	if strings.Contains(screen, "NAME") {
		t.Errorf("the screen is still there:\n%s", screen)
	}
	own.keys("cat /www/index.html; stty size", "Enter")
	own.shows(`one\n34 120\n`)
	own.resize(100, 30)
	own.keys("until stty size | grep -q 100; do :; done; clear; stty size", "Enter") // the size arrives separately
	own.shows(`^30 100\n`)
	own.keys("clear; echo sleeps; sleep 1000", "Enter")
	own.shows(`^sleeps$`) // the shell takes keys that come earlier as its own input
	own.keys("C-c")       // for the container
	own.shows(`\^C\n+/ # ?$`)
	own.keys("C-d")
	own.resize(120, 34)
	own.shows(shells120)
	own.hides("exit code")

	attached := p.terminal(120, 34)
	attached.keys(binary+" attach", "Enter")
	attached.shows(shells120)
	attached.goes("web")
	attached.keys("S")
	attached.shows(`shell of web`)
	attached.keys("helper", "Enter")
	attached.shows(`(?s)Shell of web in container helper of pod web-.*^/ # ?$`)
	attached.keys("stty size; ls /www", "Enter")
	attached.shows(`34 120\n`)
	attached.shows(`No such file or directory`)
	attached.keys("exit", "Enter")
	attached.shows(shells120)

	for _, term := range []*terminal{own, attached} {
		term.goes("bare")
		term.keys("S")
		term.shows(`container bare of pod bare-\S+ has no shell: neither bash nor sh`)
		term.goes("docs")
		term.keys("S")
		term.shows(`Shell of docs in \S+/site`)
		term.keys("echo $TOPIC in $PWD", "Enter")
		term.shows(`^shells in \S+/site$`)
		term.keys("exit 1", "Enter")
		term.shows(shells120)
	}

	own.goes("web")
	own.keys("S")
	own.shows(`shell of web`)
	own.keys("Enter")
	own.shows(`^/ # ?$`)
	p.says(0, []string{"stop"})
	own.shows(`^prompt>\s*$`)
	own.whole()
	attached.shows(`Session \S+ is over`)
	attached.whole()
}

// TestShellCommand runs commands in containers and folders: with input from a pipe, with exit codes, and in a terminal of their own,
// which is whole after a pod was deleted under a shell.
func TestShellCommand(t *testing.T) {
	t.Parallel()
	p := newProject(t, shells).compiled()
	s := p.up()
	s.ready("web", "bare", "docs")
	p.says(0, []string{"shell", "web", "--", "cat", "/www/index.html"}, `^one\n$`)
	p.says(7, []string{"shell", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 7"}, `(?s)^(out\nerr|err\nout)\n$`)
	p.says(1, []string{"shell", "web", "-c", "helper", "--", "cat", "/www/index.html"}, `No such file`)
	p.says(127, []string{"shell", "web", "--", "no-such-program"}, `container web of pod web-\S+ has no command "no-such-program"`)
	p.says(126, []string{"shell", "web", "--", "/www/index.html"}, `cannot execute "/www/index.html"`)
	p.says(127, []string{"shell", "bare"}, `has no shell: neither bash nor sh is in its image\n  run one beside it: kubectl debug -n `+p.namespace+` bare-`)
	p.says(1, []string{"shell", "web", "-c", "sidecar"}, `no running container of web is called "sidecar"`, `there are: web, helper`)
	p.says(1, []string{"shell"}, `there are several resources: name one\n  there are: bare, web`)
	p.says(3, []string{"shell", "docs", "--", "sh", "-c", "echo $TOPIC; pwd; exit 3"}, `^shells\n\S+/site\n$`)
	for _, tc := range []struct{ in, want string }{{"echo piped; exit 5\n", "piped\n"}, {strings.Repeat("x", 200_000), ""}} {
		c, code := p.command("shell", "web"), 5
		if tc.want == "" {
			c, tc.want, code = p.command("shell", "web", "--", "cat"), tc.in, 0
		}
		c.Stdin = strings.NewReader(tc.in)
		out, err := c.Output()
		if string(out) != tc.want || c.ProcessState.ExitCode() != code {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	}

	term := p.terminal(100, 30)
	term.keys("clear; "+binary+" shell web -- sh -c 'until stty size 2>/dev/null | grep 100; do :; done; exit 4'; echo code=$?", "Enter")
	term.shows(`^30 100\ncode=4\n`)
	term.keys("clear; "+binary+" shell web -- cat /www/index.html | od -c", "Enter")
	term.shows(`o   n   e  \\n\n`)
	term.keys("clear; "+binary+" shell; echo code=$?", "Enter")
	term.shows(`there are several resources`)
	term.keys("clear; "+binary+" shell web; echo code=$?", "Enter")
	screen := term.shows(`Shell of web in container web of pod (\S+)\.`)
	pod := regexp.MustCompile(`of pod (\S+)\.`).FindStringSubmatch(screen)[1]
	term.shows(`^/ # ?$`)
	if out, err := exec.Command("kubectl", "delete", "pod", "-n", p.namespace, "--grace-period=0", "--force", pod).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	term.shows(`the shell in container web of pod \S+ was killed|lost the connection to container web of pod`)
	term.shows(`^code=(137|1)$`)
	term.whole()
	if left := p.running(" shell web"); left != "" {
		t.Errorf("processes are left: %s", left)
	}
	s.stop()
}

// running returns the processes of hone with a text in their command lines.
func (p *project) running(text string) string {
	out, _ := exec.Command("pgrep", "-af", "--", "^"+regexp.QuoteMeta(binary+text)).Output() // fails if there is none
	var own []string
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pid, _, _ := strings.Cut(line, " ")
		// Other tests run the same command at the same time.
		if dir, err := os.Readlink(filepath.Join("/proc", pid, "cwd")); err == nil && pid != "" && dir == p.dir {
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}
