package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/web/docs"
)

// TestDocs follows the instructions of each page of the documentation, in a folder and a namespace of its own: it writes the files,
// runs the commands on the real cluster and engine, and compares their output. docs.Block describes the marks in the pages.
func TestDocs(t *testing.T) {
	for _, p := range docs.Pages() {
		if strings.HasPrefix(p.Topic, "reference/") || !runs(p) {
			continue
		}
		t.Run(strings.ReplaceAll(p.Topic, "/", "-"), func(t *testing.T) {
			t.Parallel()
			r := newReader(t, p)
			for _, b := range p.Blocks() {
				program, ok := b.Value("needs")
				if !ok {
					continue
				}
				var err error
				if program == "dotnet" {
					err = r.dotnet()
				} else {
					_, err = exec.LookPath(program)
				}
				if err != nil {
					t.Skipf("%s:%d needs %s on this machine: %v", p.Topic, b.Line, program, err)
				}
			}
			r.follow()
		})
	}
}

// runs reports whether a page has a command that can run here.
func runs(p docs.Page) bool {
	return slices.ContainsFunc(p.Blocks(), func(b docs.Block) bool {
		_, elsewhere := b.Value("elsewhere")
		return b.Lang == "sh" && !elsewhere
	})
}

// TestDocsTellWhy checks that blocks that do not run here say why, and prints them.
func TestDocsTellWhy(t *testing.T) {
	for _, p := range docs.Pages() {
		for _, b := range p.Blocks() {
			if why, ok := b.Value("elsewhere"); ok {
				if len(why) < 10 {
					t.Errorf("%s:%d does not say why it cannot run: %q", p.Topic, b.Line, why)
				}
				t.Logf("%s:%d does not run here: %s", p.Topic, b.Line, why)
			}
		}
	}
}

// reader follows a page.
type reader struct {
	t    *testing.T
	page docs.Page
	dir  string
	env  []string
	// ports are the ports of the page, and those that it gets here instead.
	ports map[string]string
	// framework is the version of the installed .NET SDK, instead of the one that pages name.
	framework string
	// secrets are the Secrets in the files of the page, and state is the folder of hone's own files.
	secrets *declaredSecrets
	state   string
	// output is the output of the last commands.
	output string
	// running are the commands in other terminals.
	running []*exec.Cmd
	logs    []*bytes.Buffer
}

// pagePorts matches the ports that pages use.
var pagePorts = regexp.MustCompile(`\b8[01]\d\d\b`)

func newReader(t *testing.T, p docs.Page) *reader {
	t.Helper()
	real := k8stest.NewReal(t)
	r := &reader{t: t, page: p, dir: filepath.Join(t.TempDir(), "shop"), ports: map[string]string{}, secrets: &declaredSecrets{}}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, port := range slices.Compact(slices.Sorted(slices.Values(pagePorts.FindAllString(string(p.Text), -1)))) {
		free, err := freeport.Next()
		if err != nil {
			t.Fatal(err)
		}
		r.ports[port] = fmt.Sprint(free)
	}
	state, err := os.MkdirTemp("", "hone") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	r.state = filepath.Join(state, "hone")
	home := filepath.Join(state, "home")
	bin := filepath.Join(state, "bin")
	for _, d := range []string{home, bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(bin, "hone")); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "HOME="+home, "PATH="+bin+":"+composeFolder(t)+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfigFor(t, real.Namespace),
		"XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state, "HONE_SESSION=", "TILT_PORT=0", "NO_COLOR=1", "GORACE=halt_on_error=1 atexit_sleep_ms=20", "GOFLAGS=",
		"GOPATH="+goEnv(t, "GOPATH"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "RUSTUP_HOME="+homeOf(t, "RUSTUP_HOME", ".rustup"), "CARGO_HOME="+homeOf(t, "CARGO_HOME", ".cargo"))
	t.Cleanup(r.leave)
	return r
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// homeOf returns a folder of the user's tools: the one in the environment, or one in the home folder.
func homeOf(t *testing.T, variable, name string) string {
	t.Helper()
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, name)
}

// kubeconfigFor returns a copy of the kubeconfig whose current context has a namespace.
func kubeconfigFor(t *testing.T, namespace string) string {
	t.Helper()
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// leave ends the programs that still run. Neither their output nor a file of hone has the value of a Secret.
func (r *reader) leave() {
	stop := r.command("hone stop --all --timeout 30s; hone down --timeout 60s")
	_ = stop.Run()
	for i, c := range r.running {
		timer := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		r.withholds(r.secrets.printed("the other terminal", r.logs[i].String()))
		if r.t.Failed() {
			r.t.Logf("the other terminal:\n%s", r.logs[i])
		}
	}
	if _, err := os.Stat(r.state); err == nil { // some pages use no hone
		r.withholds(r.secrets.left(r.state))
	}
}

// withholds reports the value of a Secret.
func (r *reader) withholds(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Error(err)
	}
}

