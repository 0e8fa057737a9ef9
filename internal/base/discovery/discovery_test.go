package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// modern answers in the aggregated form, old in the forms before 1.26. Both serve the same kinds. The server behind metrics.k8s.io is
// down.
var modern = map[string]string{
	"/api": `{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [
		{"resource": "pods", "responseKind": {"group": "", "version": "", "kind": "Pod"}, "scope": "Namespaced", "singularResource": "pod", "verbs": ["get"], "shortNames": ["po"], "categories": ["all"],
		 "subresources": [{"subresource": "log", "responseKind": {"group": "", "version": "", "kind": "Pod"}, "verbs": ["get"]}]},
		{"resource": "nodes", "responseKind": {"group": "", "version": "", "kind": "Node"}, "scope": "Cluster", "singularResource": "node", "verbs": ["get"]}]}]}]}`,
	"/apis": `{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
		{"metadata": {"name": "apps.example"}, "versions": [
			{"version": "v2", "resources": [{"resource": "shops", "responseKind": {"group": "apps.example", "version": "v2", "kind": "Shop"}, "scope": "Namespaced", "singularResource": "shop", "verbs": ["get"]}]},
			{"version": "v1", "resources": [{"resource": "shops", "responseKind": {"group": "apps.example", "version": "v1", "kind": "Shop"}, "scope": "Namespaced", "singularResource": "shop", "verbs": ["get"]}]}]},
		{"metadata": {"name": "other.example"}, "versions": [
			{"version": "v1", "resources": [{"resource": "shops", "responseKind": {"group": "other.example", "version": "v1", "kind": "Shop"}, "scope": "Cluster", "singularResource": "shop", "verbs": ["get"]}]}]},
		{"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]}]}`,
}

