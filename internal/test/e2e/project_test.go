package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/test/freeport"
	"github.com/hone-dev/hone/pkg/api"
)

// patience is the time within which a condition must become true: tests check results, not speed.
const patience = k8stest.Patience

// binary is the hone under test, built by TestMain with the race detector.
var binary string

func TestMain(m *testing.M) {
	if port := os.Getenv(deafServer); port != "" {
		serveDeaf(port)
	}
	flag.Parse()
	if os.Getenv("HONE_TEST_CLUSTER") == "" && testing.Short() {
		os.Exit(m.Run()) // nothing to run
	}
	chooseCore()
	dir, err := os.MkdirTemp("", "hone-e2e")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "hone")
	for _, argv := range [][]string{
		{"go", "generate", "github.com/hone-dev/hone/internal/update/agent/program"},
		{"go", "build", "-race", "-tags=grpcnotrace,hone_crash", "-o", binary, "github.com/hone-dev/hone/cmd/hone"},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build hone: %v\n%s", err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// project is a source tree with a Tiltfile, a namespace for its objects, and ports for its forwards.
type project struct {
	t         *testing.T
	dir       string
	namespace string
	ports     []int
	state     string   // XDG_STATE_HOME, so that ledgers of tests stay apart
	env       []string // added to the environment of hone
	dyn       dynamic.Interface
	cluster   *k8s.Client
	written   map[string]bool  // the files that the test has written, absolute
	secrets   *declaredSecrets // in these files
}

// newProject unpacks a txtar archive. In its files, $NS stands for the namespace and $PORT0, $PORT1 … for free ports.
func newProject(t *testing.T, archive string) *project {
	t.Helper()
	return newProjectOn(t, k8stest.NewReal(t), archive)
}

// newDockerProject works like newProject, but on the cluster whose pods run in the engine.
func newDockerProject(t *testing.T, archive string) *project {
	t.Helper()
	p := newProjectOn(t, k8stest.NewRealOnDocker(t), archive)
	p.env = append(p.env, "KUBECONFIG="+os.Getenv(k8stest.DockerKubeconfig))
	return p
}

func newProjectOn(t *testing.T, real *k8stest.Real, archive string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), namespace: real.Namespace, state: t.TempDir(), dyn: real.Client.Dynamic(),
		cluster: real.Client}
	return p.unpack(archive)
}

// newLocalProject works like newProject, but for a Tiltfile without Kubernetes, which needs neither engine nor cluster: hone finds
// no kubeconfig.
func newLocalProject(t *testing.T, archive string) *project {
	t.Helper()
	if binary == "" {
		t.Skip("builds hone and runs it, which is not short")
	}
	p := &project{t: t, dir: t.TempDir(), state: t.TempDir()}
	p.env = []string{"KUBECONFIG=" + filepath.Join(p.state, "no-kubeconfig")}
	return p.unpack(archive)
}

func (p *project) unpack(archive string) *project {
	p.t.Helper()
	p.ports, p.secrets = freePorts(p.t, 4), &declaredSecrets{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		p.write(f.Name, string(f.Data))
	}
	return p
}

func freePorts(t *testing.T, n int) []int {
	var ports []int
	for range n {
		port, err := freeport.Next()
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return ports
}

func (p *project) expand(s string) string {
	s = strings.ReplaceAll(s, "$NS", p.namespace)
	for i, port := range p.ports {
		s = strings.ReplaceAll(s, fmt.Sprintf("$PORT%d", i), fmt.Sprint(port))
	}
	return s
}

// write replaces a file the way editors do: a new one, renamed over the old.
func (p *project) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode = 0o755
	}
	if err := os.WriteFile(path+"~", []byte(p.expand(content)), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		p.t.Fatal(err)
	}
	if p.written == nil {
		p.written = map[string]bool{}
	}
	p.written[path] = true
	p.secrets.learn(p.expand(content))
}

