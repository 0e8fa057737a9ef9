package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// triggers requests an update on the command line.
func (s *session) triggers(name string) {
	s.p.t.Helper()
	if out, code := s.p.run("trigger", name, "--port", fmt.Sprint(s.port)); code != 0 {
		s.p.t.Fatalf("trigger %s: %d %s", name, code, out)
	}
}

// waits waits until a resource is held for the given reason, and returns the resources that it waits for.
func (s *session) waits(name, reason string) string {
	s.p.t.Helper()
	r := s.becomes(name, "held: "+reason, func(r api.Resource) bool { return r.Waiting != nil && r.Waiting.Reason == reason })
	return strings.Join(r.Waiting.On, " ")
}

// updates returns how many builds of a resource have ended.
func (s *session) updates(name string) int {
	s.p.t.Helper()
	r, err := s.resource(name)
	if err != nil {
		s.p.t.Fatal(err)
	}
	return len(r.BuildHistory)
}

// TestLocalCommands runs commands in every form: as text and as words, with env and dir, in the folder of the Tiltfile
// that declares them, and never the variant for Windows.
func TestLocalCommands(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('text', cmd='echo "$GREETING from ${PWD##*/}"', cmd_bat='exit 9', env={'GREETING': 'hello'}, dir='work')
local_resource('words', cmd=['printf', '%s|', 'a b', '$HOME', '*'])
local_resource('served', serve_cmd='echo "$GREETING from ${PWD##*/}"; exec sleep 100000', serve_cmd_bat='exit 9',
    serve_env={'GREETING': 'welcome'}, serve_dir='work')
local_resource('both', cmd='echo "first $A$B"', serve_cmd=['sh', '-c', 'echo "then $A$B"; exec sleep 100000'], env={'A': '1'}, serve_env={'B': '2'})
include('sub/Tiltfile')
-- sub/Tiltfile --
local_resource('below', cmd='echo "from ${PWD##*/}"', deps=['here'])
-- sub/here --
-- work/README --
`)
	s := p.up()
	s.ready("text", "words", "served", "both", "below")
	for _, want := range []string{`text │ hello from work`, `words │ a b\|\$HOME\|\*\|`, `served │ welcome from work`, `both │ first 1`,
		`both │ then 2`, `below │ from sub`} {
		s.says(want + `$`)
	}
	p.write("sub/here", "changed")
	if b := s.builds("below", 2); fmt.Sprint(b.Files) != "[sub/here]" || b.Mode != "local" {
		t.Errorf("build: %+v", b)
	}
}

// TestLocalDeps changes files that a resource ignores, then one that it does not: only that one counts. Files that do
// not exist yet are watched for.
func TestLocalDeps(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
watch_settings(ignore=['src/watched-not'])
local_resource('sums', cmd='true', deps=['src', 'later/file', './Makefile'], ignore=['**/*.tmp', 'src/gen', '!src/gen/keep'])
-- src/a --
-- Makefile --
-- .dockerignore --
src/docker
-- .tiltignore --
src/tilt
`)
	s := p.up()
	s.ready("sums")
	serial := 1
	for _, tc := range []struct {
		ignored []string
		counts  string
	}{
		{[]string{"src/x.tmp", "src/deep/x.tmp", "src/gen/a", "src/tilt", "src/watched-not", "elsewhere", "src/a~"}, "src/docker"},
		{[]string{"src/gen/other", "later/another"}, "src/gen/keep"},
		{[]string{"x.tmp"}, "later/file"},
		{nil, "Makefile"},
	} {
		for _, name := range tc.ignored {
			p.write(name, fmt.Sprint("ignored ", serial))
		}
		p.write(tc.counts, fmt.Sprint("counts ", serial))
		serial++
		if b := s.builds("sums", serial); b.Serial != serial || fmt.Sprint(b.Files) != "["+tc.counts+"]" {
			t.Errorf("build %d: %+v, want one for %s", serial, b, tc.counts)
		}
	}
	if err := os.Remove(filepath.Join(p.dir, "src/docker")); err != nil {
		t.Fatal(err)
	}
	if b := s.builds("sums", serial+1); fmt.Sprint(b.Files) != "[src/docker]" {
		t.Errorf("a file went: %+v", b)
	}
}

