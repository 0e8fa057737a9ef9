package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// lines returns the findings as "name=value", and faults as "name✖fault→mend".
func lines(s *Section) []string {
	var out []string
	for _, f := range s.Findings {
		if f.Fault != "" {
			out = append(out, f.Name+"✖"+f.Fault+"→"+f.Mend)
			continue
		}
		out = append(out, f.Name+"="+f.Value)
	}
	return out
}

func want(t *testing.T, s *Section, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(s)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", s.Name, diff)
	}
}

// kube is the fake cluster with rights.
type kube struct {
	*k8stest.Fake
	denied string
	asked  []k8s.Access
	broken error
}

func (k *kube) Allowed(_ context.Context, a k8s.Access) (bool, string, error) {
	k.asked = append(k.asked, a)
	return a.Subresource != k.denied || a.Subresource == "", "RBAC", k.broken
}

func TestCluster(t *testing.T) {
	known := model.Cluster{Context: "kind-dev", Server: "https://127.0.0.1:6443", Namespace: "mine", Product: model.ProductKIND}
	whole := known
	whole.Version, whole.Nodes, whole.Arch, whole.Runtime, whole.Registry = "v1.34.4", 1, "amd64", "containerd", model.Registry{Host: "localhost:5000"}
	k := &kube{Fake: k8stest.New(), denied: "exec"}
	k.SetCluster(whole)
	connect := func() (Kube, error) { return k, nil }
	s, found := Cluster(t.Context(), known, nil, connect)
	want(t, s, "context=kind-dev", "server=https://127.0.0.1:6443", "namespace=mine", "product=kind", "hone may change it=yes, a development cluster",
		"version=v1.34.4", "nodes=1, amd64, containerd", "registry=localhost:5000", "you may deploy=yes", "you may follow pods=yes", "you may read logs=yes",
		"you may exec✖no: running containers cannot be updated in place (RBAC)→request the right to create pods/exec in namespace mine",
		"you may port-forward=yes", "you may add ephemeral containers=yes")
	if found.Version != "v1.34.4" {
		t.Errorf("found %+v", found)
	}
	for _, a := range k.asked {
		if a.Namespace != "mine" {
			t.Errorf("asked for %+v", a)
		}
	}

	k.broken = errors.New("no answer")
	whole.Version, known.Product = "v1.20.0", model.ProductGKE
	k.SetCluster(whole)
	s, _ = Cluster(t.Context(), known, nil, connect)
	text := strings.Join(lines(s), "\n")
	for _, part := range []string{`only with allow_k8s_contexts("kind-dev")`, "version✖v1.20.0 is older", "you may deploy✖no answer→kubectl auth"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}

	k.SetDown(true)
	s, found = Cluster(t.Context(), known, nil, connect)
	if last := s.Findings[len(s.Findings)-1]; last.Name != "connection" || last.Fault == "" || last.Mend == "" || found.Context != "" {
		t.Errorf("a cluster that is down: %+v, found %+v", last, found)
	}
	s, _ = Cluster(t.Context(), model.Cluster{}, problem.New("broken", "mend it"), nil)
	want(t, s, "kubeconfig✖broken→mend it")
	s, _ = Cluster(t.Context(), model.Cluster{}, nil, nil)
	want(t, s, "kubeconfig=none: set KUBECONFIG to use a cluster")
	s, _ = Cluster(t.Context(), known, nil, func() (Kube, error) { return nil, errors.New("no certificate") })
	if last := s.Findings[len(s.Findings)-1]; last.Fault != "no certificate" {
		t.Errorf("%+v", last)
	}
}

// TestBeside checks that the section about a further cluster names it, also if it does not answer.
func TestBeside(t *testing.T) {
	known := model.Cluster{Context: "eu", Namespace: "shop"}
	k := &kube{Fake: k8stest.New()}
	up := known
	up.Version = "v1.34.4"
	k.SetCluster(up)
	connect := func() (Kube, error) { return k, nil }
	s, found := Beside(t.Context(), known, nil, connect)
	if last := s.Findings[len(s.Findings)-1]; s.Name != "Kubernetes eu" || found.Version != "v1.34.4" || last.Value != "yes" {
		t.Errorf("section %+v, found %+v", s, found)
	}
	s.Delivered(model.DeliverRegistry, "it has one")
	if last := s.Findings[len(s.Findings)-1]; last.Value != "local registry (it has one)" {
		t.Errorf("%+v", last)
	}
	k.SetDown(true)
	s, found = Beside(t.Context(), known, nil, connect)
	if last := s.Findings[len(s.Findings)-1]; s.Name != "Kubernetes eu" || last.Fault == "" || found.Context != "" {
		t.Errorf("a cluster that is down: %+v, found %+v", s, found)
	}
}