// replace edits a file.
func (p *project) replace(name, old, new string) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	if !strings.Contains(string(b), p.expand(old)) {
		p.t.Fatalf("%s does not contain %q", name, old)
	}
	p.write(name, strings.Replace(string(b), p.expand(old), p.expand(new), 1))
}

func (p *project) get(group, version, resource, name string) (*unstructured.Unstructured, error) {
	return p.dyn.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).
		Namespace(p.namespace).Get(p.t.Context(), name, metav1.GetOptions{})
}

// object waits for an object to exist and returns it.
func (p *project) object(group, version, resource, name string) *unstructured.Unstructured {
	p.t.Helper()
	var u *unstructured.Unstructured
	k8stest.Eventually(p.t, resource+"/"+name, func() (err error) {
		u, err = p.get(group, version, resource, name)
		return err
	})
	return u
}

// gone waits for an object to be deleted.
func (p *project) gone(group, version, resource, name string) {
	p.t.Helper()
	k8stest.Eventually(p.t, resource+"/"+name+" to be gone", func() error {
		_, err := p.get(group, version, resource, name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there (%v)", err) //nolint:errorlint // err may be nil
	})
}

// command prepares a run of hone in the project.
func (p *project) command(args ...string) *exec.Cmd {
	c := exec.Command(binary, args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+p.state, "XDG_RUNTIME_DIR="+p.state, "HONE_SESSION=", "GORACE=halt_on_error=1 atexit_sleep_ms=20", "TILT_PORT=", "NO_COLOR=1")
	c.Env = append(c.Env, p.env...)
	return c
}

// run runs hone until it ends and returns its output and exit code.
func (p *project) run(args ...string) (output string, code int) {
	p.t.Helper()
	return p.finish(p.command(args...))
}

// finish runs a prepared command until it ends, or patience is over.
func (p *project) finish(c *exec.Cmd) (output string, code int) {
	p.t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	timer := time.AfterFunc(2*patience, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait()
	p.prints(fmt.Sprintf("hone %.80q", c.Args[1:]), out.String())
	return out.String(), c.ProcessState.ExitCode()
}

// session is a running hone.
type session struct {
	p    *project
	cmd  *exec.Cmd
	port int
	out  *output
	done chan struct{}
}

// up starts "hone up --stream" in the project's namespace and ends it with the test.
func (p *project) up(args ...string) *session {
	return p.start("up", append([]string{"--stream"}, args...)...)
}

func (p *project) start(verb string, args ...string) *session {
	p.t.Helper()
	args = append([]string{verb, "--port", fmt.Sprint(p.ports[3])}, args...)
	if p.namespace != "" {
		args = append(args, "--namespace", p.namespace)
	}
	return p.startAs(p.command(args...))
}

// startAs starts a prepared command of hone with --port p.ports[3].
func (p *project) startAs(c *exec.Cmd) *session {
	p.t.Helper()
	s := &session{p: p, cmd: c, port: p.ports[3], out: &output{}, done: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	p.t.Cleanup(func() {
		if !p.t.Failed() {
			s.asDeclared()
		}
		s.answersNothing()
		s.stop()
		p.prints("hone "+c.Args[1], s.out.String())
		p.leavesNothing()
		if p.t.Failed() {
			p.t.Logf("%s said:\n%s", strings.Join(s.cmd.Args, " "), s.out)
		}
		if strings.Contains(s.out.String(), "DATA RACE") {
			p.t.Errorf("data race:\n%s", s.out)
		}
	})
	return s
}

// stop interrupts hone and returns its exit code.
func (s *session) stop() int { return s.stopWithin(30 * time.Second) }

func (s *session) stopWithin(limit time.Duration) int {
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.done:
	case <-time.After(limit):
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.done
		s.p.t.Errorf("hone did not stop within %s", limit)
	}
	return s.cmd.ProcessState.ExitCode()
}

// says waits until the output matches a regular expression, and returns the match.
func (s *session) says(pattern string) string {
	s.p.t.Helper()
	re := regexp.MustCompile(`(?m)` + pattern)
	var found string
	s.await(fmt.Sprintf("output %q", pattern), func() error {
		if found = re.FindString(s.out.String()); found == "" {
			return fmt.Errorf("not said yet")
		}
		return nil
	})
	return found
}

// await waits for a condition; it fails at once when hone has ended.
func (s *session) await(what string, condition func() error) {
	s.p.t.Helper()
	k8stest.Eventually(s.p.t, what, func() error {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			s.p.t.Fatalf("hone has ended while the test waits for %s\n%s", what, s.out)
		default:
		}
		return err
	})
}

// registry returns the registry of the project's sessions.
func (p *project) registry() *sessions.Registry { return sessions.New(sessions.Dir(p.state, p.state)) }

// client returns a client of the session.
func (s *session) client() (*client.Client, error) { return s.clientIn(s.p.t.Context()) }

func (s *session) clientIn(ctx context.Context) (*client.Client, error) {
	return client.Find(ctx, s.p.registry(), client.Selector{Host: "localhost", Port: s.port})
}

// token returns the token for the session's port.
func (s *session) token() string {
	s.p.t.Helper()
	c, err := s.client()
	if err != nil {
		s.p.t.Fatal(err)
	}
	token, err := s.p.registry().Token(c.Session)
	if err != nil {
		s.p.t.Fatal(err)
	}
	return token
}

// view queries the session's API.
func (s *session) view() (v api.View, err error) { return s.viewIn(s.p.t.Context()) }

func (s *session) viewIn(ctx context.Context) (v api.View, err error) {
	c, err := s.clientIn(ctx)
	if err != nil {
		return v, err
	}
	return c.View(ctx)
}

func (s *session) resource(name string) (api.Resource, error) {
	v, err := s.view()
	if err != nil {
		return api.Resource{}, err
	}
	for _, r := range v.Resources {
		if r.Name == name {
			return r, nil
		}
	}
	return api.Resource{}, fmt.Errorf("no resource %q", name)
}

// becomes waits until a resource meets a condition, and returns it.
func (s *session) becomes(name, what string, is func(api.Resource) bool) api.Resource {
	s.p.t.Helper()
	var r api.Resource
	s.await(name+" to be "+what, func() (err error) {
		if r, err = s.resource(name); err != nil {
			return err
		}
		if !is(r) {
			return fmt.Errorf("it is %+v", r)
		}
		return nil
	})
	return r
}

func ready(r api.Resource) bool {
	done := []string{"ok", "not_applicable"}
	return slices.Contains(done, r.UpdateStatus) && slices.Contains(done, r.RuntimeStatus)
}

// ready waits until resources are up to date and running.
func (s *session) ready(names ...string) {
	s.p.t.Helper()
	for _, n := range names {
		s.becomes(n, "ready", ready)
	}
}

// builds waits until a resource has had n builds, and returns the newest.
func (s *session) builds(name string, n int) api.Build {
	s.p.t.Helper()
	r := s.becomes(name, fmt.Sprintf("through with build %d", n), func(r api.Resource) bool {
		return len(r.BuildHistory) > 0 && r.BuildHistory[0].Serial >= n && r.CurrentBuild == nil
	})
	return r.BuildHistory[0]
}

// fetch gets a URL of a forwarded port and returns the body.
func fetch(port int, path string) (string, error) {
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(fmt.Sprintf("http://localhost:%d%s", port, path))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return strings.TrimSpace(string(b)), err
}

// serves waits until a forwarded port answers with the given text.
func (s *session) serves(port int, path, want string) {
	s.p.t.Helper()
	s.await(fmt.Sprintf("%q at port %d", want, port), func() error {
		got, err := fetch(port, path)
		if err == nil && got != want {
			err = fmt.Errorf("got %.300q", got)
		}
		return err
	})
}

// output collects the output of a process.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// String returns everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