// TestLocalTriggerModes tests the four combinations of trigger_mode and auto_init.
func TestLocalTriggerModes(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('auto', 'true', deps=['dep'], allow_parallel=True)
local_resource('auto-later', 'true', deps=['dep'], auto_init=False, allow_parallel=True)
local_resource('manual', 'true', deps=['dep'], trigger_mode=TRIGGER_MODE_MANUAL, allow_parallel=True)
local_resource('manual-later', 'true', deps=['dep'], trigger_mode=TRIGGER_MODE_MANUAL, auto_init=False, allow_parallel=True)
-- dep --
0
`)
	s := p.up()
	s.ready("auto", "manual")
	check := func(when string, want map[string]int) {
		t.Helper()
		for name, n := range want {
			if got := s.updates(name); got != n {
				t.Errorf("%s: %s was updated %d times, want %d", when, name, got, n)
			}
		}
	}
	check("at the start", map[string]int{"auto": 1, "auto-later": 0, "manual": 1, "manual-later": 0})

	p.write("dep", "1")
	s.builds("auto", 2)
	if r, _ := s.resource("manual"); len(r.PendingFiles) != 1 || r.UpdateStatus != "pending" {
		t.Errorf("manual, after a change: %+v", r)
	}
	s.waits("manual", "manual")
	check("after a change", map[string]int{"auto": 2, "auto-later": 0, "manual": 1, "manual-later": 0})

	for _, name := range []string{"auto-later", "manual", "manual-later"} {
		s.triggers(name)
	}
	s.builds("auto-later", 1)
	s.builds("manual", 2)
	s.builds("manual-later", 1)

	p.write("dep", "2")
	s.builds("auto", 3)
	s.builds("auto-later", 2)
	s.waits("manual", "manual")
	s.waits("manual-later", "manual")
	check("after another change", map[string]int{"auto": 3, "auto-later": 2, "manual": 2, "manual-later": 1})
	s.triggers("manual-later")
	if b := s.builds("manual-later", 2); fmt.Sprint(b.Files) != "[dep]" || !strings.Contains(b.Reason, "triggered") {
		t.Errorf("the triggered build: %+v", b)
	}
	s.triggers("auto") // without any change
	if b := s.builds("auto", 4); b.Reason != "triggered" {
		t.Errorf("the triggered build: %+v", b)
	}
}

// TestLocalScheduling checks that parallel commands overlap, and exclusive ones wait for others. A server does not take
// a turn.
func TestLocalScheduling(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
update_settings(max_parallel_updates=4)
meets = 'touch at-%s; until [ -e at-%s ] && [ -e go ]; do sleep 0.05; done'
alone = 'mkdir alone || { echo NOT ALONE; exit 1; }; until [ -e done-%s ]; do sleep 0.05; done; rmdir alone'
local_resource('p1', meets % ('p1', 'p2'), allow_parallel=True)
local_resource('p2', meets % ('p2', 'p1'), allow_parallel=True)
local_resource('x1', alone % 'x1')
local_resource('x2', alone % 'x2')
local_resource('srv', serve_cmd='exec sleep 100000')
`)
	s := p.up()
	s.ready("srv")
	if on := s.waits("x1", "is-unparallelizable-local"); on != "p1 p2" {
		t.Errorf("x1 waits for %q", on)
	}
	p.write("go", "")
	s.ready("p1", "p2")
	if on := s.waits("x2", "waiting-for-local"); on != "x1" {
		t.Errorf("x2 waits for %q", on)
	}
	s.triggers("p1") // also held while an exclusive one runs
	if on := s.waits("p1", "waiting-for-local"); on != "x1" {
		t.Errorf("p1 waits for %q", on)
	}
	p.write("done-x1", "")
	s.ready("x1")
	p.write("done-x2", "")
	s.ready("x2")
	s.builds("p1", 2)
	if strings.Contains(s.out.String(), "│ NOT ALONE") {
		t.Error("exclusive commands ran side by side")
	}
}

