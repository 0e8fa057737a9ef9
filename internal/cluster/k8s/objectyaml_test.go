package k8s_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// apiServer answers the requests of ObjectYAML: discovery, and a few objects.
func apiServer(t *testing.T) *httptest.Server {
	t.Helper()
	answers := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["get"]},
			{"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["get"]},{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["get"]}]}`,
		"/apis/apps/v1": `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get"]}]}`,
		"/apis/apps/v1/namespaces/shop/deployments/web": `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"u",
			"managedFields":[{"manager":"hone"}]},"spec":{"replicas":2},"status":{"readyReplicas":1}}`,
		"/api/v1/namespaces/shop/secrets/keys": `{"apiVersion":"v1","kind":"Secret","type":"Opaque","metadata":{"name":"keys","namespace":"shop",
			"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"k\":\"aHVudGVyMg==\"}}","other":"stays"}},"data":{"k":"aHVudGVyMg=="}}`,
		"/api/v1/namespaces/prod": `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"prod"}}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps/closed"):
			w.WriteHeader(http.StatusForbidden)
			text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			text = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not found"}`
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

func object(group, kind, namespace, name, version string) model.AppliedObject {
	return model.AppliedObject{ObjectID: model.ObjectID{Group: group, Kind: kind, Namespace: namespace, Name: name}, APIVersion: version}
}

func TestObjectYAML(t *testing.T) {
	server := apiServer(t)
	c := connect(t, server.URL)
	t.Cleanup(func() { _ = c.Close() })
	for _, tc := range []struct {
		name   string
		object model.AppliedObject
		want   string
		fails  string
	}{
		{"an object, without the fields of the server's own book-keeping", object("apps", "Deployment", "shop", "web", "apps/v1"),
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n  uid: u\nspec:\n  replicas: 2\nstatus:\n  readyReplicas: 1\n", ""},
		{"in the preferred version", object("apps", "Deployment", "shop", "web", ""),
			"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n  uid: u\nspec:\n  replicas: 2\nstatus:\n  readyReplicas: 1\n", ""},
		{"a Secret, without its values", object("", "Secret", "shop", "keys", "v1"),
			"apiVersion: v1\ndata:\n  k: (hidden, 7 bytes)\nkind: Secret\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: (hidden, 29 bytes)\n    other: stays\n  name: keys\n  namespace: shop\ntype: Opaque\n", ""},
		{"an object without a namespace", object("", "Namespace", "", "prod", "v1"), "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: prod\n", ""},
		{"one that is gone", object("apps", "Deployment", "shop", "gone", "apps/v1"), "", "the cluster has no deployment/shop/gone"},
		{"one that may not be read", object("", "ConfigMap", "shop", "closed", "v1"), "", "you may not read configmap/shop/closed"},
		{"an unknown kind", object("example.com", "Widget", "shop", "w", "example.com/v1"), "", "the cluster does not know the kind Widget"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := c.ObjectYAML(t.Context(), tc.object)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			p, known := problem.Of(err)
			if (err != nil) != (tc.fails != "") || err != nil && (!known || p.Summary != tc.fails || p.Mend == "") {
				t.Errorf("error %v, want %q", err, tc.fails)
			}
		})
	}
	server.Close()
	_, err := c.ObjectYAML(t.Context(), object("", "Namespace", "", "prod", "v1"))
	if p, known := problem.Of(err); !known || !strings.Contains(p.Summary, "does not answer") {
		t.Errorf("without a server: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.ObjectYAML(ended, object("", "Namespace", "", "prod", "v1")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestRealObjectYAML reads objects of a real cluster.
func TestRealObjectYAML(t *testing.T) {
	r := newReal(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: r.Namespace}, StringData: map[string]string{"password": "hunter2"}}
	if _, err := r.Core.Secrets(r.Namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Client.ObjectYAML(t.Context(), object("", "Secret", r.Namespace, "keys", "v1"))
	if err != nil || !strings.Contains(got, "password: (hidden, 7 bytes)") || strings.Contains(got, "managedFields") || !strings.Contains(got, "name: keys") {
		t.Errorf("%v:\n%s", err, got)
	}
	if _, err := r.Client.ObjectYAML(t.Context(), object("apps", "Deployment", r.Namespace, "none", "apps/v1")); !k8s.IsNotFound(err) {
		t.Errorf("an object that does not exist: %v", err)
	}
}
