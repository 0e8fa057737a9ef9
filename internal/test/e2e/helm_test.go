package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// charts deploys one chart from each kind of repository. The chart contains a chart that it depends on.
const charts = `
-- Tiltfile --
load('ext://helm_remote', 'helm_remote')
os.putenv('TILT_HELM_REMOTE_CACHE_DIR', 'kept')
url = '$URL'
helm_remote('hone-e2e-shop', repo_url=url + '/open', release_name='http', namespace='$NS', set=['greeting=hello'])
helm_remote('hone-e2e-shop', repo_url=url + '/private', release_name='private', namespace='$NS', username='me', password=str(read_file('password')).strip())
helm_remote('hone-e2e-shop', repo_url='oci://localhost:5000/charts', version='1.2.3', release_name='oci', namespace='$NS', values='values.yaml')
-- password --
let-me-in
-- values.yaml --
greeting: good day
-- chart/Chart.yaml --
apiVersion: v2
name: hone-e2e-shop
version: 1.2.3
-- chart/values.yaml --
greeting: none
-- chart/templates/greeting.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
data: {greeting: "{{ .Values.greeting }}"}
-- chart/charts/part/Chart.yaml --
apiVersion: v2
name: part
version: 1.0.0
-- chart/charts/part/templates/part.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-part", namespace: "{{ .Release.Namespace }}"}
`

// helmFolder returns a folder with Helm in it.
func helmFolder(t *testing.T) string {
	t.Helper()
	c := exec.Command("../../../scripts/helm/build")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("build Helm: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestHelmRemote deploys charts of an HTTP repository, one that asks for a password, and an OCI registry with a real
// Helm: each is fetched once, whole, even if a broken fetch has left something in its place, and a failing fetch reports
// why.
func TestHelmRemote(t *testing.T) {
	t.Parallel()
	p := newProject(t, charts)
	folder := helmFolder(t)
	p.env = append(p.env, "PATH="+folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, kind := range []string{"CONFIG", "CACHE", "DATA"} {
		p.env = append(p.env, "HELM_"+kind+"_HOME="+t.TempDir())
	}
	repository := t.TempDir()
	helm := func(args ...string) {
		t.Helper()
		c := exec.Command(filepath.Join(folder, "helm"), args...)
		c.Env = append(os.Environ(), p.env...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	helm("package", filepath.Join(p.dir, "chart"), "--destination", repository)
	helm("repo", "index", repository)
	helm("push", filepath.Join(repository, "hone-e2e-shop-1.2.3.tgz"), "oci://localhost:5000/charts")

	var archives atomic.Int32
	files := http.FileServer(http.Dir(repository))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repo, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		user, password, _ := r.BasicAuth()
		if repo == "private" && (user != "me" || password != "let-me-in") {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(path, ".tgz") {
			archives.Add(1)
		}
		r.URL.Path = "/" + path
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.replace("Tiltfile", "$URL", server.URL)
	slug := strings.NewReplacer(":", "-", "/", "-").Replace(server.URL)
	p.write("kept/"+slug+"-open/newest/hone-e2e-shop/hone-e2e-shop/half", "what a fetch that broke off has left")

	for range 2 {
		if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		for name, want := range map[string]string{"http": "hello", "private": "none", "oci": "good day"} {
			got, err := p.get("", "v1", "configmaps", name)
			if err != nil {
				t.Fatal(err)
			}
			if data := got.Object["data"].(map[string]any); data["greeting"] != want {
				t.Errorf("%s: %v, not %q", name, data, want)
			}
			if _, err := p.get("", "v1", "configmaps", name+"-part"); err != nil {
				t.Error(err)
			}
		}
	}
	if n := archives.Load(); n != 2 {
		t.Errorf("%d archives were fetched, not one from each of the two HTTP repositories", n)
	}
	kept, err := filepath.Glob(filepath.Join(p.dir, "kept", "*", "*", "*"))
	if err != nil || len(kept) != 3 {
		t.Errorf("kept are %q (%v), not one folder for each repository", kept, err)
	}
	for _, dir := range kept {
		if _, err := os.Stat(filepath.Join(dir, "templates", "greeting.yaml")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "kept", slug+"-open/newest/hone-e2e-shop/hone-e2e-shop")); err == nil {
		t.Error("the remainder is still there")
	}

	p.replace("Tiltfile", "version='1.2.3'", "version='9.9.9'")
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 5 || !strings.Contains(out, "9.9.9: not found") {
		t.Errorf("exit code %d, want 5 and the reason:\n%s", code, out)
	}
	p.replace("Tiltfile", "version='9.9.9'", "version='1.2.3'")
	p.write("password", "let-me-out")
	p.replace("Tiltfile", "read_file('password')).strip()", "read_file('password')).strip(), version='1.2.3'")
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 5 || !strings.Contains(out, "401 Unauthorized") || strings.Contains(out, "let-me-out") {
		t.Errorf("exit code %d, want 5, the reason and no password:\n%s", code, out)
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "kept", "*", "*", ".pull*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
