package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// incompressible returns a text of n bytes that has to be sent as it is, more or less.
func incompressible(seed byte, n int) string {
	raw := make([]byte, base64.RawStdEncoding.DecodedLen(n))
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(raw)
	return base64.RawStdEncoding.EncodeToString(raw)
}

// images counts the builds of a resource that made or deployed an image, the first included.
func images(t *testing.T, s *session, name string) int {
	t.Helper()
	r, err := s.resource(name)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range r.BuildHistory {
		if b.Mode == "image" || b.Mode == "deploy" {
			n++
		}
	}
	return n
}

// inPlace fails the test if the pod was replaced or another image was built.
func inPlace(t *testing.T, s *session, pod api.Pod) {
	t.Helper()
	if now := current(t, s, "web"); now.Name != pod.Name || now.Restarts != 0 {
		t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
	}
	if n := images(t, s, "web"); n != 1 {
		t.Errorf("%d builds of images", n)
	}
}

func waitsForCluster(r api.Resource) bool {
	return r.Waiting != nil && r.Waiting.Reason == "waiting-for-cluster"
}

// TestEditsDuringOutage edits while the API server is away for half a minute, refusing or silent: no image is built, and when it is
// back, the newest content of each file gets into the same pod automatically.
func TestEditsDuringOutage(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*wire){"refuses": (*wire).cut, "is silent": (*wire).stall} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, web)
			w, s, pod := p.overWire()

			began := time.Now()
			begin(w)
			p.write("site/index.html", "two")
			p.write("site/new.html", "new")
			s.becomes("web", "waiting for the cluster", waitsForCluster)
			p.write("site/index.html", "three")
			s.await("half a minute to pass", func() error {
				if d := time.Since(began); d < 30*time.Second {
					return fmt.Errorf("%s", d)
				}
				return nil
			})
			p.write("site/new.html", "newer")
			w.cut() // a server that comes back does not know its connections
			w.join()
			s.serves(p.ports[0], "/", "three")
			s.serves(p.ports[0], "/new.html", "newer")
			s.ready("web")
			inPlace(t, s, pod)
			if r, _ := s.resource("web"); r.BuildHistory[0].Mode != "synclet" || r.BuildHistory[0].Error != "" {
				t.Errorf("newest build: %+v", r.BuildHistory[0])
			}
		})
	}
}

// TestCutInFrame loses every connection during the transfer of a file, twice: the file arrives whole.
func TestCutInFrame(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	w, s, pod := p.overWire()
	for i, limit := range []int{1 << 20, 5 << 20} {
		cut := w.limit(limit)
		text := incompressible(byte(i), 8<<20)
		p.write("site/big", text)
		select {
		case <-cut:
		case <-time.After(patience):
			t.Fatalf("less than %d bytes were sent", limit)
		}
		w.join()
		s.serves(p.ports[0], "/big", text)
	}
	s.ready("web")
	inPlace(t, s, pod)
}

// TestCutInStep loses every connection while a step of an update runs: it starts over, and the one before it is not run again.
func TestCutInStep(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "sync('site', '/www')", "sync('site', '/www'), run('echo one >>/www/steps'), "+
		"run('mkdir /again; again=$?; echo two >>/www/steps; [ $again != 0 ] || exec sleep 1000'), run('echo three >>/www/steps')")
	w, s, pod := p.overWire()
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/steps", "one\ntwo")
	w.cut()
	w.join()
	s.serves(p.ports[0], "/steps", "one\ntwo\ntwo\nthree")
	s.ready("web")
	inPlace(t, s, pod)
}

