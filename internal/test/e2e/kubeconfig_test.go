package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hone-dev/hone/pkg/api"
)

// TestReadOnlyKubeconfig reads the cluster with a kubeconfig of a session. Its account goes with the session, and after a kill with the next
// session, or with hone down.
func TestReadOnlyKubeconfig(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('all.yaml')
k8s_resource(new_name='config', objects=['app:configmap', 'app:secret'])
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
---
apiVersion: v1
kind: Secret
metadata: {name: app}
`)
	accounts := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(p.namespace)
	reads := func(s *session) {
		t.Helper()
		s.ready("config")
		var k api.Kubeconfig
		if err := json.Unmarshal([]byte(s.hone("kubeconfig", "--read-only", "-o", "json")), &k); err != nil {
			t.Fatal(err)
		}
		rc, err := clientcmd.RESTConfigFromKubeConfig([]byte(k.Kubeconfig))
		if err != nil {
			t.Fatal(err)
		}
		hc, err := rest.HTTPClientFor(rc)
		if err != nil {
			t.Fatal(err)
		}
		defer hc.CloseIdleConnections()
		core, err := corev1client.NewForConfigAndClient(rc, hc)
		if err != nil {
			t.Fatal(err)
		}
		s.await("the right to read", func() error {
			_, err := core.ConfigMaps(p.namespace).Get(t.Context(), "app", metav1.GetOptions{})
			return err
		})
		if _, err := core.Secrets(p.namespace).Get(t.Context(), "app", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a Secret: %v", err)
		}
		if err := core.ConfigMaps(p.namespace).Delete(t.Context(), "app", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a deletion: %v", err)
		}
	}
	left := func() error {
		list, err := accounts.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, is := range list.Items {
			if strings.HasPrefix(is.GetName(), "hone-read-only-") {
				return fmt.Errorf("%s is left", is.GetName())
			}
		}
		return nil
	}
	s := p.up()
	reads(s)
	s.kill()
	s = p.up()
	s.await("the next session to delete the account", left)
	reads(s)
	s.stop()
	if err := left(); err != nil {
		t.Errorf("after the end: %v", err)
	}
	s = p.up()
	reads(s)
	s.kill()
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	if err := left(); err != nil {
		t.Errorf("after down: %v", err)
	}
	if out, code := p.run("kubeconfig"); code == 0 || !strings.Contains(out, "hone kubeconfig --read-only") {
		t.Errorf("%d %s", code, out)
	}
}