var old = map[string]string{
	"/api": `{"kind": "APIVersions", "versions": ["v1"]}`,
	"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
		{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get"], "shortNames": ["po"], "categories": ["all"]},
		{"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]},
		{"name": "nodes", "singularName": "", "namespaced": false, "kind": "Node", "verbs": ["get"]}]}`,
	"/apis": `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [
		{"name": "apps.example", "versions": [{"groupVersion": "apps.example/v1", "version": "v1"}, {"groupVersion": "apps.example/v2", "version": "v2"}], "preferredVersion": {"groupVersion": "apps.example/v2", "version": "v2"}},
		{"name": "other.example", "versions": [{"groupVersion": "other.example/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "other.example/v1", "version": "v1"}},
		{"name": "metrics.k8s.io", "versions": [{"groupVersion": "metrics.k8s.io/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "metrics.k8s.io/v1", "version": "v1"}}]}`,
	"/apis/apps.example/v1":  `{"kind": "APIResourceList", "resources": [{"name": "shops", "singularName": "shop", "namespaced": true, "kind": "Shop", "verbs": ["get"]}]}`,
	"/apis/apps.example/v2":  `{"kind": "APIResourceList", "resources": [{"name": "shops", "singularName": "shop", "namespaced": true, "kind": "Shop", "verbs": ["get"]}]}`,
	"/apis/other.example/v1": `{"kind": "APIResourceList", "resources": [{"name": "shops", "singularName": "shop", "namespaced": false, "kind": "Shop", "verbs": ["get"]}]}`,
}

func clientOf(t *testing.T, answers map[string]string) Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGroups(t *testing.T) {
	want := []string{"/v1 pods Pod namespaced po", "/v1 pods/log Pod namespaced", "/v1 nodes Node", "apps.example/v2 shops Shop namespaced", "apps.example/v1 shops Shop namespaced",
		"other.example/v1 shops Shop", "metrics.k8s.io/v1"}
	for name, answers := range map[string]map[string]string{"modern": modern, "old": old} {
		groups, err := clientOf(t, answers).Groups(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, g := range groups {
			for _, v := range g.Versions {
				if len(v.Resources) == 0 {
					got = append(got, g.Name+"/"+v.Name)
				}
				for _, r := range v.Resources {
					line := fmt.Sprintf("%s/%s %s %s", g.Name, v.Name, r.Name, r.Kind)
					if r.Namespaced {
						line += " namespaced"
					}
					got = append(got, strings.TrimSpace(line+" "+strings.Join(r.ShortNames, " ")))
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := clientOf(t, nil).Groups(t.Context()); err == nil {
		t.Error("a server that is down serves no kinds")
	}
	if _, err := clientOf(t, map[string]string{"/api": "[]", "/apis": "{}"}).Groups(t.Context()); err == nil {
		t.Error("what is no answer is read")
	}
}

// answering is a transport whose server answers some paths, and takes the requests for others without ever answering them.
type answering map[string]string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, ok := a[r.URL.Path]; ok {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestNoAnswer checks that a request waits at most answerTime for a server that takes requests and does not answer them, and that one
// group whose server does not answer hides no other one.
func TestNoAnswer(t *testing.T) {
	groups := func(t *testing.T, answers answering) ([]Group, time.Duration, error) {
		t.Helper()
		c, err := New(&rest.Config{Host: "http://silent.example"}, &http.Client{Transport: answers})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		all, err := c.Groups(t.Context())
		return all, time.Since(began), err
	}
	synctest.Test(t, func(t *testing.T) {
		_, took, err := groups(t, nil)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not answered within 30s") || took != answerTime {
			t.Errorf("after %v: %v", took, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		answers := answering(maps.Clone(old))
		delete(answers, "/apis/apps.example/v1")
		answers["/apis/metrics.k8s.io/v1"] = `{}`
		all, took, err := groups(t, answers)
		if err != nil || len(all) != 4 || took != answerTime {
			t.Errorf("after %v: %v %v", took, all, err)
		}
	})
}

func TestMapper(t *testing.T) {
	for name, answers := range map[string]map[string]string{"modern": modern, "old": old} {
		groups, err := clientOf(t, answers).Groups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := Mapper(groups)
		for kind, want := range map[schema.GroupKind]string{
			{Kind: "Pod"}:                         "/v1, Resource=pods namespace",
			{Kind: "Node"}:                        "/v1, Resource=nodes root",
			{Group: "apps.example", Kind: "Shop"}: "apps.example/v2, Resource=shops namespace",
			{Group: "none", Kind: "Shop"}:         "no match",
		} {
			got := "no match"
			mapping, err := m.RESTMapping(kind)
			if err == nil {
				got = fmt.Sprintf("%s %s", mapping.Resource.String(), mapping.Scope.Name())
			} else if !meta.IsNoMatchError(err) {
				t.Error(err)
			}
			if got != want {
				t.Errorf("%s: %s is %s, want %s", name, kind, got, want)
			}
		}
		// Of two groups with the same resource, the first.
		if kind, err := m.KindFor(schema.GroupVersionResource{Resource: "shops"}); err != nil || kind.Group != "apps.example" || kind.Version != "v2" {
			t.Errorf("%s: shops is %s, %v", name, kind, err)
		}
		if singular, err := m.ResourceSingularizer("nodes"); err != nil || singular != "node" {
			t.Errorf("%s: one of nodes is %q, %v", name, singular, err)
		}
	}
}

// TestAsClientGo compares with client-go on the real cluster: the same kinds, with the same resources and scopes, in the same order of
// preference.
func TestAsClientGo(t *testing.T) {
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	hc, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := clientdiscovery.NewDiscoveryClientForConfigAndClient(config, hc)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := restmapper.GetAPIGroupResources(d)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(config, hc)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := c.Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, got, kinds := restmapper.NewDiscoveryRESTMapper(theirs), Mapper(groups), 0
	for _, g := range theirs {
		for version, resources := range g.VersionedResources {
			for _, r := range resources {
				if strings.Contains(r.Name, "/") {
					continue
				}
				kinds++
				for _, versions := range [][]string{nil, {version}} {
					a, errA := want.RESTMapping(schema.GroupKind{Group: g.Group.Name, Kind: r.Kind}, versions...)
					b, errB := got.RESTMapping(schema.GroupKind{Group: g.Group.Name, Kind: r.Kind}, versions...)
					if errA != nil || errB != nil || a.Resource != b.Resource || a.GroupVersionKind != b.GroupVersionKind || a.Scope.Name() != b.Scope.Name() {
						t.Errorf("%s %s: %v %v, client-go says %v %v", g.Group.Name, r.Kind, b, errB, a, errA)
					}
				}
				for _, resource := range []string{r.Name, r.SingularName} {
					a, errA := want.KindFor(schema.GroupVersionResource{Resource: resource})
					b, errB := got.KindFor(schema.GroupVersionResource{Resource: resource})
					if a != b || (errA == nil) != (errB == nil) {
						t.Errorf("%s: %v %v, client-go says %v %v", resource, b, errB, a, errA)
					}
				}
			}
		}
	}
	if kinds < 50 {
		t.Errorf("the cluster has only %d kinds", kinds)
	}
}
