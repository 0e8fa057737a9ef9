package k8s

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: kind-a
contexts:
- {name: kind-a, context: {cluster: a, user: u, namespace: here}}
- {name: kind-b, context: {cluster: b, user: u}}
clusters:
- {name: a, cluster: {server: "https://127.0.0.1:1"}}
- {name: b, cluster: {server: "https://127.0.0.1:2"}}
users:
- {name: u, user: {token: very-secret}}
`

// chosenByUser makes a context the current one, as kubectl config use-context does.
func chosenByUser(t *testing.T, file, context string) {
	t.Helper()
	text := strings.Replace(twoContexts, "current-context: kind-a", "current-context: "+context, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOverlay: commands see the chosen context and namespace, and the user's credentials, whatever the user chooses afterwards.
func TestOverlay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", file)
	for _, tc := range []struct{ context, namespace, wantContext, wantNamespace string }{
		{"", "", "kind-a", "here"},
		{"kind-a", "", "kind-a", "here"},
		{"kind-b", "", "kind-b", "default"},
		{"", "there", "kind-a", "there"},
		{"kind-b", "there", "kind-b", "there"},
	} {
		t.Run(tc.context+"/"+tc.namespace, func(t *testing.T) {
			dir := t.TempDir()
			chosenByUser(t, file, "kind-a")
			k, err := Load(Config{Context: tc.context, Namespace: tc.namespace})
			if err != nil {
				t.Fatal(err)
			}
			env, err := k.Overlay(dir, "/project")
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(strings.Split(env, string(os.PathListSeparator))[0])
			if err != nil || strings.Contains(string(text), "very-secret") {
				t.Errorf("the overlay (%v):\n%s", err, text)
			}
			if again, err := k.Overlay(dir, "/project"); err != nil || again != env {
				t.Errorf("the second time: %q, %v", again, err)
			}
			if files, _ := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("%d files, want one that is shared", len(files))
			}
			if other, err := k.Overlay(dir, "/other"); err != nil || other == env {
				t.Errorf("another project shares it: %q, %v", other, err)
			}
			chosenByUser(t, file, "kind-b")
			t.Setenv("KUBECONFIG", env)
			seen, err := Load(Config{}) // the view of a command that hone starts
			if err != nil {
				t.Fatal(err)
			}
			if c := seen.Cluster(); c.Context != tc.wantContext || c.Namespace != tc.wantNamespace {
				t.Errorf("commands see %s/%s, want %s/%s", c.Context, c.Namespace, tc.wantContext, tc.wantNamespace)
			}
			if rc, err := seen.Connect(); err != nil || rc.RESTConfig().BearerToken != "very-secret" {
				t.Errorf("commands cannot use the credentials: %v", err)
			}
		})
	}
}
