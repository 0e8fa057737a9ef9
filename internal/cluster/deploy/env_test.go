package deploy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// cluster is the API server of a scenario: the fake, or a real one.
type cluster struct {
	dyn       dynamic.Interface
	names     metadata.Interface
	lists     *k8s.Lists // of a real one
	mapper    meta.RESTMapper
	namespace string
}

// fakeCluster returns a cluster in memory that has one namespace.
func fakeCluster(testing.TB) cluster {
	server := deploytest.New()
	return cluster{dyn: server, names: server.Metadata(), mapper: deploytest.Mapper(), namespace: deploytest.Namespace}
}

// realConfig returns how to reach the test cluster.
func realConfig(t testing.TB) *rest.Config {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = -1
	cfg.DisableCompression = true
	cfg.Wrap(k8s.CountingTransport)
	cfg.Wrap(k8s.PatientTransport)
	cfg.WarningHandlerWithContext = Warnings{}
	return cfg
}

// realCluster connects to the test cluster and makes a namespace that is removed when the test ends.
func realCluster(t testing.TB) cluster {
	t.Helper()
	cfg := realConfig(t)
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	names, err := metadata.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := k8s.NewLists(cfg, hc)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{dyn: dyn, names: names, lists: &lists, namespace: "hone-test-" + randomText(),
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cs.Discovery()))}
	namespaces := dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(c.namespace)
	if _, err := namespaces.Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), c.namespace, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return c
}

func randomText() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// recorder is a logger that records the text.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) Write(l logstore.Level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(text) {
		if l != logstore.LevelInfo {
			r.buf.WriteString(l.String() + ": ")
		}
		r.buf.WriteString(line)
	}
}
func (r *recorder) Progress(_, text string, _ bool) { r.Write(logstore.LevelInfo, text+"\n") }

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// objectsOf splits YAML documents into declared objects.
func objectsOf(t testing.TB, text string) []model.K8sObject {
	t.Helper()
	var out []model.K8sObject
	for doc := range strings.SplitSeq(text, "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		o, err := objectOf([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func objectOf(doc []byte) (model.K8sObject, error) {
	raw, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return model.K8sObject{}, err
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	err = json.Unmarshal(raw, &head)
	return model.K8sObject{APIVersion: head.APIVersion, Kind: head.Kind, Namespace: head.Metadata.Namespace,
		Name: head.Metadata.Name, JSON: string(raw)}, err
}

// inject makes the desired objects of resource "web" from YAML.
func (c cluster) inject(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	return c.injectAs(t, "web", "project1", text)
}

func (c cluster) injectAs(t testing.TB, resource model.ManifestName, project, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Inject(InjectRequest{Resource: resource, Project: project, Namespace: c.namespace,
		Target: model.K8sTarget{Objects: objectsOf(t, text)}}, c.mapper)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// get reads a live object; nil when it does not exist.
func (c cluster) get(t testing.TB, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	live, err := c.client(t, u).Get(t.Context(), u.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return live
}

func (c cluster) client(t testing.TB, u *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	m, err := c.mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
	if err != nil {
		t.Fatal(err)
	}
	if m.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dyn.Resource(m.Resource)
	}
	return c.dyn.Resource(m.Resource).Namespace(u.GetNamespace())
}

// apply applies objects and returns the result and the log.
// asSession returns an applier that reads the cluster as a session's does.
func (c cluster) asSession() *Applier {
	opts := []Option{WithMetadata(c.names)}
	if c.lists != nil {
		opts = append(opts, WithLists(*c.lists))
	}
	return NewApplier(c.dyn, c.mapper, opts...)
}

func (c cluster) apply(t testing.TB, objects []*unstructured.Unstructured, opts ...Option) ([]model.AppliedObject, string, error) {
	t.Helper()
	log := &recorder{}
	ctx := k8s.Patiently(t.Context(), func(w k8s.Wait) { // as a session has it
		if w.Why != "" {
			logstore.Warnf(log, "%s", w)
		}
	})
	done, err := NewApplier(c.dyn, c.mapper, opts...).Apply(ctx, ApplyRequest{Resource: "web", Objects: objects,
		Namespace: c.namespace, Timeout: 20 * time.Second, Logger: log})
	return done, log.String(), err
}

func (c cluster) mustApply(t testing.TB, objects []*unstructured.Unstructured) ([]model.AppliedObject, string) {
	t.Helper()
	done, log, err := c.apply(t, objects)
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, log)
	}
	return done, log
}

// signalRecorder closes c when a text is logged.
type signalRecorder struct {
	recorder
	on   string
	c    chan struct{}
	once sync.Once
}

func (s *signalRecorder) Write(l logstore.Level, text string) {
	if strings.Contains(text, s.on) {
		s.once.Do(func() { close(s.c) })
	}
}