// TestLocalFailure shows the error of a command; dependent resources wait, and the next change tries again. A change
// while a command runs does not interrupt it: it runs once more afterwards.
func TestLocalFailure(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('gen', cmd='sh ./gen.sh', deps=['gen.sh'])
local_resource('user', cmd='cat out', resource_deps=['gen'])
-- gen.sh --
echo about to fail >&2
exit 3
`)
	s := p.up()
	r := s.becomes("gen", "failed", func(r api.Resource) bool { return r.UpdateStatus == "error" })
	if want := `command "sh ./gen.sh" failed: exit code 3`; r.BuildHistory[0].Error != want {
		t.Errorf("error %q, want %q", r.BuildHistory[0].Error, want)
	}
	s.says(`gen │ about to fail$`)
	if on := s.waits("user", "waiting-for-dep"); on != "gen" {
		t.Errorf("user waits for %q", on)
	}
	p.write("gen.sh", "echo result > out; echo started; until [ -e go ]; do sleep 0.05; done; echo ended one")
	s.says(`gen │ started$`)
	p.write("gen.sh", "echo ended two")
	s.becomes("gen", "changed while it runs", func(r api.Resource) bool { return len(r.PendingFiles) > 0 && r.CurrentBuild != nil })
	p.write("go", "")
	s.builds("gen", 3)
	s.ready("gen", "user")
	s.says(`(?s)gen │ ended one$.*gen │ ended two$`)
	s.says(`user │ result$`)
	if n := s.updates("user"); n != 1 {
		t.Errorf("user was updated %d times", n)
	}
}

// TestLocalRemoved removes a running command from the Tiltfile: it ends, with its children.
func TestLocalRemoved(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('stays', 'true')
local_resource('long', 'sleep 100000 & echo pids $$ $!; wait')
`)
	s := p.up()
	pids := pidsOf(s.says(`long │ pids \d+ \d+$`))
	p.replace("Tiltfile", "local_resource('long'", "#")
	s.await("long to be gone", func() error {
		if _, err := s.resource("long"); err == nil {
			return fmt.Errorf("it is still there")
		}
		return nil
	})
	s.gone(pids...)
	s.ready("stays")
}

// TestLocalOutput checks all kinds of output: both streams in order, progress, long lines, a last line without a line
// feed.
func TestLocalOutput(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('out', 'sh out.sh', serve_cmd='sh serve.sh')
-- out.sh --
echo now; until [ -e seen ]; do sleep 0.05; done
for i in 1 2 3 4 5; do echo "out $i"; echo "err $i" >&2; done
printf 'fetching 10%%\rfetching 60%%\rfetching 100%%\n'
head -c 200000 /dev/zero | tr '\0' x; echo " long end"
i=0; while [ $i -lt 5000 ]; do echo "line $i of the command"; i=$((i+1)); done
printf 'no end of line'
-- serve.sh --
i=0; while [ $i -lt 5000 ]; do echo "line $i of the server"; i=$((i+1)); done
printf 'the end of the server'
exit 4
`)
	s := p.up()
	s.says(`out │ now$`) // while the command runs
	p.write("seen", "")
	r := s.becomes("out", "ended", func(r api.Resource) bool { return r.RuntimeStatus == "error" })
	if r.RuntimeError != "serve_cmd ended: exit code 4" || r.Process == nil || r.Process.ExitCode == nil || *r.Process.ExitCode != 4 {
		t.Errorf("%q, process %+v", r.RuntimeError, r.Process)
	}
	s.says(`out │ Server exited: `)
	out := s.out.String()
	var lines []string
	for _, m := range regexp.MustCompile(`(?m)^ *out │ (.*)$`).FindAllStringSubmatch(out, -1) {
		lines = append(lines, m[1])
	}
	all := strings.Join(lines, "\n") + "\n"
	for _, want := range []string{"out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nout 4\nerr 4\nout 5\nerr 5\nfetching 100%\n",
		strings.Repeat("x", 200000) + " long end\n", "no end of line\nRunning serve cmd: sh serve.sh\n",
		"line 4999 of the server\nthe end of the server\nServer exited: serve_cmd ended: exit code 4\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("the output lacks %.200q", want)
		}
	}
	for _, who := range []string{"command", "server"} {
		for i := range 5000 {
			if n := strings.Count(all, fmt.Sprintf("\nline %d of the %s\n", i, who)); n != 1 {
				t.Fatalf("line %d of the %s came %d times", i, who, n)
			}
		}
	}
}

// TestLocalOutputFiles writes files that other resources depend on: they begin when the changes are known, so that each
// runs once.
func TestLocalOutputFiles(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('gen', 'mkdir -p made/deep; cp proto made/one; for i in $(seq 50); do cp proto made/deep/$i; done', deps=['proto'])
local_resource('user', 'cat made/one', deps=['made'], resource_deps=['gen'])
-- proto --
first
`)
	s := p.up()
	s.ready("gen", "user")
	s.says(`user │ first$`)
	p.write("proto", "second")
	s.builds("gen", 2)
	s.builds("user", 2)
	s.ready("gen", "user")
	s.says(`user │ second$`)
	p.write("proto", "third")
	s.builds("user", 3)
	s.says(`user │ third$`)
	if r, _ := s.resource("user"); len(r.BuildHistory) != 3 || !strings.HasPrefix(r.BuildHistory[2].Reason, "initial build") || len(r.PendingFiles) > 0 {
		t.Errorf("user was updated without need: %+v", r.BuildHistory)
	}
}

