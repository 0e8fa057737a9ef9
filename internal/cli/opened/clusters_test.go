package opened

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/pkg/model"
)

const threeContexts = `apiVersion: v1
kind: Config
current-context: kind-a
contexts:
- {name: kind-a, context: {cluster: kind-a, user: u, namespace: here}}
- {name: kind-b, context: {cluster: kind-b, user: u}}
- {name: kind-c, context: {cluster: kind-c, user: u, namespace: there}}
clusters:
- {name: kind-a, cluster: {server: "https://127.0.0.1:1"}}
- {name: kind-b, cluster: {server: "https://127.0.0.1:2"}}
- {name: kind-c, cluster: {server: "https://127.0.0.1:3"}}
users:
- {name: u, user: {token: t}}
`

// TestCommandsStayInTheirCluster: the commands of each cluster see its context and namespace, also after the user has chosen another one in
// the middle of the evaluation.
func TestCommandsStayInTheirCluster(t *testing.T) {
	dir := t.TempDir()
	before := xdg.StateHome
	xdg.StateHome = filepath.Join(dir, "state")
	t.Cleanup(func() { xdg.StateHome = before })
	file := filepath.Join(dir, "kubeconfig")
	t.Setenv("KUBECONFIG", file)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, threeContexts)
	write(filepath.Join(dir, "Tiltfile"), `
cluster('b', context='kind-b')
cluster('c', context='kind-c', namespace='team')
local("sed -i s/current-context:.*/current-context:\\ kind-c/ '`+file+`'")
print('own=' + str(local('echo $KUBECONFIG', quiet=True)).strip())
print('b=' + str(local('echo $KUBECONFIG', quiet=True, cluster='b')).strip())
local_resource('c', 'echo $KUBECONFIG', serve_cmd='true', down_cmd='echo $KUBECONFIG', cluster='c')
k8s_custom_deploy('d', 'echo $KUBECONFIG', 'echo $KUBECONFIG', deps=[], cluster='b')
`)
	var said strings.Builder
	g := &command.Global{}
	p, err := Open(g, Choice{Flags: &flags.Project{}, Find: func() (string, error) { return filepath.Join(dir, "Tiltfile"), nil }}, g.Printer(&said, &said))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	res := tiltfile.Load(t.Context(), p.Evaluation())
	if res.Err != nil {
		t.Fatal(problem.Text(res.Err))
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "current-context: kind-c") {
		t.Fatalf("the user has not switched (%v): %s", err, text)
	}
	sees := func(who, kubeconfig, context, namespace string) {
		t.Helper()
		kc, err := k8s.Load(k8s.Config{Kubeconfig: kubeconfig})
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		if c := kc.Cluster(); c.Context != context || c.Namespace != namespace {
			t.Errorf("%s sees %s/%s, want %s/%s", who, c.Context, c.Namespace, context, namespace)
		}
		if _, err := kc.Connect(); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	for line := range strings.Lines(said.String()) {
		if who, kubeconfig, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			want := map[string][2]string{"own": {"kind-a", "here"}, "b": {"kind-b", "default"}}[who]
			sees(who, kubeconfig, want[0], want[1])
		}
	}
	if got := strings.Count(said.String(), "="); got != 2 {
		t.Errorf("%d commands have answered, want 2:\n%s", got, said.String())
	}
	run := func(cmd model.Cmd) string {
		t.Helper()
		c := exec.Command(cmd.Argv[0], cmd.Argv[1:]...)
		c.Env = append(append(os.Environ(), p.Env...), cmd.Env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, m := range res.Manifests {
		if m.Local != nil {
			sees("the update", run(m.Local.Update), "kind-c", "team")
			sees("the down command", run(m.Local.Down), "kind-c", "team")
		}
		if d := m.CustomDeploy(); d != nil {
			sees("the deploy", run(d.Apply), "kind-b", "default")
			sees("its end", run(d.Delete), "kind-b", "default")
		}
	}
	want := []model.ClusterDeclaration{{Name: "b", Context: "kind-b", Namespace: "default"}, {Name: "c", Context: "kind-c", Namespace: "team"}}
	if !slices.Equal(res.Clusters, want) {
		t.Errorf("the clusters are %+v, want %+v", res.Clusters, want)
	}
}

// TestChosenCluster: a cluster is chosen by its name in the Tiltfile or its context, among those that this machine knows of.
func TestChosenCluster(t *testing.T) {
	dir := t.TempDir()
	before := xdg.StateHome
	xdg.StateHome = filepath.Join(dir, "state")
	t.Cleanup(func() { xdg.StateHome = before })
	t.Setenv("KUBECONFIG", filepath.Join(dir, "kubeconfig"))
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(threeContexts), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "Tiltfile")
	for _, on := range []string{"kind-b", "kind-c", "kind-gone"} {
		if _, err := command.Projects().Beside(t.Context(), path, "kind-a", on); err != nil {
			t.Fatal(err)
		}
	}
	last := sessions.Project{Tiltfile: path, Session: "s", UsedAt: time.Now(), Clusters: []sessions.Cluster{{Name: "home", Context: "kind-a"}, {Name: "eu", Context: "kind-b", Namespace: "shop"}}}
	if err := flags.Remembered().Keep(last); err != nil {
		t.Fatal(err)
	}
	g := &command.Global{}
	for _, tc := range []struct{ name, want string }{
		{"", "kind-a here, eu shop, kind-c there"},
		{"eu", "eu shop"},
		{"kind-b", "eu shop"},
		{"kind-c", "kind-c there"},
		{"kind-a", "kind-a here"},
		{"home", "kind-a here"},
		{"kind-gone", `the project is in no cluster "kind-gone", as far as this machine knows`},
		{"ue", `the project is in no cluster "ue", as far as this machine knows`},
	} {
		c := Choice{Flags: &flags.Project{Cluster: tc.name}, Find: func() (string, error) { return path, nil }}
		p, err := Open(g, c, g.Printer(io.Discard, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		parts, err := p.Chosen()
		var got []string
		for _, part := range parts {
			got = append(got, part.Name()+" "+part.Namespace)
		}
		if is, known := problem.Of(err); known {
			got = []string{is.Summary}
		}
		if is := strings.Join(got, ", "); is != tc.want {
			t.Errorf("--cluster %q: %s, want %s", tc.name, is, tc.want)
		}
	}
}
