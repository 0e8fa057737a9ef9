package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
	"github.com/hone-dev/hone/internal/test/harness"
)

// real is a namespace of the test cluster.
type real struct {
	*harness.Cluster
	namespace string
}

func newReal(t *testing.T) real {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	c, err := harness.Connect("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ns, remove, err := c.Namespace(t.Context(), "hone-test-ledger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return real{c, ns}
}

func (r real) open(t *testing.T) *Storage {
	t.Helper()
	s, err := Open("kube://"+r.namespace, r.Client, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (r real) kubectl(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "kubectl", append([]string{"-n", r.namespace}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "KUBECTL_APPLYSET=true", "KUBECACHEDIR="+filepath.Join(t.TempDir(), "cache"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestReal(t *testing.T) {
	r := newReal(t)
	t.Run("conformance", func(t *testing.T) {
		storagetest.Conformance(t, func(t *testing.T) storage.Storage { return r.open(t) })
	})
	for name, test := range map[string]func(*testing.T){
		"400 objects": r.manyObjects, "lost answers": r.lostAnswers, "broken connections": r.brokenConnections, "the role": r.role, "kubectl": r.applySet,
	} {
		t.Run(name, test)
	}
}

// manyObjects saves 400 objects of 3 MB together (V20), and looks at the sizes of the Secrets.
func (r real) manyObjects(t *testing.T) {
	objects := make([]string, 400)
	for i := range objects {
		objects[i] = fmt.Sprintf("object %d: %s", i, strings.Repeat(fmt.Sprintf("%04d", i), 3<<20/400/4))
	}
	data, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 3<<20 {
		t.Fatalf("%d bytes", len(data))
	}
	a, b := r.open(t), r.open(t)
	v := save(t, a, "many", data, storage.None)
	doc, err := b.Load(t.Context(), "many")
	if err != nil || string(doc.Data) != string(data) || doc.Version != v {
		t.Fatalf("%d bytes of %q, %v", len(doc.Data), doc.Version, err)
	}
	list, err := r.Client.Dynamic().Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(r.namespace).
		List(t.Context(), metav1.ListOptions{FieldSelector: "type=" + Type})
	if err != nil {
		t.Fatal(err)
	}
	large := 0
	for i := range list.Items {
		u := &list.Items[i]
		if u.GetLabels()[labelOf] == secretName("many") {
			large++
		}
		if size := sizeOf(t, u); size >= 1<<20 {
			t.Errorf("%s has %d bytes", u.GetName(), size)
		}
	}
	if large != 4 {
		t.Errorf("%d shards", large)
	}
}

// lostAnswers loses every second answer to two writers.
func (r real) lostAnswers(t *testing.T) {
	a, b := r.open(t), r.open(t)
	for _, s := range []*Storage{a, b} {
		s.secrets = lossy{s.secrets, false, new(atomic.Int64)}
	}
	lossyWriters(t, a, b, 30)
}

// minimalRole is the Role in the documentation.
const minimalRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: hone-ledger}
rules:
- apiGroups: [""]
  resources: [secrets]
  verbs: [get, list, create, update, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hone-ledger}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: hone-ledger}
subjects: [{kind: ServiceAccount, name: default}]
`

// client returns the Secrets through a client of its own, whose configuration adapt changes.
func (r real) client(t *testing.T, adapt func(*rest.Config)) k8s.Secrets {
	t.Helper()
	config := r.Client.RESTConfig()
	adapt(config)
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	metadatas, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	return client{objects.Resource(kind).Namespace(r.namespace), metadatas.Resource(kind).Namespace(r.namespace)}
}

// client is k8s.Secrets.
type client struct {
	dynamic.ResourceInterface
	metadata metadata.ResourceInterface
}

// ListMetadata implements k8s.Secrets.
func (c client) ListMetadata(ctx context.Context, opts metav1.ListOptions) ([]metav1.PartialObjectMetadata, error) {
	list, err := c.metadata.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// brokenConnections lets writers share a history while the server's answers to some writes are lost, or it cannot serve them.
func (r real) brokenConnections(t *testing.T) {
	writers := make([]storage.Storage, 2)
	writes := new(atomic.Int64)
	for i := range writers {
		s := r.open(t)
		s.secrets = r.client(t, func(config *rest.Config) {
			config.WrapTransport = nil
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { return brokenTransport{next, writes} })
			config.Wrap(k8s.PatientTransport)
		})
		writers[i] = s
	}
	storagetest.Revisions(t, r.open(t), 25, writers...)
}

// brokenTransport does every request, and loses every eighth answer to a write or replaces it with the answer of a busy server.
type brokenTransport struct {
	next   http.RoundTripper
	writes *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (b brokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil || req.Method == http.MethodGet {
		return resp, err
	}
	switch b.writes.Add(1) % 16 {
	case 5:
		resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	case 13:
		resp.StatusCode = http.StatusServiceUnavailable
	}
	return resp, nil
}

// role uses the storage as a user who has no permissions, and then those of minimalRole.
func (r real) role(t *testing.T) {
	s := r.open(t)
	s.secrets = r.client(t, func(config *rest.Config) {
		config.Impersonate.UserName = "system:serviceaccount:" + r.namespace + ":default"
	})
	_, err := s.Load(t.Context(), "role")
	wantProblem(t, err, "does not let you keep documents", "--verb=get,list,create,update,delete")
	if out, err := r.kubectl(t, minimalRole, "apply", "-f", "-"); err != nil {
		t.Fatal(out, err)
	}
	doc, err := s.Load(t.Context(), "role")
	for ; err != nil && !errors.Is(err, storage.ErrMissing) && t.Context().Err() == nil; doc, err = s.Load(t.Context(), "role") {
		continue // the API server takes a moment to see the role
	}
	v := save(t, s, "role", large("one", 2), doc.Version)
	v = save(t, s, "role", []byte("two"), v)
	if err := s.SetMembers(t.Context(), "role", []string{"ConfigMap"}, nil); err != nil {
		t.Error(err)
	}
	if names, err := s.List(t.Context(), "role"); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	if err := s.Delete(t.Context(), "role", v); err != nil {
		t.Error(err)
	}
}

// applySet shows a parent to kubectl. It leaves the sets of other tools alone; a parent of its own with the same ID it accepts.
func (r real) applySet(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("needs kubectl")
	}
	s := r.open(t)
	save(t, s, "set", []byte("one"), storage.None)
	if err := s.SetMembers(t.Context(), "set", []string{"ConfigMap"}, nil); err != nil {
		t.Fatal(err)
	}
	member := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	member.SetName("member")
	text, err := yaml.Marshal(member.Object)
	if err != nil {
		t.Fatal(err)
	}
	apply := []string{"apply", "--prune", "--applyset=secret/" + secretName("set"), "-f", "-"}
	if out, err := r.kubectl(t, string(text), apply...); err == nil || !strings.Contains(out, "hone") {
		t.Errorf("kubectl prunes the ApplySet of another tool: %s", out)
	}
	if out, err := r.kubectl(t, "", "get", "secrets", "-l", labelApplySet, "-o", "name"); err != nil || out != "secret/"+secretName("set")+"\n" {
		t.Errorf("secrets with an ApplySet: %s, %v", out, err)
	}
	if out, err := r.kubectl(t, "", "annotate", "--overwrite", "secret/"+secretName("set"), annotationTooling+"=kubectl/v1.30"); err != nil {
		t.Fatal(out, err)
	}
	if out, err := r.kubectl(t, string(text), apply...); err != nil {
		t.Errorf("kubectl computes another ID: %s", out)
	}
	out, err := r.kubectl(t, "", "get", "configmaps", "-l", storage.PartOf+"="+s.ApplySet("set"), "-o", "name")
	if err != nil || out != "configmap/member\n" {
		t.Errorf("members of the set: %s, %v", out, err)
	}
}
