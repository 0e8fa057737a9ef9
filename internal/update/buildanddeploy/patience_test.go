package buildanddeploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/model"
)

// badDays is an API server with ConfigMaps of the namespace dev. The first tries of each request fail.
type badDays struct {
	faults int
	fault  func(req *http.Request, serve func() *http.Response) (*http.Response, error)

	mu      sync.Mutex
	objects map[string]map[string]any // guarded by mu, as everything below
	tried   map[string]int
}

// newBadDays returns a cluster on such a server, whose ConfigMaps have the given annotations, by name.
func newBadDays(t *testing.T, s *badDays, objects map[string]map[string]any) *Cluster {
	t.Helper()
	s.objects, s.tried = map[string]map[string]any{}, map[string]int{}
	for name, annotations := range objects {
		s.objects[name] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"name": name, "namespace": "dev", "uid": "uid-" + name, "resourceVersion": "1", "annotations": annotations,
			"labels": map[string]any{deploy.LabelManagedBy: deploy.ManagedByHone, deploy.LabelProject: "p"}}}
	}
	dyn, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://api", QPS: -1}, &http.Client{Transport: k8s.PatientTransport(s)})
	if err != nil {
		t.Fatal(err)
	}
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{gvk.GroupVersion()})
	mapper.Add(gvk, meta.RESTScopeNamespace)
	return &Cluster{dyn: dyn, mapper: mapper, applier: deploy.NewApplier(dyn, mapper), project: "p", ledgers: ledgertest.In(t.TempDir())}
}

// RoundTrip implements http.RoundTripper.
func (s *badDays) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := req.Method + " " + req.URL.Path
	s.tried[key]++
	if s.tried[key] <= s.faults {
		return s.fault(req, func() *http.Response { return s.serve(req) })
	}
	return s.serve(req), nil
}

func answer(req *http.Request, status int, body any) *http.Response {
	b, _ := json.Marshal(body)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(b)), Request: req}
}

func failure(req *http.Request, status int, reason string) *http.Response {
	return answer(req, status, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": reason})
}

func (s *badDays) serve(req *http.Request) *http.Response {
	name := path.Base(req.URL.Path)
	if path.Base(path.Dir(req.URL.Path)) == "namespaces" {
		return answer(req, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "uid": "cluster"}})
	}
	o, ok := s.objects[name]
	switch {
	case !ok:
		return failure(req, http.StatusNotFound, "NotFound")
	case req.Method == http.MethodDelete:
		delete(s.objects, name)
	case req.Method == http.MethodPatch:
		md := o["metadata"].(map[string]any)
		body, _ := io.ReadAll(req.Body)
		if !strings.Contains(string(body), fmt.Sprintf(`"path":"/metadata/resourceVersion","value":"%s"`, md["resourceVersion"])) {
			return failure(req, http.StatusConflict, "Conflict")
		}
		md["annotations"], md["labels"], md["resourceVersion"] = map[string]any{}, map[string]any{}, "2"
	}
	return answer(req, http.StatusOK, o)
}

