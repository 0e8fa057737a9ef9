package k8s

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: shop
contexts:
- {name: shop, context: {cluster: kind-shop, user: u, namespace: web}}
- {name: bare, context: {cluster: other, user: u}}
clusters:
- {name: kind-shop, cluster: {server: "https://me:secret@127.0.0.1:6443"}}
- {name: other, cluster: {server: "https://other"}}
users:
- {name: u, user: {}}
`

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o400); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o400); err != nil {
		t.Fatal(err)
	}
	shop := model.Cluster{Context: "shop", Name: "kind-shop", Server: "https://127.0.0.1:6443", Namespace: "web", Product: model.ProductKIND}
	other := shop
	other.Namespace = "mine"
	bare := model.Cluster{Context: "bare", Name: "other", Server: "https://other", Namespace: "default", Product: model.ProductUnknown}
	tests := []struct {
		name    string
		env     string
		cfg     Config
		want    model.Cluster
		problem string
	}{
		{"from the environment", path, Config{}, shop, ""},
		{"explicit", "", Config{Kubeconfig: path}, shop, ""},
		{"namespace", path, Config{Namespace: "mine"}, other, ""},
		{"other context", path, Config{Context: "bare"}, bare, ""},
		{"nothing", filepath.Join(dir, "none"), Config{}, model.Cluster{}, ""},
		{"unknown context", path, Config{Context: "shopp"}, model.Cluster{}, "shop\n  bare"},
		{"unknown context of nothing", filepath.Join(dir, "none"), Config{Context: "x"}, model.Cluster{}, "KUBECONFIG"},
		{"explicit file missing", path, Config{Kubeconfig: filepath.Join(dir, "none")}, model.Cluster{}, "cannot read"},
		{"unreadable", bad, Config{}, model.Cluster{}, "cannot read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.env)
			kc, err := Load(tt.cfg)
			if tt.problem != "" {
				if _, ok := problem.Of(err); !ok || !strings.Contains(problem.Text(err), tt.problem) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, kc.Cluster()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			c, err := kc.Connect()
			if tt.want.Context == "" {
				if _, ok := problem.Of(err); !ok {
					t.Errorf("Connect without a context: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if rc := c.RESTConfig(); rc.QPS != -1 || rc.UserAgent != "hone" {
				t.Errorf("QPS %v, user agent %q", rc.QPS, rc.UserAgent)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if _, err := c.DialPod(t.Context(), "", "p", 1); !errors.Is(err, errClientClosed) {
				t.Errorf("DialPod after Close: %v", err)
			}
		})
	}
}

// TestIn: another context of the same kubeconfig stands beside the first one, and neither follows the user to another.
func TestIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", file)
	chosenByUser(t, file, "kind-a")
	own, err := Load(Config{Namespace: "mine", UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	before := own.Cluster()
	for _, tt := range []struct{ context, namespace, server, want string }{
		{"kind-a", "", "https://127.0.0.1:1", "here"},
		{"kind-a", "there", "https://127.0.0.1:1", "there"},
		{"kind-b", "", "https://127.0.0.1:2", "default"},
		{"kind-b", "there", "https://127.0.0.1:2", "there"},
	} {
		in, err := own.In(tt.context, tt.namespace)
		if err != nil {
			t.Fatal(err)
		}
		if c := in.Cluster(); c.Context != tt.context || c.Server != tt.server || c.Namespace != tt.want {
			t.Errorf("In(%q, %q) is %+v", tt.context, tt.namespace, c)
		}
		c, err := in.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if rc := c.RESTConfig(); rc.Host != tt.server || rc.UserAgent != "test" {
			t.Errorf("In(%q, %q) leads to %s as %q", tt.context, tt.namespace, rc.Host, rc.UserAgent)
		}
		again, err := c.login.reread()
		if err != nil || again.cluster.Context != tt.context || again.cluster.Namespace != tt.want {
			t.Errorf("In(%q, %q), read again, is %+v (%v)", tt.context, tt.namespace, again, err)
		}
	}
	if diff := cmp.Diff(before, own.Cluster()); diff != "" {
		t.Errorf("the kubeconfig itself has changed: -before +after\n%s", diff)
	}
	if _, err := own.In("kindb", ""); err == nil || !strings.Contains(problem.Text(err), "kind-b\n  kind-a") {
		t.Errorf("an unknown context: %v", err)
	}
	none, err := Load(Config{Kubeconfig: strings.Repeat(filepath.Join(t.TempDir(), "none")+string(os.PathListSeparator), 2)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.In("kind-a", ""); err == nil || !strings.Contains(problem.Text(err), "KUBECONFIG") {
		t.Errorf("a context of no kubeconfig: %v", err)
	}
}
