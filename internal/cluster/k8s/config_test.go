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
		{"unknown context", path, Config{Context: "shopp"}, model.Cluster{}, "bare\n  shop"},
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