// TestSavesTravelBehindEachOther holds back the answers of the cluster while files are saved: each file still gets into the
// container, and all saves are one update.
func TestSavesTravelBehindEachOther(t *testing.T) {
	t.Parallel()
	real := k8stest.NewReal(t)
	p := newProjectOn(t, real, web)
	w, s, pod := p.overWire()
	ask := p.shells(real)
	p.write("site/index.html", "two")
	s.builds("web", 2)
	for i, tc := range []struct {
		name string
		end  func()
	}{{"the answers come", w.Flow}, {"the answers are lost", w.Reset}} {
		text := strconv.Itoa(i)
		w.Mute()
		p.write("site/a", text)
		s.says(fmt.Sprintf(`(?s)(File Changed: \[site/a\].*){%d}`, i+1))
		p.write("site/b", text)
		p.write("site/c", text)
		s.await("all in the container", func() error {
			got, err := ask(pod.Name, "cd /www && cat a b c")
			if err == nil && got != text+text+text {
				err = fmt.Errorf("got %q", got)
			}
			return err
		})
		tc.end()
		if b := s.builds("web", 3+2*i); b.Mode != "synclet" || b.Error != "" || strings.Join(b.Files, " ") != "site/a site/b site/c" {
			t.Errorf("%s, the update: %+v", tc.name, b)
		}
		p.write("site/b", text+text)
		s.serves(p.ports[0], "/b", text+text)
		if b := s.builds("web", 4+2*i); strings.Join(b.Files, " ") != "site/b" {
			t.Errorf("%s, the next update: %+v", tc.name, b)
		}
	}
	inPlace(t, s, pod)
}

// TestContainerEndsInFrame deletes the pod during the transfer of a file: the next pod gets the whole file before it
// counts as up to date, without a new image.
func TestContainerEndsInFrame(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	w, s, pod := p.overWire()
	w.slow(50 * time.Millisecond)
	text := incompressible(1, 16<<20)
	p.write("site/big", text)
	s.says(`File Changed: \[site/big\]`)
	zero := int64(0)
	if err := p.dyn.Resource(pods).Namespace(p.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	s.becomes("web", "in another pod", func(r api.Resource) bool {
		return len(r.Pods) == 1 && r.Pods[0].Name != pod.Name && r.Pods[0].Ready
	})
	w.slow(0)
	s.serves(p.ports[0], "/big", text)
	s.ready("web")
	if n := images(t, s, "web"); n != 1 {
		t.Errorf("%d builds of images", n)
	}
	if b := s.builds("web", 3); b.Mode != "synclet" || b.Error != "" {
		t.Errorf("newest build: %+v", b)
	}
}

// TestDiskFull fills a small volume: the error names the file and the fix, no update falls back to an image build, and no partial
// file is left there; once there is space, the next save transfers everything.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.yaml", "        image: web\n", "        image: web\n        volumeMounts: [{name: data, mountPath: /www/data}]\n")
	p.replace("web.yaml", "      containers:\n", "      volumes: [{name: data, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]\n      containers:\n")
	s := p.up()
	s.ready("web")
	pod := current(t, s, "web")
	big := filepath.Join(t.TempDir(), "big") // one that is written in place is noticed twice if that takes long
	if err := os.WriteFile(big, []byte(strings.Repeat("0123456\n", 1<<18)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "site/data"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(big, filepath.Join(p.dir, "site/data/big")); err != nil {
		t.Fatal(err)
	}
	b := s.builds("web", 2)
	if b.Mode != "synclet" || b.FellBack != "" || !strings.Contains(b.Error, "/www/data/big") || !strings.Contains(b.Error, "sizeLimit") {
		t.Errorf("build: %+v", b)
	}
	if r := s.becomes("web", "at rest", func(r api.Resource) bool { return r.CurrentBuild == nil }); r.UpdateStatus != "error" || len(r.BuildHistory) != 2 {
		t.Errorf("%s after %d builds", r.UpdateStatus, len(r.BuildHistory))
	}
	p.write("site/data/small", "fits")
	s.builds("web", 3) // it does not fit yet, together with the other
	if err := os.Remove(filepath.Join(p.dir, "site/data/big")); err != nil {
		t.Fatal(err)
	}
	s.serves(p.ports[0], "/data/small", "fits")
	s.ready("web")
	p.write("site/data/half", strings.Repeat("0123456\n", 1<<16)) // there would be no space if anything were left over
	s.serves(p.ports[0], "/data/half", strings.TrimSpace(strings.Repeat("0123456\n", 1<<16)))
	inPlace(t, s, pod)
}

// TestOutOfMemory puts more into memory than the container may have: hone reports the reason and the mend, and builds no
// image; without the file everything is well again.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.yaml", "        image: web\n",
		"        image: web\n        resources: {limits: {memory: 24Mi}}\n        volumeMounts: [{name: data, mountPath: /www/data}]\n")
	p.replace("web.yaml", "      containers:\n", "      volumes: [{name: data, emptyDir: {medium: Memory}}]\n      containers:\n")
	s := p.up()
	s.ready("web")
	p.write("site/data/big", strings.Repeat("0123456\n", 8<<20))
	s.says(`web │ Build Failed: .*(OOMKilled|was killed)`)
	s.says(`resources\.limits\.memory`)
	if n := images(t, s, "web"); n != 1 {
		t.Errorf("%d builds of images", n)
	}
	if err := os.Remove(filepath.Join(p.dir, "site/data/big")); err != nil {
		t.Fatal(err)
	}
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.ready("web")
}

