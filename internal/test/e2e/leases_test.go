package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

// writesTo reports whether a request changes an object of a namespace.
func writesTo(namespace string, r *http.Request) bool {
	writes := r.Method == http.MethodPatch || r.Method == http.MethodDelete
	return writes && r.URL.Query().Get("dryRun") == "" && strings.Contains(r.URL.Path, namespace)
}

// ledgerOf is a place for the ledger of a test.
type ledgerOf struct {
	name string
	// url returns the URL of the ledger; empty for the default.
	url func(*testing.T) string
}

func inFolder(t *testing.T) string { return "file://" + t.TempDir() }

func onServer(t *testing.T) string {
	s := httptest.NewServer(&storagetest.Server{})
	t.Cleanup(s.Close)
	return s.URL
}

// ledgerLine returns the line of a Tiltfile that chooses a ledger.
func ledgerLine(url string) string {
	if url == "" {
		return ""
	}
	return "ledger_settings(url='" + url + "')\n"
}

// TestTwoDeploysAtOnce deploys two clones of a project at once, as one user and as two: the second deploy waits for the first one and
// names it, and no two revisions have one number (K17).
func TestTwoDeploysAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ledgerOf
		alone bool // the clones have one home
	}{
		{ledgerOf{"two clones", func(*testing.T) string { return "" }}, true},
		{ledgerOf{"two homes that share a folder", inFolder}, false},
		{ledgerOf{"two homes that share a server", onServer}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			archive := "-- Tiltfile --\nproject('$NS')\n" + "k8s_yaml('conf.yaml')\n" + ledgerLine(tc.url(t)) + configs("conf")
			p := newProject(t, archive)
			p.write("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: first}\n")
			second := *p
			second.dir = t.TempDir()
			if !tc.alone {
				second.state = t.TempDir()
			}
			second.unpack(archive)
			second.write("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: second}\n")
			g, kubeconfig := newGate(t)
			p.env = append(p.env, "KUBECONFIG="+kubeconfig)
			begun, goOn := make(chan struct{}), make(chan struct{})
			arrive := sync.OnceFunc(func() { close(begun) })
			g.refuse(func(r *http.Request) refusal {
				if writesTo(p.namespace, r) {
					arrive()
					<-goOn
				}
				return refusal{}
			})
			in := []string{"--namespace", p.namespace, "--port", "0"}
			one := p.startAs(p.command(append([]string{"ci"}, in...)...))
			<-begun
			two := second.startAs(second.command(append([]string{"deploy", "--yes"}, in...)...))
			two.says(fmt.Sprintf(`Waiting for hone ci of \S+@\S+ \(pid %d\)`, one.cmd.Process.Pid))
			close(goOn)
			for _, s := range []*session{one, two} {
				if <-s.done; s.cmd.ProcessState.ExitCode() != 0 {
					t.Errorf("%v ended with %s", s.cmd.Args, s.cmd.ProcessState)
				}
			}
			if got := p.data("key"); got != "second" {
				t.Errorf("the value is %v", got)
			}
			p.numbered(2)
			p.says(0, []string{"down", "--namespace", p.namespace}, `Deleted 1 object`)
		})
	}
}

// numbered checks that the history has the revisions 1 to n.
func (p *project) numbered(n int) {
	p.t.Helper()
	out, _ := p.run("history", "-o", "json", "--namespace", p.namespace)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(n-i))
	}
	var got []string
	for _, m := range regexp.MustCompile(`"number": (\d+)`).FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		p.t.Errorf("the revisions are %q, want %q:\n%s", got, want, out)
	}
}

// points are the places in a deploy of one object where TestKilledAtEachPoint kills it, each with the preview afterwards.
var points = []struct{ name, preview string }{
	{"after the record", `: 1 to create\n`},
	{"after the API call", `: 1 unchanged\n`},
	{"before the save", `: 1 unchanged\n`},
}