func TestEngine(t *testing.T) {
	fake := dockertest.New()
	fake.SetInfo(docker.Info{Version: "28.5.2", APIVersion: "1.51", OS: "linux", Arch: "arm64", BuildKit: true, Host: "unix:///docker.sock", Product: "Docker Desktop"})
	connect := func(context.Context) (Pinger, error) { return fake, nil }
	s, info := Engine(t.Context(), connect, func(context.Context) (string, error) { return "2.40.0", nil })
	want(t, s, "address=unix:///docker.sock", "version=28.5.2, API 1.51, linux/arm64", "runs on=Docker Desktop", "builds with=BuildKit", "Compose=2.40.0")
	s.Delivered(model.DeliverPush, "because")
	if info == nil || lines(s)[len(s.Findings)-1] != "images are delivered by=push (because)" {
		t.Errorf("%+v, %v", info, lines(s))
	}
	fake.SetInfo(docker.Info{Version: "20.10", APIVersion: "1.41", OS: "linux", Arch: "amd64", Host: "tcp://engine:2375"})
	s, _ = Engine(t.Context(), connect, func(context.Context) (string, error) { return "", errors.New("no such command") })
	want(t, s, "address=tcp://engine:2375", "version=20.10, API 1.41, linux/amd64", "builds with=the classic builder, which lacks secrets, SSH and cache mounts",
		"Compose=none: docker compose does not run, which only Tiltfiles with docker_compose() need")
	fake.Fail("Ping", fake.Unreachable())
	s, info = Engine(t.Context(), connect, nil)
	if info != nil || s.Findings[0].Fault == "" || s.Findings[0].Mend == "" {
		t.Errorf("an engine that does not answer: %v", lines(s))
	}
	s, _ = Engine(t.Context(), func(context.Context) (Pinger, error) { return nil, errors.New("no such context") }, nil)
	if s.Findings[0].Fault != "no such context" || s.Findings[0].Mend == "" {
		t.Error(lines(s))
	}
}

func TestWatching(t *testing.T) {
	proc := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("max_user_watches", "8192\n")
	write("max_user_instances", "128\n")
	works := func() error { return nil }
	want(t, Watching(works, proc), "watching=works",
		"max_user_watches✖8192 is low: large trees are watched more slowly→sudo sysctl fs.inotify.max_user_watches=524288", "max_user_instances=128")
	want(t, Watching(func() error { return problem.New("too many", "close some") }, t.TempDir()), "watching✖too many→close some")
}

func TestTerminal(t *testing.T) {
	for _, tc := range []struct {
		name string
		t    Screen
		want []string
	}{
		{"none", Screen{}, []string{"screen=no terminal: log lines are printed instead of the screen"}},
		{"usual", Screen{Is: true, Columns: 120, Rows: 40, UTF8: true, Term: "xterm-256color"},
			[]string{"TERM=xterm-256color", "size=120×40", "colours=256", "UTF-8=yes"}},
		{"good", Screen{Is: true, Columns: 60, Rows: 10, UTF8: true, Term: "xterm-kitty", ColorTerm: "truecolor"},
			[]string{"TERM=xterm-kitty", "size=60×10", "colours=16 million", "UTF-8=yes"}},
		{"plain", Screen{Is: true, UTF8: true, Term: "vt100", NoColor: "1"}, []string{"TERM=vt100", "colours=none, because NO_COLOR is set", "UTF-8=yes"}},
		{"small and old", Screen{Is: true, Columns: 59, Rows: 10, Term: "xterm"}, []string{"TERM=xterm",
			"size✖59×10 is too small for more than the log→make the window at least 60×10", "colours=8 or 16",
			"UTF-8✖no: the locale does not support it, so the screen is drawn in ASCII→export LC_ALL=C.UTF-8"}},
		{"dumb", Screen{Is: true, Columns: 80, Rows: 24, UTF8: true, Term: "dumb"}, []string{
			`TERM✖"dumb" means that nothing can be drawn→export TERM=xterm-256color, unless the terminal really is dumb`, "size=80×24", "colours=none", "UTF-8=yes"}},
	} {
		if diff := cmp.Diff(tc.want, lines(Terminal(tc.t))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestSessions(t *testing.T) {
	want(t, Sessions(nil, nil), "running=none")
	want(t, Sessions(nil, problem.New("others can enter", "chmod 700")), "running✖others can enter→chmod 700")
	want(t, Sessions([]api.RunningSession{
		{Name: "shop", PID: 7, Tiltfile: "/shop/Tiltfile", Context: "kind-dev", Resources: &api.ResourceCounts{Total: 3, OK: 1, Failing: 2}},
		{Name: "new", PID: 8, Tiltfile: "/new/Tiltfile", Error: "starting"},
		{Name: "stuck", PID: 9, Tiltfile: "/stuck/Tiltfile", Error: "does not answer"},
	}, nil), "shop=pid 7, /shop/Tiltfile @ kind-dev: 3 resources, 2 failing", "new=pid 8, /new/Tiltfile: starting",
		"stuck✖pid 9, /stuck/Tiltfile: does not answer→end it: kill 9, and if that does not help: kill -9 9; the next hone cleans up after it")
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"a": 1_200_000, "deep/b": 34_000} {
		if err := os.WriteFile(filepath.Join(full, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(full, "a")
	none := filepath.Join(dir, "none", "at", "all")
	s := Folders([]Folder{{"full", full}, {"none", none}, {"file", file}})
	got := lines(s)
	if got[0] != "full="+full+", 1.2 MB in 2 files" || got[1] != "none="+none+", empty" || !strings.HasPrefix(got[2], "file✖"+file+" is not a folder→") {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("the check has created a folder")
	}
	entries, err := os.ReadDir(full)
	if err != nil || len(entries) != 2 {
		t.Errorf("the check has left something: %v, %v", entries, err)
	}
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := Writable(locked); err == nil && os.Geteuid() != 0 {
		t.Error("a folder that cannot be written to is well")
	}
}

func TestReport(t *testing.T) {
	s := section("one")
	s.found("a", "%d", 1)
	s.fault("b", errors.New("broken"), "mend it")
	got := Report("1.2.3", s, section("two"))
	want := api.Examination{Version: "1.2.3", Faults: 1, Sections: []api.FindingSection{
		{Name: "one", Findings: []api.Finding{{Name: "a", Value: "1"}, {Name: "b", Fault: "broken", Mend: "mend it"}}},
		{Name: "two", Findings: []api.Finding{}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