// TestReadOnlyFiles checks that files that cannot be written in place go into a new image, with the reason and the mend.
func TestReadOnlyFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ context, says string }{
		"read-only":     {"{readOnlyRootFilesystem: true}", `cannot write to the container's file system`},
		"no permission": {"{runAsUser: 12345}", `user \(id 12345\) may not change its files: /www/index.html`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, web)
			p.replace("web.Dockerfile", `"-v", "-h"`, `"-v", "-p", "8080", "-h"`)
			p.replace("web.yaml", "        image: web\n", "        image: web\n        securityContext: "+tt.context+"\n")
			p.replace("web.yaml", "containerPort: 80", "containerPort: 8080")
			p.replace("web.yaml", "path: /, port: 80", "path: /, port: 8080")
			p.replace("Tiltfile", "$PORT0:80", "$PORT0:8080")
			s := p.up()
			s.ready("web")
			p.write("site/index.html", "two")
			s.serves(p.ports[0], "/", "two")
			s.says(tt.says)
			if b := s.builds("web", 2); b.Mode != "image" || b.Error != "" || b.FellBack == "" {
				t.Errorf("build: %+v", b)
			}
		})
	}
}

// TestFailedStepOnce fails in a step of a Dockerfile: the output of the step is printed once.
func TestFailedStepOnce(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.Dockerfile", "COPY site /www", "RUN for i in 1 2; do echo compile_$i; done; exit 3")
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 1 || !strings.Contains(out, "web.Dockerfile:2") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, line := range []string{"compile_1", "compile_2"} {
		if n := strings.Count(out, line); n != 1 {
			t.Errorf("%q is said %d times:\n%s", line, n, out)
		}
	}
}

var (
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	roles    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	bindings = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// TestExecForbidden uses an account that may do everything in the namespace except run commands in pods: that is
// reported once, updates go by image, and in place as soon as the right is granted.
func TestExecForbidden(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "docker_build(", "default_registry('localhost:5000')\ndocker_build(")
	rules := []any{
		map[string]any{"apiGroups": []any{"apps"}, "resources": []any{"*"}, "verbs": []any{"*"}},
		map[string]any{"apiGroups": []any{""}, "verbs": []any{"*"},
			"resources": []any{"pods", "pods/log", "pods/portforward", "services", "events", "endpoints", "configmaps"}},
	}
	p.env = append(p.env, "KUBECONFIG="+p.actAs("developer", rules))
	s := p.up()
	s.ready("web")
	s.says(`Updating web in place takes longer: not allowed to run commands in the pod`)
	s.says(`"pods/exec"`)
	for i, text := range []string{"two", "three"} {
		p.write("site/index.html", text)
		s.serves(p.ports[0], "/", text)
		if b := s.builds("web", i+2); b.Mode != "image" || b.Error != "" || !strings.Contains(b.FellBack, "not allowed") {
			t.Errorf("build: %+v", b)
		}
		s.ready("web")
	}
	if n := strings.Count(s.out.String(), "Updating web in place takes longer"); n != 1 {
		t.Errorf("reported %d times", n)
	}
	rules[1].(map[string]any)["resources"] = append(rules[1].(map[string]any)["resources"].([]any), "pods/exec")
	p.apply(roles, object("rbac.authorization.k8s.io/v1", "Role", "developer", map[string]any{"rules": rules}))
	s.says(`Ready to update web in place`)
	p.write("site/index.html", "four")
	s.serves(p.ports[0], "/", "four")
	if b := s.builds("web", 4); b.Mode != "synclet" || b.Error != "" {
		t.Errorf("build: %+v", b)
	}
}