// TestKilledAtEachPoint kills a deploy at each point between the record of an object and the save of its result. The next preview
// tells the truth, hone state unlock names the process, and down leaves nothing (K16). TestLeaseOfADeadHolder has the lease's term.
func TestKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, ledger := range []string{"folder", "server"} {
		for _, point := range points {
			t.Run(ledger+" "+point.name, func(t *testing.T) {
				t.Parallel()
				b := &breakpoint{t: t, at: point.name, started: make(chan struct{})}
				url := b.server()
				if ledger == "folder" {
					b.folder = t.TempDir()
					url = "file://" + b.folder
				}
				p := newProject(t, "-- Tiltfile --\nproject('$NS')\nk8s_yaml('conf.yaml')\n"+ledgerLine(url)+configs("conf"))
				g, kubeconfig := newGate(t)
				in := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
				c := p.command(in("ci", "--port", "0")...)
				c.Env = append(c.Env, "KUBECONFIG="+kubeconfig)
				b.namespace, b.cmd = p.namespace, c
				g.refuse(b.before)
				g.lose(b.after)
				s := p.startAs(c)
				close(b.started)
				<-s.done
				b.pass()
				if !b.killed.Load() {
					t.Fatal("it was not killed")
				}
				p.says(0, in("preview"), point.preview)
				p.says(1, in("state", "unlock"), fmt.Sprintf(`held by hone ci of \S+@\S+ \(pid %d\)`, c.Process.Pid), `add --yes`)
				p.says(0, in("down"))
				p.gone("", "v1", "configmaps", "conf")
				p.says(0, in("state", "unlock"), `Nobody holds the lease`)
				p.says(0, in("get", "records"), `No records`)
			})
		}
	}
}

// breakpoint kills a process at a point of its first write to the cluster. The requests that the process sends from then on fail.
type breakpoint struct {
	t              *testing.T
	at             string
	namespace      string
	folder         string // of the ledger; empty for a server
	cmd            *exec.Cmd
	started        chan struct{}          // closed when cmd runs
	lock           atomic.Pointer[func()] // gives back the lock of the ledger
	written        atomic.Bool            // an object
	passes, killed atomic.Bool            // killed is set before the process ends
}

// kill ends the process, and reports that its request fails.
func (b *breakpoint) kill() bool {
	<-b.started
	b.killed.Store(true)
	_ = b.cmd.Process.Kill()
	return true
}

// pass lets the requests of later processes through.
func (b *breakpoint) pass() {
	b.passes.Store(true)
	if unlock := b.lock.Load(); unlock != nil {
		(*unlock)()
	}
}

// before gets a request to the API server before the server does.
func (b *breakpoint) before(r *http.Request) refusal {
	if b.at == "after the record" && writesTo(b.namespace, r) && b.kill() {
		return refusal{status: http.StatusServiceUnavailable}
	}
	return refusal{}
}

// after gets a request that the API server has carried out, before the process has the answer.
func (b *breakpoint) after(r *http.Request) bool {
	if !writesTo(b.namespace, r) {
		return false
	}
	b.written.Store(true)
	if b.at == "before the save" && b.folder != "" {
		b.killAtLock()
	}
	return b.at == "after the API call" && b.kill()
}

// killAtLock takes the lock of the ledger, and kills the process when it waits for it.
func (b *breakpoint) killAtLock() {
	heads, err := filepath.Glob(filepath.Join(b.folder, "*.json"))
	if err != nil || len(heads) != 1 {
		b.t.Errorf("the ledgers are %q, %v", heads, err)
		return
	}
	lock := heads[0] + ".lock"
	unlock, err := filelock.Lock(b.t.Context(), lock)
	if err != nil {
		b.t.Error(err)
		return
	}
	b.lock.Store(&unlock)
	go func() {
		<-b.started
		k8stest.Eventually(b.t, "the wait for the lock", func() error {
			fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", b.cmd.Process.Pid))
			for _, fd := range fds {
				if is, _ := os.Readlink(fd); is == lock {
					return nil
				}
			}
			return fmt.Errorf("it has %d files open (%v)", len(fds), err) //nolint:errorlint // err may be nil
		})
		b.kill()
	}()
}

// server starts a server for the ledger, and returns its URL.
func (b *breakpoint) server() string {
	docs := &storagetest.Server{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		saves := r.Method == http.MethodPut && b.written.Load() && !b.passes.Load()
		if saves && b.at == "before the save" && b.kill() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		docs.ServeHTTP(w, r)
	}))
	b.t.Cleanup(s.Close)
	return s.URL
}
