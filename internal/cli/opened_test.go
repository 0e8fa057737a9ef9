package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/cli/command"
)

// outcome is an exit code, and a part of the output.
type outcome struct {
	code int
	says string
}

// failing is a Tiltfile that fails, two calls deep.
const failing = `
def outer():
    inner()

def inner():
    fail("no luck")

outer()
`

// openings are projects, and how every command that evaluates a Tiltfile ends there. Where a command has no outcome of its own, it ends
// as the others do.
var openings = []struct {
	name, tiltfile, flags string
	// cluster is set if the kubeconfig has a cluster, which does not answer, and is not one for development.
	cluster bool
	all     outcome
	own     map[string]outcome
}{
	{name: "no Tiltfile", cluster: true, all: outcome{1, "no Tiltfile found at $ROOT/Tiltfile"},
		own: map[string]outcome{"down": {1, "does not answer"}}},
	{name: "a folder", flags: "-f .", cluster: true, all: outcome{1, "$ROOT is a folder"}},
	{name: "an error", tiltfile: failing, all: outcome{5, "$ROOT/Tiltfile:6: no luck"},
		own: map[string]outcome{"down": {1, "$ROOT/Tiltfile:6: no luck"}}},
	{name: "an error, with the calls that led to it", tiltfile: failing, flags: "--debug", all: outcome{5, "Tiltfile:3:10: in outer"},
		own: map[string]outcome{"down": {1, "Tiltfile:3:10: in outer"}}},
	{name: "an error, with more detail", tiltfile: failing, flags: "--verbose", all: outcome{5, "Tiltfile:3:10: in outer"},
		own: map[string]outcome{"down": {1, "Tiltfile:3:10: in outer"}}},
	{name: "the address of the API", tiltfile: `fail(os.getenv("TILT_HOST") + " " + str(local("echo $TILT_HOST:$TILT_PORT", quiet=True)))`,
		all: outcome{5, "localhost localhost:10350"}, own: map[string]outcome{"down": {1, "localhost localhost:10350"}, "ci": {5, "localhost localhost:"}, "deploy": {5, "localhost localhost:"}}},
	{name: "a cluster that the Tiltfile does not allow", cluster: true, all: outcome{5, `kube context "home" may be a production cluster`},
		tiltfile: `k8s_yaml(blob("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"))`},
	{name: "a command in such a cluster", cluster: true, tiltfile: `local("true")`, all: outcome{5, `refused to run a command: kube context "home" may be`}},
	{name: "nothing for the cluster, which does not answer", cluster: true, tiltfile: `local_resource("a", "true")`, all: outcome{0, ""},
		own: map[string]outcome{"preview": {0, "leaves out objects that are no longer declared"}, "gc --yes": {1, "does not answer"}, "down": {1, "does not answer"}}},
}

// openers are the commands that evaluate a Tiltfile, apart from up, which does not end by itself.
var openers = []string{"ci --port none", "deploy --yes --port none", "preview", "gc --yes", "down", "docker-prune", "tiltfile", "graph resources"}

// TestOpen runs the commands in the same projects. A cluster is not asked before the Tiltfile has allowed it.
func TestOpen(t *testing.T) {
	for _, o := range openings {
		t.Run(o.name, func(t *testing.T) {
			for _, c := range openers {
				t.Run(c, func(t *testing.T) {
					root := newFolder(t)
					xdg.Reload()
					if o.tiltfile != "" {
						writeFile(t, filepath.Join(root, "Tiltfile"), o.tiltfile)
					}
					var asked atomic.Int32
					if o.cluster {
						cluster := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
						defer cluster.Close()
						if o.all.code != command.ExitTiltfile {
							cluster.Close()
						}
						writeFile(t, filepath.Join(root, "kubeconfig"), strings.ReplaceAll(contexts, "http://127.0.0.1:1", cluster.URL))
					}
					want, own := o.own[c]
					if name, _, _ := strings.Cut(c, " "); !own {
						want, own = o.own[name]
					}
					if !own {
						want = o.all
					}
					if c == "docker-prune" && want.code == 0 {
						t.Skip("it needs an engine")
					}
					var out bytes.Buffer
					code := Main(strings.Fields(c+" "+o.flags), &out, &out)
					if says := strings.ReplaceAll(want.says, "$ROOT", root); code != want.code || !strings.Contains(out.String(), says) {
						t.Errorf("exit code %d, want %d and %q:\n%s", code, want.code, says, &out)
					}
					if n := asked.Load(); n > 0 && !strings.HasPrefix(c, "ci") { // a session shows its cluster in any case
						t.Errorf("the cluster was asked %d times", n)
					}
				})
			}
		})
	}
}

// TestOpenInterrupted interrupts the commands before they have evaluated the Tiltfile. None goes on without it.
func TestOpenInterrupted(t *testing.T) {
	for _, c := range openers {
		t.Run(c, func(t *testing.T) {
			root := newFolder(t)
			xdg.Reload()
			writeFile(t, filepath.Join(root, "Tiltfile"), `local_resource("a", "true")`)
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			var out bytes.Buffer
			g := &command.Global{Stdout: &out, Stderr: &out, Terminal: command.NewTerminalGuard()}
			hone := newRoot(g)
			hone.SetArgs(strings.Fields(c))
			err := execute(ctx, hone)
			if code := command.ExitCode(ctx, err); code != command.ExitInterrupted || strings.Contains(out.String(), "records") {
				t.Errorf("exit code %d, error %v:\n%s", code, err, &out)
			}
		})
	}
}
