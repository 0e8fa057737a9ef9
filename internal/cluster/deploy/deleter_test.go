package deploy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

func TestDeleter(t *testing.T) {
	apps, core := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	for _, tc := range []struct {
		name      string
		resource  schema.GroupVersionResource
		namespace string
		code      int
		answer    string
		path      string
		gone      bool
		is        func(error) bool
	}{
		{"gone", apps, "ns", 200, `{"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": {"name": "x", "uid": "u"}}`,
			"/apis/apps/v1/namespaces/ns/deployments/x", true, nil},
		{"gone, with the object", apps, "ns", 200, `{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "x", "uid": "u"}, "status": {}}`, "/apis/apps/v1/namespaces/ns/deployments/x", true, nil},
		{"going", core, "", 200, `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "x", "uid": "u", "deletionTimestamp": "2026-01-02T03:04:05Z"}}`, "/api/v1/namespaces/x", false, nil},
		{"says nothing", apps, "ns", 200, `{"kind": "Status", "apiVersion": "v1", "status": "Success"}`, "/apis/apps/v1/namespaces/ns/deployments/x", false, nil},
		{"no JSON", apps, "ns", 200, `gone`, "/apis/apps/v1/namespaces/ns/deployments/x", false, nil},
		{"absent", apps, "ns", 404, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`, "/apis/apps/v1/namespaces/ns/deployments/x", false, apierrors.IsNotFound},
		{"another", apps, "ns", 409, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409}`, "/apis/apps/v1/namespaces/ns/deployments/x", false, apierrors.IsConflict},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodDelete || r.URL.Path != tc.path || !strings.Contains(string(body), `"preconditions":{"uid":"u"}`) {
					t.Errorf("%s %s %s", r.Method, r.URL.Path, body)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			d, err := NewDeleter(&rest.Config{Host: server.URL}, server.Client())
			if err != nil {
				t.Fatal(err)
			}
			uid := types.UID("u")
			gone, err := d(t.Context(), tc.resource, tc.namespace, "x", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
			if gone != tc.gone || (err != nil) != (tc.is != nil) || err != nil && !tc.is(err) {
				t.Errorf("got %t, %v", gone, err)
			}
		})
	}
}