// pageFramework is the framework that pages about .NET name.
const pageFramework = "net9.0"

func (r *reader) expand(s string) string {
	if r.framework != "" {
		s = strings.ReplaceAll(s, pageFramework, r.framework)
	}
	return pagePorts.ReplaceAllStringFunc(s, func(port string) string { return r.ports[port] })
}

// dotnet puts a .NET SDK on the reader's PATH. Processes of a compiler that outlive it are turned off.
func (r *reader) dotnet() error {
	folder, err := exec.Command("../../../scripts/dotnet/build").Output()
	if err != nil {
		return fmt.Errorf("scripts/dotnet/build: %w", err)
	}
	r.env = append(r.env, "PATH="+strings.TrimSpace(string(folder))+":"+lookup(r.env, "PATH"), "UseSharedCompilation=false", "MSBUILDDISABLENODEREUSE=1",
		"NUGET_PACKAGES="+filepath.Join(lookup(r.env, "HOME"), "nuget"), "TMPDIR="+lookup(r.env, "HOME"))
	if err := r.run("dotnet --version"); err != nil {
		return fmt.Errorf("%w\n%s", err, r.output)
	}
	version := strings.TrimSpace(r.output)
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	r.framework = "net" + major + "." + minor
	if len(major) == 1 && major < "5" {
		r.framework = "netcoreapp" + major + "." + minor
	}
	return nil
}

// lookup returns the last value of a variable.
func lookup(env []string, name string) (value string) {
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

func (r *reader) command(script string) *exec.Cmd {
	c := exec.Command("bash", "-eu", "-o", "pipefail", "-c", script)
	c.Dir, c.Env = r.dir, r.env
	return c
}

// follow does one block after the other.
func (r *reader) follow() {
	blocks := r.page.Blocks()
	for i, b := range blocks {
		if r.t.Failed() {
			return
		}
		var next *docs.Block
		if i+1 < len(blocks) && blocks[i+1].Lang == "text" && len(blocks[i+1].Words) == 0 {
			next = &blocks[i+1]
		}
		r.block(b, next)
	}
}

func (r *reader) block(b docs.Block, expected *docs.Block) {
	if name, ok := b.Value("file"); ok {
		r.secrets.learn(b.Text)
		if err := harness.Write(filepath.Join(r.dir, name), r.expand(b.Text)); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	if _, elsewhere := b.Value("elsewhere"); b.Lang != "sh" || elsewhere {
		return
	}
	script := r.expand(b.Text)
	_, fails := b.Value("fails")
	_, up := b.Value("up")
	_, until := b.Value("until")
	switch {
	case up:
		r.start(script)
	case until:
		if expected == nil {
			r.t.Fatalf("%s:%d: nothing is expected of the commands", r.page.Topic, b.Line)
		}
		k8stest.Eventually(r.t, fmt.Sprintf("%s:%d to print what the page says", r.page.Topic, b.Line), func() error {
			if err := r.run(script); err != nil {
				return err
			}
			return r.printed(*expected)
		})
	default:
		if err := r.run(script); (err != nil) != fails {
			r.t.Fatalf("%s:%d: %v\n%s\n%s", r.page.Topic, b.Line, err, script, r.output)
		}
		if expected != nil {
			if err := r.printed(*expected); err != nil {
				r.t.Fatalf("%s:%d: %v", r.page.Topic, b.Line, err)
			}
		}
	}
}

// run runs commands, and keeps their output.
func (r *reader) run(script string) error {
	c := r.command(script)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(2*patience, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	err := c.Wait()
	r.output = out.String()
	r.withholds(r.secrets.withheld(script, out.Bytes()))
	return err
}

// start runs commands in another terminal, and waits until their session answers.
func (r *reader) start(script string) {
	c := r.command(script)
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.running, r.logs = append(r.running, c), append(r.logs, out)
	k8stest.Eventually(r.t, "a session", func() error { return r.run("hone wait --for=condition=UpToDate uiresource/'(Tiltfile)' --timeout 1s") })
}

// printed returns an error if the last commands have not printed the lines of a block, in their order. … stands for any text.
func (r *reader) printed(b docs.Block) error {
	rest := r.output
	for l := range strings.Lines(r.expand(b.Text)) {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		pattern := "(?m)^[ \t]*" + strings.ReplaceAll(regexp.QuoteMeta(l), "…", ".*") + "[ \t]*$"
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		if at == nil {
			return fmt.Errorf("the commands do not print %q:\n%s", l, r.output)
		}
		rest = rest[at[1]:]
	}
	return nil
}