// TestLocalColours runs hone in a terminal: programs learn that they may use colours, and their colours are kept.
func TestLocalColours(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('paint', r'printf "\033[35mviolet\033[0m FORCE_COLOR=$FORCE_COLOR\n"; echo plain=$CLICOLOR_FORCE', env={'CLICOLOR_FORCE': '0'}, allow_parallel=True)
`)
	term := p.terminal(100, 20)
	term.keys(fmt.Sprintf("env -u NO_COLOR %s up --stream --port %d", binary, p.ports[3]), "Enter")
	term.shows(`paint │ violet FORCE_COLOR=1$`)
	term.shows(`paint │ plain=0$`)
	if screen := term.tmux("capture-pane", "-p", "-e"); !strings.Contains(screen, "\x1b[35mviolet") {
		t.Errorf("the colour is gone: %q", screen)
	}
	term.keys("C-c")
	term.shows(`prompt>\s*$`)
}

// TestLocalHUD shows a project without Kubernetes, without any mention of a cluster.
func TestLocalHUD(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('docs', serve_cmd='exec sleep 100000', links=['http://localhost:4000'], labels=['tools'])
local_resource('dies', serve_cmd='exit 0', labels=['tools'])
`)
	term := p.terminal(120, 30)
	term.keys(fmt.Sprintf("%s up --port %d", binary, p.ports[3]), "Enter")
	term.shows(`✔ docs .*pid \d+`)
	term.shows(`dies .*failed  exit 0`)
	screen := term.shows(`tools`)
	for _, not := range []string{"kubeconfig", "cluster"} {
		if strings.Contains(screen, not) {
			t.Errorf("the screen speaks of %q:\n%s", not, screen)
		}
	}
	term.keys("C-c")
	term.shows(`^prompt>\s*$`)
}

// TestLocalAndKubernetesDependencies chains a server on this machine, a Deployment that needs it, and a command that
// needs the Deployment.
func TestLocalAndKubernetesDependencies(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "replicas: 0", "replicas: 1", 1))
	p.replace("app.yaml", "image: busybox", "image: busybox, command: [sleep, '100000'], readinessProbe: {exec: {command: [test, -e, /tmp/up]}, periodSeconds: 1}")
	p.write("Tiltfile", `
local_resource('db', serve_cmd='exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['test', '-e', 'db-up'])))
k8s_yaml('app.yaml')
k8s_resource('app', resource_deps=['db'])
local_resource('seed', 'echo seeded', resource_deps=['app'])
`)
	s := p.up()
	if on := s.waits("app", "waiting-for-dep"); on != "db" {
		t.Errorf("app waits for %q", on)
	}
	if on := s.waits("seed", "waiting-for-dep"); on != "app" {
		t.Errorf("seed waits for %q", on)
	}
	p.write("db-up", "")
	s.becomes("app", "deployed, not ready", func(r api.Resource) bool { return len(r.Pods) == 1 && r.RuntimeStatus == "pending" })
	if n := s.updates("seed"); n != 0 {
		t.Errorf("seed ran before app was ready: %d", n)
	}
	p.replace("app.yaml", "test, -e, /tmp/up", "'true'")
	s.ready("app", "seed")
	s.says(`seed │ seeded$`)
}