// TestWatchForbidden uses an account that may deploy but not read pods, nor any namespace: the resource reports once
// which right is missing and how to get it, and continues when the right is granted. Its objects are found by their
// records before and after.
func TestWatchForbidden(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "k8s_yaml('app.yaml')", "k8s_yaml(['app.yaml', 'conf.yaml', 'later.yaml'])", 1)+configs("conf", "later"))
	rules := []any{
		map[string]any{"apiGroups": []any{"apps"}, "resources": []any{"*"}, "verbs": []any{"*"}},
		map[string]any{"apiGroups": []any{""}, "verbs": []any{"*"}, "resources": []any{"services", "events", "configmaps"}},
	}
	p.env = append(p.env, "KUBECONFIG="+p.actAs("deployer", rules))
	s := p.up()
	p.present([]string{"deployment/app", "configmap/conf"}, nil)
	s.says(`cannot watch pods in namespace "` + p.namespace + `"`)
	s.says(`kubectl create role watch-pods -n ` + p.namespace + ` --verb=get,list,watch --resource=pods`)
	s.says(`kubectl create rolebinding watch-pods -n ` + p.namespace + ` --role=watch-pods --user=system:serviceaccount:` + p.namespace + `:deployer`)
	r := s.becomes("app", "one that cannot be watched", func(r api.Resource) bool { return r.RuntimeStatus == "error" })
	if r.UpdateStatus != "ok" || !strings.Contains(r.RuntimeError, "cannot watch pods") || !strings.Contains(r.RuntimeError, "kubectl create role watch-pods") {
		t.Errorf("it is %+v", r)
	}
	rules = append(rules, map[string]any{"apiGroups": []any{""}, "verbs": []any{"*"}, "resources": []any{"pods"}})
	p.apply(roles, object("rbac.authorization.k8s.io/v1", "Role", "deployer", map[string]any{"rules": rules}))
	s.ready("app")
	if code := s.stop(); code != 0 && code != 130 {
		t.Errorf("exit code %d", code)
	}
	if text := s.out.String(); strings.Contains(text, "identify the cluster") || strings.Count(text, "kubectl create rolebinding watch-pods") > 2 {
		t.Errorf("it complains about what it can do without, or again and again:\n%s", text)
	}

	// An account that may read namespaces continues with the same records.
	p.env = p.env[:len(p.env)-1]
	p.write("Tiltfile", "k8s_yaml(['app.yaml', 'conf.yaml'])\n")
	out, code := p.run("down", "--namespace", p.namespace)
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, o := range []string{"deployment/app", "configmap/conf", "configmap/later"} {
		if p.live(o) != nil {
			t.Errorf("%s is still there\n%s", o, out)
		}
	}
}

func object(apiVersion, kind, name string, rest map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: rest}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(name)
	return u
}

// apply creates or changes an object in the project's namespace.
func (p *project) apply(kind schema.GroupVersionResource, u *unstructured.Unstructured) {
	p.t.Helper()
	_, err := p.dyn.Resource(kind).Namespace(p.namespace).Apply(p.t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "test", Force: true})
	if err != nil {
		p.t.Fatal(err)
	}
}

// actAs makes a service account with the given rights in the namespace, and returns a kubeconfig for it.
func (p *project) actAs(name string, rules []any) (kubeconfig string) {
	p.t.Helper()
	p.apply(accounts, object("v1", "ServiceAccount", name, map[string]any{}))
	p.apply(roles, object("rbac.authorization.k8s.io/v1", "Role", name, map[string]any{"rules": rules}))
	p.apply(bindings, object("rbac.authorization.k8s.io/v1", "RoleBinding", name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": p.namespace}},
	}))
	request := object("authentication.k8s.io/v1", "TokenRequest", name, map[string]any{"spec": map[string]any{}})
	token, err := p.dyn.Resource(accounts).Namespace(p.namespace).Create(p.t.Context(), request, metav1.CreateOptions{}, "token")
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		p.t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(token.Object, "status", "token")
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: text}
	}
	kubeconfig = filepath.Join(p.t.TempDir(), "kubeconfig")
	k8stest.Eventually(p.t, "a kubeconfig", func() error { return clientcmd.WriteToFile(*config, kubeconfig) })
	return kubeconfig
}