// TestDeletesThroughBadDays deletes, gives back and hands over while the API server is busy, breaks connections off, and
// loses answers.
func TestDeletesThroughBadDays(t *testing.T) {
	faults := map[string]func(*http.Request, func() *http.Response) (*http.Response, error){
		"429": func(req *http.Request, _ func() *http.Response) (*http.Response, error) {
			resp := failure(req, http.StatusTooManyRequests, "TooManyRequests")
			resp.Header.Set("Retry-After", "3")
			return resp, nil
		},
		"500": func(req *http.Request, _ func() *http.Response) (*http.Response, error) {
			return failure(req, http.StatusInternalServerError, "InternalError"), nil
		},
		"503": func(req *http.Request, _ func() *http.Response) (*http.Response, error) {
			return failure(req, http.StatusServiceUnavailable, "ServiceUnavailable"), nil
		},
		"409": func(req *http.Request, serve func() *http.Response) (*http.Response, error) {
			if req.Method == http.MethodGet {
				return serve(), nil
			}
			return failure(req, http.StatusConflict, "Conflict"), nil
		},
		"reset": func(*http.Request, func() *http.Response) (*http.Response, error) { return nil, syscall.ECONNRESET },
		"lost": func(_ *http.Request, serve func() *http.Response) (*http.Response, error) {
			serve()
			return nil, syscall.ECONNRESET
		},
	}
	record := func(name string) ledger.Record {
		return ledger.Record{ObjectID: model.ObjectID{Kind: "ConfigMap", Namespace: "dev", Name: name}, APIVersion: "v1", UID: "uid-" + name}
	}
	records := map[model.ManifestName][]ledger.Record{"a": {record("a"), record("adopted")}, "b": {record("b")}}
	ways := map[string]func(context.Context, *Cluster, *diary) error{
		"down": func(ctx context.Context, c *Cluster, d *diary) error {
			return c.TakeDown(ctx, DeleteOptions{Wait: true}, records, map[model.ManifestName][]model.ManifestName{"a": {"b"}}, nil, d.request(model.Manifest{}).Log)
		},
		"collection": func(ctx context.Context, c *Cluster, d *diary) error {
			for _, name := range []model.ManifestName{"a", "b"} {
				if _, err := c.Remove(ctx, RemoveRequest{Resource: name, Log: d.request(model.Manifest{}).Log}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for faultName, fault := range faults {
		for wayName, way := range ways {
			t.Run(wayName+"/"+faultName, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, d := &badDays{faults: 2, fault: fault}, &diary{}
					c := newBadDays(t, s, map[string]map[string]any{"a": nil, "b": nil, "adopted": {deploy.AnnotationAdopted: "{}"}})
					memory, err := c.Ledger(k8s.Patiently(t.Context(), nil))
					if err != nil {
						t.Fatal(err)
					}
					if err := memory.RecordAll(records); err != nil {
						t.Fatal(err)
					}
					if err := way(t.Context(), c, d); err != nil {
						t.Error(err)
					}
					if left, _ := memory.Resources(); len(left) != 0 || len(s.objects) != 1 || s.objects["adopted"] == nil {
						t.Errorf("left in the cluster: %v, in the ledger: %v", s.objects, left)
					}
					if faultName != "409" && !strings.Contains(d.text(), "trying again in") {
						t.Errorf("the log does not mention it:\n%s", d.text())
					}
				})
			})
		}
	}
	t.Run("too many", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, d := &badDays{faults: 1000, fault: faults["503"]}, &diary{}
			c, began := newBadDays(t, s, map[string]map[string]any{"a": nil, "b": nil}), time.Now()
			err := ways["down"](t.Context(), c, d)
			if err == nil || !strings.Contains(err.Error(), "503 Service Unavailable") || time.Since(began) > time.Minute {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		})
	})
}

// TestAddressInPlaceOfIdentity works in a cluster that does not reveal its identity, and continues when it does.
func TestAddressInPlaceOfIdentity(t *testing.T) {
	s := &badDays{faults: 1000, fault: func(req *http.Request, serve func() *http.Response) (*http.Response, error) {
		if strings.HasSuffix(path.Dir(req.URL.Path), "/namespaces") {
			return failure(req, http.StatusForbidden, "Forbidden"), nil
		}
		return serve(), nil
	}}
	c := newBadDays(t, s, nil)
	c.address = addressOf(&rest.Config{Host: "http://api"})
	memory, err := c.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	record := ledger.Record{ObjectID: model.ObjectID{Kind: "ConfigMap", Namespace: "dev", Name: "a"}, APIVersion: "v1", UID: "u"}
	if err := memory.Record("a", []ledger.Record{record}); err != nil {
		t.Fatal(err)
	}
	s.faults, c.memory = 0, nil
	again, err := c.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all, err := again.Resources(); err != nil || len(all["a"]) != 1 || again.Place() == memory.Place() {
		t.Errorf("the records are %v (%v), in %s", all, err, again.Place())
	}
	other := rest.Config{Host: "http://api"}
	other.CAData = []byte("another authority")
	if addressOf(&other) == c.address {
		t.Error("another cluster at the same address has the same name")
	}
}
